/**
 * Brings a database up to this code: the migrations it has not seen, in order, recorded where `prisma migrate` looks; then the routines,
 * SQL functions that are code rather than history. Safe to run from several starting processes at once.
 */
import { createHash, randomUUID } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import type { Database, Queryable } from './port.ts'

const folder = new URL('../../prisma/migrations/', import.meta.url)
const lockNumber = 7_100_406_225_116_001n

const historyTable = `
create table if not exists _prisma_migrations (
  id varchar(36) primary key not null, checksum varchar(64) not null, finished_at timestamptz, migration_name varchar(255) not null,
  logs text, rolled_back_at timestamptz, started_at timestamptz not null default now(), applied_steps_count integer not null default 0
)`

export async function migrate(database: Database, routines: readonly string[]): Promise<void> {
  await database.transaction(async (tx) => {
    await tx.query('select pg_advisory_xact_lock($1)', [lockNumber])
    await tx.script(historyTable)
    for (const name of pending(await applied(tx))) await apply(tx, name)
    for (const routine of routines) await tx.script(routine)
  })
}

async function applied(tx: Queryable): Promise<Set<string>> {
  const rows = await tx.query<{ migration_name: string; finished_at: Date | null }>(
    'select migration_name, finished_at from _prisma_migrations where rolled_back_at is null',
  )
  const unfinished = rows.find(({ finished_at }) => finished_at === null)
  if (unfinished) throw new Error(`migration ${unfinished.migration_name} was left unfinished by another tool; resolve it first`)
  return new Set(rows.map(({ migration_name }) => migration_name))
}

function pending(done: ReadonlySet<string>): string[] {
  return readdirSync(folder, { withFileTypes: true })
    .filter((entry) => entry.isDirectory() && !done.has(entry.name))
    .map(({ name }) => name)
    .sort()
}

async function apply(tx: Queryable, name: string): Promise<void> {
  const sql = readFileSync(new URL(`${name}/migration.sql`, folder), 'utf8')
  await tx.script(sql)
  await tx.query(
    `insert into _prisma_migrations (id, checksum, finished_at, migration_name, applied_steps_count) values ($1, $2, now(), $3, 1)`,
    [randomUUID(), createHash('sha256').update(sql).digest('hex'), name],
  )
}
