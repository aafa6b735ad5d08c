/**
 * What would have to be migrated for the migrations to say what prisma/schema.prisma says: the empty text when they agree. Prisma's own
 * schema engine compares, in WASM, so nothing is downloaded and no server is needed.
 */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { PGlite } from '@electric-sql/pglite'
import { bindMigrationAwareSqlAdapterFactory } from '@prisma/driver-adapter-utils'
import { PrismaPGlite } from 'pglite-prisma-adapter'

const migrations = 'prisma/migrations'

export async function migrationDrift(): Promise<string> {
  // The package's entry point is for bundlers; this is the one for Node.
  const engineFile = new URL('../node_modules/@prisma/schema-engine-wasm/schema_engine.js', import.meta.url)
  const { SchemaEngine } = await import(engineFile.href)
  const schema = { path: 'prisma/schema.prisma', content: readFileSync('prisma/schema.prisma', 'utf8') }
  const pglite = new PGlite()
  const engine = await SchemaEngine.new(
    { datamodels: [[schema.path, schema.content]] },
    () => {},
    bindMigrationAwareSqlAdapterFactory(new PrismaPGlite(pglite) as never),
  )
  const { stdout, exitCode } = await engine.diff({
    from: {
      tag: 'migrations',
      baseDir: migrations,
      lockfile: { path: 'migration_lock.toml', content: 'provider = "postgresql"\n' },
      shadowDbInitScript: '',
      migrationDirectories: readMigrations(),
    },
    to: { tag: 'schemaDatamodel', files: [schema], configDir: process.cwd() },
    script: true,
    exitCode: true,
    shadowDatabaseUrl: null,
    filters: { externalTables: [], externalEnums: [] },
  })
  return exitCode === 0 ? '' : (stdout ?? 'they differ')
}

function readMigrations() {
  return readdirSync(migrations, { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => name)
    .sort()
    .map((path) => ({
      path,
      migrationFile: {
        path: 'migration.sql',
        content: { tag: 'ok', value: readFileSync(join(migrations, path, 'migration.sql'), 'utf8') },
      },
    }))
}
