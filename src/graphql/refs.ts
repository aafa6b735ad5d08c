/** The things of the domain, by which the rooms' types refer to each other; each is described in its room. */
import type { z } from 'zod'
import type { ExternalAccount } from '../core/accounts/external.ts'
import type { InternalAccount } from '../core/accounts/internal.ts'
import type { RequestedField as requestedField } from '../core/approvals/approval.ts'
import type { BulkJob } from '../core/bulk-import/job.ts'
import type { Customer } from '../core/customers/customer.ts'
import type { Invitation } from '../core/invitations/invitation.ts'
import type { Quote } from '../core/quotes/quote.ts'
import type { Transaction, transactionStatuses } from '../core/transactions/transaction.ts'
import { builder } from './builder.ts'

export const CustomerRef = builder.objectRef<Customer>('Customer')
export const InternalAccountRef = builder.objectRef<InternalAccount>('InternalAccount')
export const ExternalAccountRef = builder.objectRef<ExternalAccount>('ExternalAccount')
export const BulkJobRef = builder.objectRef<BulkJob>('BulkImportJob')
export const InvitationRef = builder.objectRef<Invitation>('Invitation')
export const QuoteRef = builder.objectRef<Quote>('Quote')
export const TransactionRef = builder.objectRef<Transaction>('Transaction')

export type RequestedField = z.output<typeof requestedField>

export const RequestedFieldRef = builder.objectRef<RequestedField>('RequestedField').implement({
  description: 'Something that one side of a payment wants to know of the other.',
  fields: (t) => ({
    name: t.exposeString('name', { description: 'FULL_NAME, BIRTH_DATE, NATIONALITY and so on.' }),
    mandatory: t.exposeBoolean('mandatory', { description: 'Without it there is no payment.' }),
  }),
})

export const CustomerEdge = builder.edgeObject({ type: CustomerRef, name: 'CustomerEdge', description: 'A customer in a list.' })

export const CustomerConnection = builder.connectionObject(
  { type: CustomerRef, name: 'CustomerConnection', description: 'A page of customers.' },
  CustomerEdge,
)

const InternalAccountEdge = builder.edgeObject({
  type: InternalAccountRef,
  name: 'InternalAccountEdge',
  description: 'An internal account in a list.',
})

export const InternalAccountConnection = builder.connectionObject(
  { type: InternalAccountRef, name: 'InternalAccountConnection', description: 'A page of internal accounts.' },
  InternalAccountEdge,
)

export const ExternalAccountEdge = builder.edgeObject({
  type: ExternalAccountRef,
  name: 'ExternalAccountEdge',
  description: 'An external account in a list.',
})

export const ExternalAccountConnection = builder.connectionObject(
  { type: ExternalAccountRef, name: 'ExternalAccountConnection', description: 'A page of external accounts.' },
  ExternalAccountEdge,
)

export const QuoteEdge = builder.edgeObject({ type: QuoteRef, name: 'QuoteEdge', description: 'A quote in a list.' })

export const QuoteConnection = builder.connectionObject(
  { type: QuoteRef, name: 'QuoteConnection', description: 'A page of quotes.' },
  QuoteEdge,
)

export const TransactionEdge = builder.edgeObject({
  type: TransactionRef,
  name: 'TransactionEdge',
  description: 'A transaction in a list.',
})

export const TransactionConnection = builder.connectionObject(
  { type: TransactionRef, name: 'TransactionConnection', description: 'A page of transactions.' },
  TransactionEdge,
)

export const TransactionStatus = builder.enumType('TransactionStatus', {
  description: 'How far a payment has come.',
  values: {
    CREATED: { description: 'It exists.' },
    PENDING: { description: 'Its quote has been made, or it waits for approval.' },
    PROCESSING: { description: 'The money is there and the payment has begun.' },
    SENT: { description: 'Cross-border settlement has begun.' },
    COMPLETED: { description: 'It arrived.' },
    REJECTED: { description: 'The receiving bank or wallet refused it; the money was returned.' },
    FAILED: { description: 'It did not arrive; the money was returned.' },
    REFUNDED: { description: 'It could not be completed and was refunded.' },
    EXPIRED: { description: 'Its quote was not executed in time.' },
  } satisfies Record<(typeof transactionStatuses)[number], { description: string }>,
})

export const TransactionType = builder.enumType('TransactionType', {
  description: 'Which way the money goes, from the point of view of the platform.',
  values: { INCOMING: { description: 'In.' }, OUTGOING: { description: 'Out.' } } as const,
})
