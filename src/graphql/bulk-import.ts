import { getBulkJob, type RowError } from '../core/bulk-import/job.ts'
import { builder } from './builder.ts'
import { askCore, findInCore } from './context.ts'
import { BulkJobRef } from './refs.ts'

const BulkJobStatus = builder.enumType('BulkImportStatus', {
  description: 'How far a file of customers has come.',
  values: {
    PENDING: { description: 'It has been read.' },
    PROCESSING: { description: 'Its rows become customers.' },
    COMPLETED: { description: 'Every row has been looked at; some may have failed.' },
    FAILED: { description: 'It is not CSV; nothing was made of it.' },
  } as const,
})

const RowErrorRef = builder.objectRef<RowError>('BulkImportError').implement({
  description: 'A row that could not be taken.',
  fields: (t) => ({
    correlationId: t.exposeString('correlationId', { description: "The platform's id of the customer, or `row_<number>`." }),
    code: t.string({ description: 'For programs.', resolve: ({ error }) => error.code }),
    message: t.string({ description: 'For people.', resolve: ({ error }) => error.message }),
    row: t.int({
      nullable: true,
      description: 'Which row, from 1 on, the header aside.',
      resolve: ({ error }) => (error.details?.['row'] as number | undefined) ?? null,
    }),
    field: t.string({
      nullable: true,
      description: 'Which field of it.',
      resolve: ({ error }) => (error.details?.['field'] as string | undefined) ?? null,
    }),
  }),
})

builder.node(BulkJobRef, {
  description: 'A file of customers on its way in. Files are uploaded over REST: `POST /customers/bulk/csv`.',
  id: { resolve: ({ id }) => id, description: '`Job:<uuid>`' },
  loadOne: (id: string, context) => findInCore(context, getBulkJob, { jobId: id }),
  fields: (t) => ({
    status: t.expose('status', { type: BulkJobStatus, description: 'How far it has come.' }),
    total: t.int({ description: 'Rows.', resolve: ({ progress }) => progress.total }),
    processed: t.int({ description: 'Rows that have been looked at.', resolve: ({ progress }) => progress.processed }),
    successful: t.int({ description: 'Rows that became customers.', resolve: ({ progress }) => progress.successful }),
    failed: t.int({ description: 'Rows that could not.', resolve: ({ progress }) => progress.failed }),
    errors: t.expose('errors', { type: [RowErrorRef], description: 'Why they could not, the first thousand.' }),
    completedAt: t.expose('completedAt', { type: 'DateTime', nullable: true, description: 'When it ended.' }),
  }),
})

builder.queryField('bulkImportJob', (t) =>
  t.field({
    type: BulkJobRef,
    description: 'An import of customers.',
    args: { id: t.arg.id({ required: true, description: '`Job:<uuid>`' }) },
    resolve: (_root, { id }, context) => askCore(context, getBulkJob, { jobId: id }),
  }),
)
