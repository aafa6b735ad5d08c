import type { z } from 'zod'
import { createQuote, purposes } from '../core/quotes/create-quote.ts'
import { executeQuote } from '../core/quotes/execute-quote.ts'
import type { Quote, quoteStatuses } from '../core/quotes/quote.ts'
import { listQuotes } from '../core/quotes/read-quotes.ts'
import { toAccountInfo } from './accounts/account-info.ts'
import { CreateExternalAccountInput } from './accounts/external.ts'
import { builder } from './builder.ts'
import { bothWayArgs, listOf, pageComplexity } from './connection.ts'
import { DestinationRef, SourceRef } from './endpoint.ts'
import { addMutation, idempotencyKeyDescription } from './error.ts'
import { CurrencyRef, MoneyRef, PaymentInstructionRef, RateDetailsRef } from './money.ts'
import { toRecord, UserInfoInput } from './people.ts'
import { CustomerRef, QuoteConnection, QuoteEdge, QuoteRef, TransactionRef } from './refs.ts'

const QuoteStatus = builder.enumType('QuoteStatus', {
  description: 'How far a quote has come.',
  values: {
    PENDING: { description: 'Waiting to be executed, until it expires.' },
    PROCESSING: { description: 'Executed: the payment is under way.' },
    COMPLETED: { description: 'The payment arrived.' },
    FAILED: { description: 'The payment did not arrive; the money was returned.' },
    EXPIRED: { description: 'Not executed in time.' },
  } satisfies Record<(typeof quoteStatuses)[number], { description: string }>,
})

const LockedCurrencySide = builder.enumType('LockedCurrencySide', {
  description: 'Which of the two amounts is given.',
  values: {
    SENDING: { description: 'What is sent, fees included.' },
    RECEIVING: { description: 'What arrives.' },
  } as const,
})

builder.node(QuoteRef, {
  description: 'A locked exchange rate with its fees and both amounts, to be executed before it expires.',
  id: { resolve: ({ id }) => id, description: '`Quote:<uuid>`' },
  loadOne: (id: string, { loaders }) => loaders.quote.load(id),
  fields: (t) => ({
    status: t.expose('status', { type: QuoteStatus, description: 'How far it has come.' }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When it was made.' }),
    expiresAt: t.expose('expiresAt', { type: 'DateTime', description: 'Until when it can be executed.' }),
    executedAt: t.expose('executedAt', {
      type: 'DateTime',
      nullable: true,
      description: 'When it was executed.',
    }),
    source: t.expose('source', { type: SourceRef, description: 'Where the money comes from.' }),
    destination: t.expose('destination', { type: DestinationRef, description: 'Where it goes.' }),
    customer: t.field({
      type: CustomerRef,
      nullable: true,
      description: "Who sends; null for the platform's own money.",
      resolve: ({ source: { customerId } }, _args, { loaders }) =>
        customerId === undefined ? null : loaders.customer.load(customerId),
    }),
    transaction: t.field({
      type: TransactionRef,
      description: 'The payment that belongs to the quote.',
      resolve: async ({ transactionId }, _args, { loaders }) => (await loaders.transaction.load(transactionId))!,
    }),
    sendingCurrency: t.expose('sendingCurrency', { type: CurrencyRef, description: 'What is sent.' }),
    receivingCurrency: t.expose('receivingCurrency', { type: CurrencyRef, description: 'What arrives.' }),
    lockedCurrencySide: t.expose('lockedCurrencySide', { type: LockedCurrencySide, description: 'Which amount was given.' }),
    totalSendingAmount: t.field({
      type: MoneyRef,
      description: 'What the sender pays, fees included.',
      resolve: ({ totalSendingAmount, sendingCurrency }) => ({ amount: totalSendingAmount, currency: sendingCurrency }),
    }),
    totalReceivingAmount: t.field({
      type: MoneyRef,
      description: 'What the receiver gets.',
      resolve: ({ totalReceivingAmount, receivingCurrency }) => ({ amount: totalReceivingAmount, currency: receivingCurrency }),
    }),
    feesIncluded: t.field({
      type: MoneyRef,
      description: 'The fees, in the sending currency; part of totalSendingAmount.',
      resolve: ({ feesIncluded, sendingCurrency }) => ({ amount: feesIncluded, currency: sendingCurrency }),
    }),
    exchangeRate: t.exposeFloat('exchangeRate', {
      description: 'Units of the sending currency per unit of the receiving one: received = (sent − fees) / exchangeRate.',
    }),
    rateDetails: t.expose('rateDetails', { type: RateDetailsRef, description: 'How rate and fees are made up.' }),
    paymentInstructions: t.field({
      type: [PaymentInstructionRef],
      description: 'Where to push the money, for quotes that are funded just in time; empty for others.',
      resolve: ({ paymentInstructions }) => paymentInstructions ?? [],
    }),
    description: t.exposeString('description', { nullable: true, description: 'The memo.' }),
    remittanceInformation: t.exposeString('remittanceInformation', {
      nullable: true,
      description: "What the receiver's bank shows beside the payment.",
    }),
  }),
})

builder.queryField('quotes', (t) =>
  t.field({
    type: QuoteConnection,
    description: 'The quotes, newest first.',
    args: {
      ...bothWayArgs,
      customerId: t.arg.id({ description: 'Of this sender only.' }),
      sendingAccountId: t.arg.id({ description: 'From this account only.' }),
      receivingAccountId: t.arg.id({ description: 'To this account only.' }),
      sendingUmaAddress: t.arg.string({ description: 'From this UMA address only.' }),
      receivingUmaAddress: t.arg.string({ description: 'To this UMA address only.' }),
      status: t.arg({ type: QuoteStatus, description: 'In this state only.' }),
      createdAfter: t.arg({ type: 'DateTime', description: 'Created at or after this instant.' }),
      createdBefore: t.arg({ type: 'DateTime', description: 'Created at or before this instant.' }),
    },
    complexity: pageComplexity,
    resolve: (_root, args, context, info) => listOf(context, listQuotes, args, info),
  }),
)

builder.queryField('quote', (t) =>
  t.field({
    type: QuoteRef,
    nullable: true,
    description: 'One quote; null when there is none with this id.',
    args: { id: t.arg.id({ required: true, description: '`Quote:<uuid>`' }) },
    resolve: (_root, { id }, { loaders }) => loaders.quote.load(id),
  }),
)

const LookupEnd = builder.inputType('QuoteLookupInput', {
  description: 'Whoever a lookup found.',
  fields: (t) => ({ currency: t.string({ description: 'What shall arrive; absent, what the receiver prefers.' }) }),
})

const AccountEnd = builder.inputType('QuoteAccountInput', {
  description: 'One of your accounts.',
  fields: (t) => ({
    accountId: t.id({ required: true, description: '`InternalAccount:<uuid>` or `ExternalAccount:<uuid>`' }),
    currency: t.string({ description: 'Checked against the account when given.' }),
  }),
})

const RealtimeFunding = builder.inputType('RealtimeFundingInput', {
  description: "Money that will be pushed as the quote's payment instructions say; that begins the payment.",
  fields: (t) => ({
    currency: t.string({ required: true, description: 'Code of the currency that will be pushed.' }),
    customerId: t.id({ description: 'Who sends; absent with no umaAddress, the platform itself.' }),
    umaAddress: t.string({ description: 'Who sends, by UMA address.' }),
  }),
})

const QuoteSourceInput = builder.inputType('QuoteSourceInput', {
  description: 'Where the money comes from: exactly one of these.',
  isOneOf: true,
  fields: (t) => ({
    account: t.field({ type: AccountEnd, description: 'An internal account, or an external one that money can be pulled from.' }),
    realtimeFunding: t.field({ type: RealtimeFunding, description: 'Money that will be pushed.' }),
  }),
})

const UmaEnd = builder.inputType('QuoteUmaAddressInput', {
  description: 'A receiver by UMA address.',
  fields: (t) => ({
    umaAddress: t.string({ required: true, description: '`$name@domain`' }),
    currency: t.string({ description: 'What shall arrive; absent, what the receiver prefers.' }),
    counterpartyInformation: t.field({
      type: [UserInfoInput],
      description: 'What is known of the receiver.',
    }),
  }),
})

const QuoteDestinationInput = builder.inputType('QuoteDestinationInput', {
  description: 'Where the money goes: exactly one of these.',
  isOneOf: true,
  fields: (t) => ({
    account: t.field({ type: AccountEnd, description: 'An account of either kind.' }),
    umaAddress: t.field({ type: UmaEnd, description: 'A UMA address.' }),
    externalAccountDetails: t.field({
      type: CreateExternalAccountInput,
      description: 'A bank account or wallet that is added with the quote, unless it is there already.',
    }),
    lookup: t.field({ type: LookupEnd, description: 'Whoever the lookup named by lookupId found.' }),
  }),
})

const PurposeOfPayment = builder.enumType('PurposeOfPayment', {
  description: 'What a payment is for; some corridors want to know.',
  values: Object.fromEntries(purposes.map((purpose) => [purpose, { description: `${sentence(purpose)}.` }])),
})

function sentence(name: string): string {
  return `${name.charAt(0)}${name.slice(1).toLowerCase().replaceAll('_', ' ')}`
}

const CreateQuoteInput = builder.inputType('CreateQuoteInput', {
  description: 'A payment to be priced.',
  fields: (t) => ({
    source: t.field({ type: QuoteSourceInput, required: true, description: 'Where the money comes from.' }),
    destination: t.field({ type: QuoteDestinationInput, required: true, description: 'Where it goes.' }),
    lockedCurrencySide: t.field({ type: LockedCurrencySide, required: true, description: 'Which amount is given.' }),
    lockedCurrencyAmount: t.field({
      type: 'Int64',
      required: true,
      description: "In the smallest unit of the locked side's currency.",
    }),
    lookupId: t.id({ description: '`Lookup:<uuid>`, from lookUpReceiver.' }),
    immediatelyExecute: t.boolean({ description: 'Execute it at once; not for money that will be pushed.' }),
    description: t.string({ description: 'A memo.' }),
    remittanceInformation: t.string({ description: "What the receiver's bank shall show: 80 characters at most." }),
    purposeOfPayment: t.field({ type: PurposeOfPayment, description: 'What it is for.' }),
    senderCustomerInfo: t.field({
      type: [UserInfoInput],
      description: "What the receiver's provider must be told about who pays, beyond what the customer's record says.",
    }),
    idempotencyKey: t.string({ description: idempotencyKeyDescription }),
  }),
})

const toQuote = {
  field: 'quote',
  type: QuoteRef,
  description: 'The quote.',
  of: (quote: z.output<typeof Quote>) => quote,
}

addMutation('createQuote', {
  description: 'Locks a rate for a cross-currency payment for a few minutes.',
  operation: createQuote,
  input: CreateQuoteInput,
  toInput: ({ source, destination, senderCustomerInfo, ...rest }) => ({
    ...rest,
    senderCustomerInfo: toRecord(senderCustomerInfo),
    source: source.account ?? source.realtimeFunding ?? {},
    destination: toDestination(destination),
  }),
  result: { ...toQuote, edge: QuoteEdge },
})

function toDestination({
  account,
  umaAddress,
  externalAccountDetails: details,
  lookup,
}: typeof QuoteDestinationInput.$inferInput) {
  if (umaAddress) return { ...umaAddress, counterpartyInformation: toRecord(umaAddress.counterpartyInformation) }
  if (lookup) return { ...lookup, destinationType: 'LOOKUP' }
  return details ? { externalAccountDetails: { ...details, accountInfo: toAccountInfo(details.accountInfo) } } : (account ?? {})
}

const ExecuteQuoteInput = builder.inputType('ExecuteQuoteInput', {
  description: 'A quote to execute.',
  fields: (t) => ({
    quoteId: t.id({ required: true, description: '`Quote:<uuid>`' }),
    idempotencyKey: t.string({ description: idempotencyKeyDescription }),
  }),
})

addMutation('executeQuote', {
  description: 'Debits the source and starts the payment. Once executed, a quote cannot be cancelled.',
  operation: executeQuote,
  input: ExecuteQuoteInput,
  result: toQuote,
})
