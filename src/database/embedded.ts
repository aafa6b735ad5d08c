/**
 * PostgreSQL inside the process (PGlite, compiled to WASM), in a thread of its own. For trying, developing and testing: it survives a
 * killed process, but never syncs to disk, so it is not a production store.
 */
import { existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Worker } from 'node:worker_threads'
import { messages, type PGlite, types } from '@electric-sql/pglite'
import { PrismaPGlite } from 'pglite-prisma-adapter'
import { Vault } from '../base/vault.ts'
import { lockFolder } from './folder-lock.ts'
import { PrismaClient } from './generated/client.ts'
import type { Database, Parameter, Queryable, Reading } from './port.ts'
import { createDecoders, type Decoders } from './wire.ts'

export interface WorkerStart {
  folder?: string
  dump?: ArrayBuffer
}

type Work =
  | { kind: 'query'; text: string; parameters: readonly unknown[] }
  | { kind: 'script'; text: string }
  | { kind: 'dump' }
  | { kind: 'close' }

export type Ask = Work & { id: number }

interface Field {
  name: string
  dataTypeID: number
}

export interface Answer {
  id: number
  fields: Field[]
  rows: unknown[][]
  affectedRows: number
  dump?: ArrayBuffer
  error?: WorkerError
}

export interface WorkerError {
  message: string
  code?: unknown
  detail?: unknown
  constraint?: unknown
  column?: unknown
  table?: unknown
}

export interface EmbeddedDatabase extends Database {
  /** Everything, as a file that `openEmbeddedDatabase` can start from. */
  dump(): Promise<ArrayBuffer>
}

/** `folder` undefined keeps everything in memory. Refuses a folder that another process has open. */
export async function openEmbeddedDatabase(from: { folder?: string; dump?: ArrayBuffer }): Promise<EmbeddedDatabase> {
  const { folder } = from
  if (folder !== undefined) mkdirSync(folder, { recursive: true })
  const unlock = folder === undefined ? () => {} : lockFolder(folder)
  try {
    const engine = await (folder === undefined
      ? startEngine(from.dump === undefined ? {} : { dump: from.dump })
      : startIn(folder))
    return database(engine, unlock)
  } catch (error) {
    unlock()
    throw error
  }
}

/** A first start that is cut off leaves files that never open again: they are marked while it lasts, and only marked ones are removed. */
async function startIn(folder: string): Promise<Engine> {
  const files = join(folder, 'postgres')
  const unfinished = join(folder, 'initialising')
  if (existsSync(unfinished)) rmSync(files, { recursive: true, force: true })
  if (!existsSync(files)) writeFileSync(unfinished, '')
  const engine = await startEngine({ folder: files })
  rmSync(unfinished, { force: true })
  return engine
}

interface Engine {
  ask(work: Work): Promise<Answer>
  stop(): Promise<void>
}

async function startEngine(start: WorkerStart): Promise<Engine> {
  const worker = new Worker(new URL('./embedded-worker.ts', import.meta.url), { workerData: start })
  const waiting = new Map<number, { resolve: (answer: Answer) => void; reject: (error: Error) => void }>()
  let lastId = 0
  let ended: Error | undefined

  const wait = (id: number) =>
    new Promise<Answer>((resolve, reject) => {
      if (ended) reject(ended)
      else waiting.set(id, { resolve, reject })
    })
  const fail = (error: Error) => {
    ended = error
    for (const { reject } of waiting.values()) reject(error)
    waiting.clear()
  }
  worker.on('message', (answer: Answer) => {
    const waiter = waiting.get(answer.id)
    waiting.delete(answer.id)
    if (answer.error) waiter?.reject(databaseError(answer.error))
    else waiter?.resolve(answer)
  })
  worker.on('error', (error) => fail(error instanceof Error ? error : new Error(String(error))))
  worker.on('exit', () => fail(new Error('the embedded database has stopped')))

  await wait(0)
  const ask = (work: Work) => {
    lastId += 1
    const answered = wait(lastId)
    worker.postMessage({ ...work, id: lastId } satisfies Ask)
    return answered
  }
  return {
    ask,
    async stop() {
      await ask({ kind: 'close' })
      await worker.terminate()
    },
  }
}

/** The same error class and fields as the engine threw in its thread: Prisma's adapter tells errors by them. */
function databaseError(error: WorkerError): Error {
  return Object.assign(new messages.DatabaseError(error.message, 0, 'error'), error)
}

function database(engine: Engine, unlock: () => void): EmbeddedDatabase {
  // One connection: whoever holds the turn has it alone, and a transaction holds it from begin to commit.
  let turn: Promise<unknown> = Promise.resolve()
  function exclusively<Result>(work: () => Promise<Result>): Promise<Result> {
    const result = turn.then(work, work)
    turn = result.catch(() => {})
    return result
  }
  const vault = new Vault()
  const decoders = createDecoders(vault)
  const run = async <Row>(text: string, parameters: readonly Parameter[] = [], reading: Reading = 'values'): Promise<Row[]> =>
    toRows<Row>(await engine.ask({ kind: 'query', text, parameters: parameters.map(encode) }), decoders[reading])
  const script = async (text: string) => {
    await engine.ask({ kind: 'script', text })
  }

  const prisma = new PrismaClient({ adapter: new PrismaPGlite(prismaClient(engine, exclusively)) })

  return {
    engine: 'embedded',
    vault,
    prisma,
    query: (text, parameters, reading) => exclusively(() => run(text, parameters, reading)),
    transaction: <Result>(work: (tx: Queryable) => Promise<Result>) =>
      exclusively(async () => {
        await script('begin')
        try {
          const result = await work({ vault, query: run, script })
          await script('commit')
          return result
        } catch (error) {
          await script('rollback')
          throw error
        }
      }),
    script: (sql) => exclusively(() => script(sql)),
    async dump() {
      const { dump } = await exclusively(() => engine.ask({ kind: 'dump' }))
      return dump!
    },
    async close() {
      await prisma.$disconnect()
      await exclusively(() => engine.stop())
      unlock()
    },
  }
}

function encode(parameter: Parameter): unknown {
  if (typeof parameter === 'bigint') return parameter.toString()
  return parameter instanceof Date ? parameter.toISOString() : parameter
}

function toRows<Row>({ fields, rows }: Answer, decoder: Decoders[Reading]): Row[] {
  const columns = fields.map(({ name, dataTypeID }) => ({ name, decode: decoder(dataTypeID) }))
  return rows.map((values) =>
    Object.fromEntries(columns.map(({ name, decode }, index) => [name, decodeValue(values[index], decode)])),
  ) as Row[]
}

function decodeValue(value: unknown, decode: (text: string) => unknown): unknown {
  return value === null || value === undefined ? null : decode(String(value))
}

/**
 * What Prisma's adapter for PGlite uses of it, answered by the thread. Its transactions report success when the commit fails
 * (adapter 0.7.2), so there are none: `Database.transaction` is the way.
 */
function prismaClient(engine: Engine, exclusively: <Result>(work: () => Promise<Result>) => Promise<Result>): PGlite {
  const client = {
    async query(text: string, parameters: unknown[], options: { parsers: Record<number, (text: string) => unknown> }) {
      const answer = await exclusively(() => engine.ask({ kind: 'query', text, parameters }))
      const decoders = answer.fields.map(
        ({ dataTypeID }) => options.parsers[dataTypeID] ?? ((text: string) => types.parseType(text, dataTypeID)),
      )
      const rows = answer.rows.map((values) => values.map((value, index) => decodeValue(value, decoders[index]!)))
      return { ...answer, rows }
    },
    transaction() {
      throw new Error('no interactive transactions through Prisma: use Database.transaction')
    },
  }
  return client as unknown as PGlite
}
