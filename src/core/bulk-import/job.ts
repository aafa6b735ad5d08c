/** A file of customers: how far it has come, and what of it could not be taken. */
import { z } from 'zod'
import { toId } from '../../base/ids.ts'
import { DomainError } from '../../base/refusal.ts'
import type { Queryable } from '../../database/port.ts'
import { type BulkJobRow, byIdsInWorld, selectList } from '../../database/tables.ts'
import type { EventDraft } from '../commit.ts'
import { idOf } from '../input.ts'
import { query } from '../operation.ts'

const RowError = z.object({
  /** The platform's id of the customer, or `row_<number>` where there is none. */
  correlationId: z.string(),
  platformCustomerId: z.string().optional(),
  error: z.object({ code: z.string(), message: z.string(), details: z.looseObject({}).optional() }),
})

export type RowError = z.output<typeof RowError>

export const BulkJob = z.object({
  jobId: z.string(),
  /** The same, by its newer name. */
  id: z.string(),
  status: z.enum(['PENDING', 'PROCESSING', 'COMPLETED', 'FAILED']),
  progress: z.object({ total: z.int(), processed: z.int(), successful: z.int(), failed: z.int() }),
  /** The first thousand. */
  errors: z.array(RowError),
  completedAt: z.string().optional(),
})

export type BulkJob = z.output<typeof BulkJob>

function toBulkJob(row: BulkJobRow): BulkJob {
  const { status, total, processed, successful, failed, errors, completedAt } = row
  const id = toId('Job', row.id)
  return {
    jobId: id,
    id,
    status,
    progress: { total, processed, successful, failed },
    errors: errors as unknown as RowError[],
    ...(completedAt === null ? {} : { completedAt: completedAt.toISOString() }),
  }
}

export async function bulkJobOf(database: Queryable, worldId: string, jobId: string): Promise<BulkJobRow | undefined> {
  const [row] = await database.query<BulkJobRow>(
    `select ${selectList('bulk_job', 'j')} from bulk_job j where ${byIdsInWorld('j')}`,
    [worldId, [jobId]],
  )
  return row
}

/** Refuses BULK_UPLOAD_JOB_NOT_FOUND. */
export const getBulkJob = query({
  name: 'getBulkJob',
  permission: 'VIEW',
  refuses: ['BULK_UPLOAD_JOB_NOT_FOUND'],
  input: z.object({ jobId: idOf('Job') }),
  output: BulkJob,
  async answer({ database }, { worldId }, { jobId }) {
    const row = await bulkJobOf(database, worldId, jobId)
    if (!row) throw new DomainError('BULK_UPLOAD_JOB_NOT_FOUND', 'There is no such job', { field: 'jobId' })
    return toBulkJob(row)
  },
})

/** BULK_UPLOAD: the job has ended, one way or the other. */
export function bulkJobEnded(row: BulkJobRow): EventDraft {
  return { ...bulkJobProgressed(row), type: 'BULK_UPLOAD' }
}

/** BULK_UPLOAD_PROGRESS: it has come further. */
export function bulkJobProgressed(row: BulkJobRow): EventDraft {
  return {
    worldId: row.worldId,
    type: 'BULK_UPLOAD_PROGRESS',
    resourceId: toId('Job', row.id),
    customerId: null,
    payload: { bulkCustomerImportJob: toBulkJob(row) },
  }
}
