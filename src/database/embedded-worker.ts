/**
 * The thread the embedded PostgreSQL lives in: it blocks the thread it runs on, and this one has nothing else to do. Answers carry the
 * engine's own text format, since a decoder cannot cross the thread boundary.
 */
import { parentPort, workerData } from 'node:worker_threads'
import { PGlite, types } from '@electric-sql/pglite'
import type { Answer, Ask, WorkerError, WorkerStart } from './embedded.ts'

const start: WorkerStart = workerData
const port = parentPort
if (!port) throw new Error('embedded-worker runs as a worker thread')

const arrayTypes = [
  1000, 1001, 1005, 1007, 1009, 1014, 1015, 1016, 1021, 1022, 1028, 1115, 1182, 1183, 1185, 1231, 199, 2951, 3807,
]
const asText = Object.fromEntries(
  [...Object.values(types).filter((oid) => typeof oid === 'number'), ...arrayTypes].map((oid) => [oid, (text: string) => text]),
)

const pglite = await PGlite.create({
  ...(start.folder === undefined ? {} : { dataDir: start.folder }),
  ...(start.dump === undefined ? {} : { loadDataDir: new Blob([start.dump]) }),
})
await pglite.exec(`set timezone = 'UTC'`)

port.on('message', async (ask: Ask) => {
  port.postMessage(await answer(ask))
})
port.postMessage({ id: 0, fields: [], rows: [], affectedRows: 0 } satisfies Answer)

async function answer(ask: Ask): Promise<Answer> {
  const empty = { id: ask.id, fields: [], rows: [], affectedRows: 0 }
  try {
    switch (ask.kind) {
      case 'query': {
        const { rows, fields, affectedRows } = await pglite.query<unknown[]>(ask.text, [...ask.parameters], {
          rowMode: 'array',
          parsers: asText,
        })
        return { id: ask.id, fields, rows, affectedRows: affectedRows ?? 0 }
      }
      case 'script':
        await pglite.exec(ask.text)
        return empty
      case 'dump':
        return { ...empty, dump: await (await pglite.dumpDataDir('none')).arrayBuffer() }
      case 'close':
        await pglite.close()
        return empty
    }
  } catch (error) {
    return { ...empty, error: plainError(error) }
  }
}

/** Of an error, what can cross to the other thread. */
function plainError(error: unknown): WorkerError {
  if (!(error instanceof Error)) return { message: String(error) }
  const { code, detail, constraint, column, table } = error as Error & Record<string, unknown>
  return { message: error.message, code, detail, constraint, column, table }
}
