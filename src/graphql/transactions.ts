import { approveTransaction, rejectTransaction, requestedFieldsOf } from '../core/approvals/approval.ts'
import type { Customer } from '../core/customers/customer.ts'
import { maskedFor } from '../core/masked.ts'
import type { Quote } from '../core/quotes/quote.ts'
import { receiveUma } from '../core/sandbox/receive-uma.ts'
import { sandboxSend } from '../core/sandbox/send.ts'
import { cancelTransaction } from '../core/transactions/cancel.ts'
import { listTransactions } from '../core/transactions/read-transactions.ts'
import { directionOf, type directions, type Refund, type Transaction } from '../core/transactions/transaction.ts'
import { transferIn, transferOut } from '../core/transactions/transfers.ts'
import type { ApprovalRow } from '../database/tables.ts'
import { builder } from './builder.ts'
import { bothWayArgs, listOf, pageComplexity } from './connection.ts'
import { DestinationRef, SourceRef } from './endpoint.ts'
import { addMutation, idempotencyKeyDescription } from './error.ts'
import { linkedTo, loadLinked } from './linked.ts'
import { MoneyRef, RateDetailsRef } from './money.ts'
import { toRecord, type UserInfo, UserInfoInput, UserInfoRef } from './people.ts'
import {
  CustomerRef,
  QuoteRef,
  RequestedFieldRef,
  TransactionConnection,
  TransactionEdge,
  TransactionRef,
  TransactionStatus,
  TransactionType,
} from './refs.ts'
import { TimelineItemRef } from './timeline.ts'

const Direction = builder.enumType('Direction', {
  description: "What a payment does to the platform's side.",
  values: { CREDIT: { description: 'It comes in.' }, DEBIT: { description: 'It goes out.' } } satisfies Record<
    (typeof directions)[number],
    object
  >,
})

const SortOrder = builder.enumType('SortOrder', {
  description: 'Which end of a list comes first.',
  values: { ASC: { value: 'asc', description: 'The oldest.' }, DESC: { value: 'desc', description: 'The newest.' } } as const,
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

const ApprovalRef = builder.objectRef<ApprovalRow>('PaymentApproval').implement({
  description: 'What the platform is asked about an incoming payment: approveTransaction and rejectTransaction answer it.',
  fields: (t) => ({
    deadline: t.field({
      type: 'DateTime',
      description: 'Until when; afterwards the payment fails.',
      resolve: ({ deadline }) => deadline.toISOString(),
    }),
    requestedReceiverUserInfoFields: t.field({
      type: [RequestedFieldRef],
      description: "What the payer's provider wants to know of the receiver and we do not.",
      resolve: requestedFieldsOf,
    }),
    decidedBy: t.exposeString('decidedBy', {
      nullable: true,
      description: 'WEBHOOK or API: how it was decided; null while it is not, or when nobody did in time.',
    }),
    reason: t.exposeString('reason', { nullable: true, description: 'Why it was rejected, if that was said.' }),
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
      resolve: (parent, _args, { loaders }) =>
        (linkedTo(parent, 'customer') as Customer | undefined) ??
        (parent.customerId === undefined ? null : loaders.customer.load(parent.customerId)),
    }),
    quote: t.field({
      type: QuoteRef,
      nullable: true,
      description: 'The quote it follows, where there is one.',
      resolve: (parent, _args, { loaders }) =>
        (linkedTo(parent, 'quote') as Quote | undefined) ??
        (parent.quoteId === undefined ? null : loaders.quote.load(parent.quoteId)),
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
    direction: t.field({
      type: Direction,
      description: 'Whether it comes in or goes out.',
      resolve: ({ type }) => directionOf(type),
    }),
    remittanceInformation: t.exposeString('remittanceInformation', {
      nullable: true,
      description: "What the receiver's bank shows beside it.",
    }),
    failureReason: t.exposeString('failureReason', {
      nullable: true,
      description: 'Why it failed: QUOTE_EXPIRED, QUOTE_EXECUTION_FAILED, TIMEOUT and so on.',
    }),
    platformCustomerId: t.exposeString('platformCustomerId', {
      nullable: true,
      description: "The platform's own id of the customer; null where it is the platform's own money.",
    }),
    counterpartyInformation: t.field({
      type: [UserInfoRef],
      description: 'What is known of the other side; only of payments to and from UMA addresses.',
      resolve: ({ counterpartyInformation = {} }, _args, { caller }) =>
        Object.entries(maskedFor(caller, counterpartyInformation)).map(([name, value]) => ({ name, value })),
    }),
    senderUmaAddress: t.exposeString('senderUmaAddress', { nullable: true, description: 'Who pays, of payments by UMA.' }),
    receiverUmaAddress: t.exposeString('receiverUmaAddress', {
      nullable: true,
      description: 'Who is paid, of payments by UMA.',
    }),
    approval: t.field({
      type: ApprovalRef,
      nullable: true,
      description: "The platform's word on it, of incoming payments that need one.",
      resolve: ({ id }, _args, { loaders }) => loaders.approval.load(id),
    }),
    timeline: t.field({
      type: [TimelineItemRef],
      description: 'Everything that happened to it, in order: states, ledger entries, events.',
      resolve: ({ id }, _args, { loaders }) => loaders.timeline.load(id),
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
    description: 'The payments, newest first unless asked otherwise.',
    args: {
      ...bothWayArgs,
      customerId: t.arg.id({ description: 'Of this customer only.' }),
      platformCustomerId: t.arg.string({ description: "Of the customers with this id of the platform's." }),
      accountIdentifier: t.arg.string({ description: 'From or to this account id or UMA address.' }),
      senderAccountIdentifier: t.arg.string({ description: 'From this account id or UMA address.' }),
      receiverAccountIdentifier: t.arg.string({ description: 'To this account id or UMA address.' }),
      status: t.arg({ type: TransactionStatus, description: 'In this state only.' }),
      type: t.arg({ type: TransactionType, description: 'In or out only.' }),
      reference: t.arg.string({ description: 'The one with this reconciliation reference.' }),
      startDate: t.arg({ type: 'DateTime', description: 'Created at or after this instant.' }),
      endDate: t.arg({ type: 'DateTime', description: 'Created at or before this instant.' }),
      sortOrder: t.arg({ type: SortOrder, description: 'DESC unless said otherwise.' }),
    },
    complexity: pageComplexity,
    resolve: (_root, args, context, info) => listOf(context, listTransactions, args, info),
  }),
)

builder.queryField('transaction', (t) =>
  t.field({
    type: TransactionRef,
    nullable: true,
    description: 'One payment; null when there is none with this id.',
    args: { id: t.arg.id({ required: true, description: '`Transaction:<uuid>`' }) },
    resolve: (_root, { id }, context, info) => loadLinked(context, id, info),
  }),
)

const TransferEnd = builder.inputType('TransferAccountInput', {
  description: 'One of your accounts.',
  fields: (t) => ({ accountId: t.id({ required: true, description: '`InternalAccount:<uuid>` or `ExternalAccount:<uuid>`' }) }),
})

const toTransaction = {
  field: 'transaction',
  type: TransactionRef,
  description: 'The payment.',
  of: (transaction: Transaction) => transaction,
}

addMutation('transferOut', {
  description: 'Moves money from an internal account to an external one in the same currency.',
  operation: transferOut,
  input: builder.inputType('TransferOutInput', {
    description: 'Money to leave.',
    fields: (t) => ({
      source: t.field({ type: TransferEnd, required: true, description: 'An internal account.' }),
      destination: t.field({ type: TransferEnd, required: true, description: 'An external account.' }),
      amount: t.field({
        type: 'Int64',
        description: "In the smallest unit of the accounts' currency; absent, the whole balance.",
      }),
      description: t.string({ description: 'A memo.' }),
      remittanceInformation: t.string({ description: "What the receiver's bank shall show: 80 characters at most." }),
      idempotencyKey: t.string({ description: idempotencyKeyDescription }),
    }),
  }),
  result: { ...toTransaction, edge: TransactionEdge },
})

addMutation('transferIn', {
  description: 'Pulls money from an external account onto an internal one in the same currency.',
  operation: transferIn,
  input: builder.inputType('TransferInInput', {
    description: 'Money to be pulled.',
    fields: (t) => ({
      source: t.field({ type: TransferEnd, required: true, description: 'An external account that money can be pulled from.' }),
      destination: t.field({ type: TransferEnd, required: true, description: 'An internal account.' }),
      amount: t.field({
        type: 'Int64',
        required: true,
        description: "In the smallest unit of the accounts' currency.",
      }),
      description: t.string({ description: 'A memo.' }),
      idempotencyKey: t.string({ description: idempotencyKeyDescription }),
    }),
  }),
  result: { ...toTransaction, edge: TransactionEdge },
})

interface ApproveInput {
  transactionId: string
  receiverUserInfo?: UserInfo[] | null | undefined
}

addMutation('approveTransaction', {
  description: 'Lets an incoming payment go on that waits for approval.',
  operation: approveTransaction,
  input: builder.inputType('ApproveTransactionInput', {
    description: 'Which payment, and what its payer is told.',
    fields: (t) => ({
      transactionId: t.id({ required: true, description: '`Transaction:<uuid>`' }),
      receiverUserInfo: t.field({ type: [UserInfoInput], description: 'What was requested of the receiver.' }),
      idempotencyKey: t.string({ description: idempotencyKeyDescription }),
    }),
  }),
  toInput: ({ receiverUserInfo, ...rest }: ApproveInput) => ({ ...rest, receiverUserInfo: toRecord(receiverUserInfo) }),
  result: toTransaction,
})

addMutation('cancelTransaction', {
  description: 'Gives up a payment whose quote has been neither executed nor funded.',
  operation: cancelTransaction,
  input: builder.inputType('CancelTransactionInput', {
    description: 'Which payment.',
    fields: (t) => ({
      transactionId: t.id({ required: true, description: '`Transaction:<uuid>`' }),
      idempotencyKey: t.string({ description: idempotencyKeyDescription }),
    }),
  }),
  result: toTransaction,
})

addMutation('rejectTransaction', {
  description: 'Refuses an incoming payment that waits for approval.',
  operation: rejectTransaction,
  input: builder.inputType('RejectTransactionInput', {
    description: 'Which payment, and why.',
    fields: (t) => ({
      transactionId: t.id({ required: true, description: '`Transaction:<uuid>`' }),
      reason: t.string({ description: 'Why, for the record.' }),
      idempotencyKey: t.string({ description: idempotencyKeyDescription }),
    }),
  }),
  result: toTransaction,
})

addMutation('sandboxReceiveUma', {
  description: "Sandbox only: somebody at another provider pays one of the platform's customers by UMA address.",
  operation: receiveUma,
  input: builder.inputType('SandboxReceiveUmaInput', {
    description: 'Who pays whom, and what arrives.',
    fields: (t) => ({
      senderUmaAddress: t.string({ required: true, description: "One of the sandbox's test addresses." }),
      receiverUmaAddress: t.string({ description: "The customer's address; or name the customer." }),
      customerId: t.id({ description: '`Customer:<uuid>`, instead of the address.' }),
      receivingCurrencyCode: t.string({ required: true, description: 'What arrives.' }),
      receivingCurrencyAmount: t.field({ type: 'Int64', required: true, description: 'How much, in the smallest unit.' }),
      idempotencyKey: t.string({ description: idempotencyKeyDescription }),
    }),
  }),
  result: { ...toTransaction, edge: TransactionEdge },
})

addMutation('sandboxSend', {
  description: "Sandbox only: pushes money with a reference, as if the payer had followed a quote's payment instructions.",
  operation: sandboxSend,
  input: builder.inputType('SandboxSendInput', {
    description: 'Money that is pushed.',
    fields: (t) => ({
      reference: t.string({ description: 'The reference of the payment instructions; or name the quote.' }),
      quoteId: t.id({ description: '`Quote:<uuid>`, instead of the reference.' }),
      currencyCode: t.string({ required: true, description: 'What is pushed.' }),
      currencyAmount: t.field({
        type: 'Int64',
        description: 'How much, in the smallest unit; may be left out where the quote is named, which says it.',
      }),
      idempotencyKey: t.string({ description: idempotencyKeyDescription }),
    }),
  }),
  result: toTransaction,
})
