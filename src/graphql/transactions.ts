import { listTransactions } from '../core/transactions/read-transactions.ts'
import type { Refund, transactionStatuses } from '../core/transactions/transaction.ts'
import { builder } from './builder.ts'
import { listOf, pageArgs, pageComplexity } from './connection.ts'
import { DestinationRef, SourceRef } from './endpoint.ts'
import { MoneyRef, RateDetailsRef } from './money.ts'
import { CustomerRef, QuoteRef, TransactionConnection, TransactionRef } from './refs.ts'

const TransactionStatus = builder.enumType('TransactionStatus', {
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

const TransactionType = builder.enumType('TransactionType', {
  description: 'Which way the money goes, from the point of view of the platform.',
  values: { INCOMING: { description: 'In.' }, OUTGOING: { description: 'Out.' } } as const,
})

const RefundRef = builder.objectRef<Refund>('Refund').implement({
  description: 'Money on its way back.',
  fields: (t) => ({
    reference: t.exposeString('reference', { description: 'Its own reference.' }),
    initiatedAt: t.expose('initiatedAt', { type: 'DateTime', description: 'When it began.' }),
    settledAt: t.expose('settledAt', {
      type: 'DateTime',
      nullable: true,
      description: 'When the money was back.',
    }),
  }),
})

builder.node(TransactionRef, {
  description: 'A payment, incoming or outgoing.',
  id: { resolve: ({ id }) => id, description: '`Transaction:<uuid>`' },
  loadOne: (id: string, { loaders }) => loaders.transaction.load(id),
  fields: (t) => ({
    status: t.expose('status', { type: TransactionStatus, description: 'How far it has come.' }),
    type: t.expose('type', { type: TransactionType, description: 'In or out.' }),
    source: t.expose('source', { type: SourceRef, description: 'Where the money comes from.' }),
    destination: t.expose('destination', { type: DestinationRef, description: 'Where it goes.' }),
    customer: t.field({
      type: CustomerRef,
      nullable: true,
      description: "Sender of an outgoing payment, receiver of an incoming one; null for the platform's own money.",
      resolve: ({ customerId }, _args, { loaders }) => (customerId === undefined ? null : loaders.customer.load(customerId)),
    }),
    quote: t.field({
      type: QuoteRef,
      nullable: true,
      description: 'The quote it follows, where there is one.',
      resolve: ({ quoteId }, _args, { loaders }) => (quoteId === undefined ? null : loaders.quote.load(quoteId)),
    }),
    sentAmount: t.expose('sentAmount', {
      type: MoneyRef,
      nullable: true,
      description: 'What was sent, fees included; of outgoing payments.',
    }),
    receivedAmount: t.expose('receivedAmount', { type: MoneyRef, description: 'What the receiver gets.' }),
    fees: t.field({
      type: MoneyRef,
      nullable: true,
      description: 'The fees, in the currency that was sent; of outgoing payments.',
      resolve: ({ fees, sentAmount }) =>
        fees === undefined || !sentAmount ? null : { amount: fees, currency: sentAmount.currency },
    }),
    exchangeRate: t.exposeFloat('exchangeRate', {
      nullable: true,
      description: 'Units of the sent currency per unit of the received one.',
    }),
    rateDetails: t.expose('rateDetails', {
      type: RateDetailsRef,
      nullable: true,
      description: 'How rate and fees are made up.',
    }),
    reference: t.string({
      nullable: true,
      description: 'The reference to reconcile by.',
      resolve: ({ reconciliationInstructions }) => reconciliationInstructions?.reference ?? null,
    }),
    description: t.exposeString('description', { nullable: true, description: 'The memo.' }),
    failureReason: t.exposeString('failureReason', {
      nullable: true,
      description: 'Why it failed: QUOTE_EXPIRED, QUOTE_EXECUTION_FAILED, TIMEOUT and so on.',
    }),
    refund: t.expose('refund', {
      type: RefundRef,
      nullable: true,
      description: 'How the money came back.',
    }),
    settledAt: t.expose('settledAt', {
      type: 'DateTime',
      nullable: true,
      description: 'When it arrived.',
    }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When it was created.' }),
    updatedAt: t.expose('updatedAt', { type: 'DateTime', description: 'When it last changed.' }),
  }),
})

builder.queryField('transactions', (t) =>
  t.field({
    type: TransactionConnection,
    description: 'The payments, newest first.',
    args: {
      ...pageArgs,
      customerId: t.arg.id({ description: 'Of this customer only.' }),
      platformCustomerId: t.arg.string({ description: "Of the customers with this id of the platform's." }),
      accountIdentifier: t.arg.string({ description: 'From or to this account id or UMA address.' }),
      status: t.arg({ type: TransactionStatus, description: 'In this state only.' }),
      type: t.arg({ type: TransactionType, description: 'In or out only.' }),
      reference: t.arg.string({ description: 'The one with this reconciliation reference.' }),
      startDate: t.arg({ type: 'DateTime', description: 'Created at or after this instant.' }),
      endDate: t.arg({ type: 'DateTime', description: 'Created at or before this instant.' }),
    },
    complexity: pageComplexity,
    resolve: (_root, args, context) => listOf(context, listTransactions, args),
  }),
)

builder.queryField('transaction', (t) =>
  t.field({
    type: TransactionRef,
    nullable: true,
    description: 'One payment; null when there is none with this id.',
    args: { id: t.arg.id({ required: true, description: '`Transaction:<uuid>`' }) },
    resolve: (_root, { id }, { loaders }) => loaders.transaction.load(id),
  }),
)
