/** A CSV file comes in: its rows are kept as they are, in portions, and a job is left behind that looks at them. */
import type { Readable } from 'node:stream'
import { parse } from 'csv-parse'
import { z } from 'zod'
import { day } from '../../base/clock.ts'
import { newId, oldestId, toId } from '../../base/ids.ts'
import { stringifyJson } from '../../base/json.ts'
import { DomainError } from '../../base/refusal.ts'
import type { Queryable } from '../../database/port.ts'
import type { BulkJobRow } from '../../database/tables.ts'
import { newTask } from '../../log/tasks.ts'
import { action } from '../operation.ts'
import { bulkJobEnded, type RowError } from './job.ts'

const rowsAtOnce = 100
const leftRowsAtOnce = 10_000
const longestRow = 64 * 1024
const requiredColumns = ['platformCustomerId', 'customerType']

/**
 * UTF-8 with a header row, with or without a byte order mark. Refuses INVALID_INPUT for a file without the columns that every row needs. A file
 * that stops being CSV on the way becomes a job that has FAILED, and no customer of it is made.
 */
export const uploadCustomers = action({
  name: 'uploadCustomers',
  permission: 'MANAGE',
  input: z.object({ file: z.custom<Readable>((value) => value !== undefined, 'expected a CSV file') }),
  output: z.object({ jobId: z.string(), status: z.enum(['PENDING', 'FAILED']) }),
  async answer({ database, commit, clock }, { worldId }, { file }) {
    const id = newId()
    await forgetLeftRows(database, clock.now())
    const { total, fault } = await keepRows(database, id, file)
    const now = clock.now()
    const job: BulkJobRow = {
      id,
      worldId,
      status: fault ? 'FAILED' : 'PENDING',
      total,
      processed: 0,
      successful: 0,
      failed: 0,
      errors: (fault ? [fault] : []) as unknown as BulkJobRow['errors'],
      completedAt: fault ? now : null,
      createdAt: now,
      updatedAt: now,
      version: 1,
    }
    await commit({
      reply: undefined,
      insert: { bulk_job: [job], task: fault ? [] : [newTask('import-customers', worldId, id)] },
      events: fault ? [bulkJobEnded(job)] : [],
    })
    return { jobId: toId('Job', id), status: fault ? ('FAILED' as const) : ('PENDING' as const) }
  },
})

/** Rows of uploads that were cut off, by a process that died: no job will ever take them. */
async function forgetLeftRows(database: Queryable, now: Date): Promise<void> {
  await database.query(
    `delete from bulk_row where id in (
       select r.id from bulk_row r where r.id < $1::uuid and not exists (select from bulk_job j where j.id = r.job_id)
       order by r.id limit ${leftRowsAtOnce})`,
    [oldestId(new Date(now.getTime() - day))],
  )
}

async function keepRows(
  database: Queryable,
  jobId: string,
  file: Readable,
): Promise<{ total: number; fault: RowError | undefined }> {
  const parser = parse({
    bom: true,
    columns: readHeader,
    skip_empty_lines: true,
    relax_column_count: true,
    trim: true,
    max_record_size: longestRow,
  })
  file.on('error', (error) => parser.destroy(error))
  file.pipe(parser)
  let total = 0
  let portion: object[] = []
  try {
    for await (const fields of parser) {
      total += 1
      portion.push({ id: newId(), job_id: jobId, number: total, fields: database.vault.seal(withoutEmpty(fields)) })
      if (portion.length < rowsAtOnce) continue
      await insertRows(database, portion)
      portion = []
    }
    if ((file as { truncated?: boolean }).truncated) {
      throw new DomainError('INVALID_INPUT', 'file: it is larger than 100 MB', { field: 'file' })
    }
    await insertRows(database, portion)
    return { total, fault: undefined }
  } catch (error) {
    file.resume()
    await database.query('delete from bulk_row where job_id = $1', [jobId])
    if (error instanceof DomainError) throw error
    const { code, message, records = total } = error as { code?: string; message: string; records?: number }
    if (!code?.startsWith('CSV_')) throw error
    return {
      total,
      fault: { correlationId: `row_${records + 1}`, error: { code: 'invalid_csv_format', message, details: { reason: code } } },
    }
  }
}

function readHeader(names: string[]): string[] {
  const missing = requiredColumns.find((column) => !names.includes(column))
  if (missing === undefined) return names
  throw new DomainError('INVALID_INPUT', `file: the column ${missing} is missing`, {
    field: 'file',
    reason: 'missing_required_column',
    column: missing,
  })
}

/** Empty cells are absent. PostgreSQL keeps no NUL, and what is not UTF-8 has become U+FFFD: both are found as faults of the row later. */
function withoutEmpty(fields: Record<string, string>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(fields)
      .filter(([, value]) => value !== '')
      .map(([name, value]) => [name.replaceAll('\u0000', '\ufffd'), value.replaceAll('\u0000', '\ufffd')]),
  )
}

async function insertRows(database: Queryable, rows: readonly object[]): Promise<void> {
  if (rows.length === 0) return
  await database.query(
    `insert into bulk_row (id, job_id, number, fields)
     select id, job_id, number, fields from json_to_recordset($1::text::json) as r(id uuid, job_id uuid, number int, fields jsonb)`,
    [stringifyJson(rows)],
  )
}
