import { defineConfig } from 'prisma/config'

// `prisma generate` writes the client from the schema alone, yet wants to download the engine that only `prisma migrate` uses.
// Naming any executable spares it the download; other commands still fetch the real one.
if (process.argv.includes('generate')) process.env['PRISMA_SCHEMA_ENGINE_BINARY'] ??= process.execPath

export default defineConfig({
  schema: 'prisma/schema.prisma',
  migrations: { path: 'prisma/migrations' },
  datasource: { url: process.env['DATABASE_URL'] ?? 'postgresql://localhost:5432/gateway' },
})
