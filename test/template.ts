/** Once per run and engine: a migrated, empty database that every test file starts from a copy of. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import type { TestProject } from 'vitest/node'
import { commitFunction } from '../src/core/commit.sql.ts'
import { openEmbeddedDatabase } from '../src/database/embedded.ts'
import { migrate } from '../src/database/migrate.ts'
import { openServerDatabase } from '../src/database/server.ts'
import { sequencerRoutine } from '../src/log/sequencer.ts'

declare module 'vitest' {
  interface ProvidedContext {
    engine: 'embedded' | 'server'
    /** File of a dump (embedded), or name of a template database (server). */
    template: string
  }
}

const routines = [commitFunction, sequencerRoutine]

export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  return project.config.provide['engine'] === 'server' ? serverTemplate(project) : embeddedTemplate(project)
}

async function embeddedTemplate(project: TestProject): Promise<() => Promise<void>> {
  const folder = mkdtempSync(join(tmpdir(), 'gateway-test-'))
  const database = await openEmbeddedDatabase({})
  await migrate(database, routines)
  const file = join(folder, 'template.tar')
  writeFileSync(file, new Uint8Array(await database.dump()))
  await database.close()
  project.provide('template', file)
  return async () => rmSync(folder, { recursive: true, force: true })
}

async function serverTemplate(project: TestProject): Promise<() => Promise<void>> {
  const name = `gateway_template_${process.pid}`
  await asAdmin(`create database ${name}`)
  const database = await openServerDatabase(serverUrl(name))
  await migrate(database, routines)
  await database.close()
  project.provide('template', name)
  return () => asAdmin(`drop database if exists ${name} with (force)`)
}

export function serverUrl(database: string): string {
  const url = new URL(process.env['TEST_DATABASE_URL']!)
  url.pathname = `/${database}`
  return url.href
}

export async function asAdmin(sql: string): Promise<void> {
  const client = new pg.Client({ connectionString: process.env['TEST_DATABASE_URL'] })
  await client.connect()
  try {
    await client.query(sql)
  } finally {
    await client.end()
  }
}
