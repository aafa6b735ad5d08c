/** PostgreSQL 15 or newer, by connection string. */
import { createHash } from 'node:crypto'
import { PrismaPg } from '@prisma/adapter-pg'
import pg from 'pg'
import { Vault } from '../base/vault.ts'
import { PrismaClient } from './generated/client.ts'
import type { Database, Parameter, Queryable } from './port.ts'
import { openSignals } from './signals.ts'
import { createDecoders, type Decoders } from './wire.ts'

export interface ServerOptions {
  connections?: number
  /** Told of connections that break while idle; the pool replaces them. */
  onConnectionError?: (error: Error) => void
}

/**
 * Statements are prepared and planned once, and their plans are kept while tables grow and customers differ in size: every one of ours has an
 * index it is meant to walk, and a plan that reads a whole table, right for a small one, must not survive into a large one. Planning a small
 * one each time for its parameters would cost more than running it. And none of them runs long enough to be worth compiling: what walks no index
 * looks so dear to the planner that it would be compiled for forty milliseconds.
 */
const planner = [
  'plan_cache_mode=force_generic_plan',
  'jit=off',
  ...['seqscan', 'hashjoin', 'mergejoin'].map((method) => `enable_${method}=off`),
]
  .map((setting) => `-c ${setting}`)
  .join(' ')

export async function openServerDatabase(url: string, options: ServerOptions = {}): Promise<Database> {
  const vault = new Vault()
  const decoders = createDecoders(vault)
  const pool = new pg.Pool({
    connectionString: url,
    max: options.connections ?? 10,
    // adapter-pg stores timestamptz wrong in any other zone; the timeouts bound what a lost client can hold.
    options: `-c timezone=UTC -c statement_timeout=60000 -c idle_in_transaction_session_timeout=30000 ${planner}`,
    types: parsers(decoders.values),
  })
  pool.on('error', options.onConnectionError ?? (() => {}))
  await requirePostgres15(pool)
  const prisma = new PrismaClient({ adapter: new PrismaPg(pool) })
  const signals = openSignals(url, pool)

  return {
    engine: 'server',
    prisma,
    signals,
    ...queryable(pool, vault, decoders),
    async transaction<Result>(work: (tx: Queryable) => Promise<Result>) {
      const client = await pool.connect()
      let broken: Error | undefined
      // A connection that breaks also says so to whoever has it out; unheard, that would end the process.
      const onBreak = (error: Error) => {
        broken = error
      }
      client.on('error', onBreak)
      try {
        await client.query('begin')
        const result = await work(queryable(client, vault, decoders))
        await client.query('commit')
        return result
      } catch (error) {
        await client.query('rollback').catch((failure: Error) => {
          broken = failure
        })
        throw error
      } finally {
        client.off('error', onBreak)
        client.release(broken)
      }
    },
    async close() {
      await signals.close()
      await prisma.$disconnect()
      await pool.end()
    },
  }
}

function queryable(on: pg.Pool | pg.PoolClient, vault: Vault, decoders: Decoders): Queryable {
  const shown = { types: parsers(decoders.shown) }
  return {
    vault,
    query: (text, parameters, reading) => run(on, text, parameters, reading === 'shown' ? shown : undefined),
    async script(sql) {
      await on.query(sql)
    },
  }
}

function parsers(decoder: Decoders['values']): pg.CustomTypesConfig {
  return { getTypeParser: decoder as typeof pg.types.getTypeParser }
}

async function run<Row>(
  on: pg.Pool | pg.PoolClient,
  text: string,
  parameters: readonly Parameter[] | undefined,
  types: { types: pg.CustomTypesConfig } | undefined,
): Promise<Row[]> {
  const { rows } = await on.query({ name: nameOf(text), text, values: parameters?.map(encode) ?? [], ...types })
  return rows as Row[]
}

function encode(parameter: Parameter): unknown {
  if (typeof parameter === 'bigint') return parameter.toString()
  return parameter instanceof Date ? parameter.toISOString() : parameter
}

const names = new Map<string, string>()

/** A prepared statement is known by the digest of its text. The set of texts is bounded: they are all written in this code base. */
function nameOf(text: string): string {
  let name = names.get(text)
  if (name === undefined) {
    name = createHash('sha256').update(text).digest('hex').slice(0, 32)
    names.set(text, name)
  }
  return name
}

async function requirePostgres15(pool: pg.Pool): Promise<void> {
  try {
    const { rows } = await pool.query<{ server_version_num: string }>('show server_version_num')
    const version = Number(rows[0]?.server_version_num)
    if (version < 150_000) throw new Error(`PostgreSQL 15 or newer is needed; this server is ${version}`)
  } catch (error) {
    await pool.end()
    throw error
  }
}
