/** A new quote: the rate, the fees and both amounts, locked for a few minutes; and the payment that will follow it, already with its id. */
import { z } from 'zod'
import { currencyOf } from '../../base/currency.ts'
import { DomainError } from '../../base/refusal.ts'
import type { CustomerRow, ExternalAccountRow, PayRequestRow, QuoteRow, TransactionRow } from '../../database/tables.ts'
import { systemAccount } from '../../ledger/chart.ts'
import { newTask } from '../../log/tasks.ts'
import type { Terms, UmaCurrency } from '../../rails/port.ts'
import { newExternalAccount } from '../accounts/external.ts'
import { paymentInstructions } from '../accounts/funding-instructions.ts'
import { newSystemAccounts } from '../accounts/internal.ts'
import { amountUpTo, idOf, remittanceInformation, text } from '../input.ts'
import { isPromised } from '../invitations/pay-by-link.ts'
import { counterpartyRefusals, requireLookup, termsFor } from '../lookups/lookup.ts'
import { type Caller, type Core, type Moment, operation } from '../operation.ts'
import type { World } from '../platform/world.ts'
import { begin, type Payment } from '../transactions/moves.ts'
import { newTransactionDefaults } from '../transactions/transaction.ts'
import { newPayRequest } from '../uma/outgoing.ts'
import { checkAmounts, checkEnds } from './check-quote.ts'
import { type Destination, destinationInput, loadDestination, loadSource, type Source, sourceInput } from './ends.ts'
import { type Execution, execution } from './execute-quote.ts'
import { type Price, priceOf } from './pricing.ts'
import { Quote, toQuote } from './quote.ts'

export const purposes = [
  'GIFT',
  'SELF',
  'GOODS_OR_SERVICES',
  'EDUCATION',
  'HEALTH_OR_MEDICAL',
  'REAL_ESTATE_PURCHASE',
  'TAX_PAYMENT',
  'LOAN_PAYMENT',
  'UTILITY_BILL',
  'DONATION',
  'TRAVEL',
  'OTHER',
] as const

const input = z.preprocess(
  readLookupForm,
  z.object({
    source: sourceInput,
    destination: destinationInput,
    lockedCurrencySide: z.enum(['SENDING', 'RECEIVING']),
    lockedCurrencyAmount: amountUpTo(),
    lookupId: idOf('Lookup').optional(),
    immediatelyExecute: z.boolean().default(false),
    description: text(500).optional(),
    remittanceInformation: remittanceInformation.optional(),
    purposeOfPayment: z.enum(purposes).optional(),
    senderCustomerInfo: z.record(text(60), text(500)).optional(),
  }),
)

type Input = z.output<typeof input>

/** The older form: the lookup says who receives, and the money will be pushed. */
function readLookupForm(raw: unknown): unknown {
  if (typeof raw !== 'object' || raw === null || 'source' in raw || 'destination' in raw || !('lookupId' in raw)) return raw
  const { sendingCurrencyCode, receivingCurrencyCode, customerId, ...rest } = raw as Record<string, unknown>
  return {
    ...rest,
    source: { sourceType: 'REALTIME_FUNDING', currency: sendingCurrencyCode, customerId },
    destination: { destinationType: 'LOOKUP', currency: receivingCurrencyCode },
  }
}

interface Loaded {
  world: World
  source: Source
  destination: Destination
  terms: Terms | undefined
  /** Whether the world's books have the receiving currency already. */
  hasBooks: boolean
  /** Whether it is what an invitation has promised. */
  promised: boolean
}

/**
 * Refuses ACCOUNT_NOT_FOUND, USER_NOT_FOUND, UMA_NOT_FOUND, LOOKUP_REQUEST_NOT_FOUND; SELF_PAYMENT; INVALID_CURRENCY (same currency where a
 * transfer would do, other than the account's, no price, not supported); INVALID_BANK_ACCOUNT (not ACTIVE); USER_NOT_READY;
 * AMOUNT_OUT_OF_RANGE; MISSING_MANDATORY_USER_INFO; INVALID_INPUT for immediatelyExecute on money that must be pushed. The balance is
 * looked at when the quote is executed, not before; with immediatelyExecute that is now (INSUFFICIENT_BALANCE). NOT_IMPLEMENTED where no
 * rail is configured that carries it.
 */
export const createQuote = operation({
  name: 'createQuote',
  permission: 'TRANSACT',
  forViewers: true,
  refuses: [
    'INVALID_AMOUNT',
    'INVALID_CURRENCY',
    'INVALID_RECEIVER',
    'INVALID_BANK_ACCOUNT',
    'INVALID_UMA_ADDRESS',
    'SELF_PAYMENT',
    'MISSING_MANDATORY_USER_INFO',
    'AMOUNT_OUT_OF_RANGE',
    'INSUFFICIENT_BALANCE',
    'ACCOUNT_NOT_FOUND',
    'USER_NOT_FOUND',
    'UMA_NOT_FOUND',
    'LOOKUP_REQUEST_NOT_FOUND',
    'EXTERNAL_ACCOUNT_EXISTS',
    'CUSTOMER_DELETED',
    'NOT_IMPLEMENTED',
    ...counterpartyRefusals,
  ],
  input,
  output: Quote,
  load,
  decide(wanted, loaded, moment) {
    const { world } = loaded
    checkEnds(wanted, loaded, moment)
    if (loaded.promised && wanted.lockedCurrencySide === 'RECEIVING') {
      throw new DomainError(
        'INVALID_INPUT',
        'lockedCurrencySide: what a pay-by-link invitation has promised is locked on the SENDING side',
        {
          field: 'lockedCurrencySide',
          value: wanted.lockedCurrencySide,
        },
      )
    }
    const price = requirePrice(wanted, loaded)
    checkAmounts(loaded, price)
    const made = newPayment(wanted, loaded, price, moment)
    const { quote, transaction } = made.payment
    const insert = {
      external_account: made.account ? [made.account] : [],
      pay_request: made.request ? [made.request] : [],
      ledger_account: loaded.hasBooks ? [] : newSystemAccounts(world.id, quote.receivingCurrency, moment.now),
    }
    const guard = guardOf(loaded)
    if (!wanted.immediatelyExecute) {
      const expiry = newTask('expire-quote', world.id, quote.id, quote.expiresAt)
      return { reply: toQuote(quote), guard, insert: { ...insert, quote: [quote], transaction: [transaction], task: [expiry] } }
    }
    const executed: Execution = execution(made.payment, moment.now)
    return {
      reply: toQuote(executed.quote),
      guard,
      insert: { ...insert, quote: [executed.quote], transaction: [executed.transaction], task: [executed.task] },
      entries: executed.entries,
      events: executed.events,
    }
  },
})

async function load(core: Core, caller: Caller, wanted: Input): Promise<Loaded> {
  const { worldId } = caller
  const [world, source, lookup] = await Promise.all([
    core.worlds.get(worldId),
    loadSource(core, caller, wanted.source),
    wanted.lookupId === undefined ? undefined : requireLookup(core, caller, wanted.lookupId),
  ])
  const destination = await loadDestination(core, caller, wanted.destination, lookup, source.customer)
  checkLookup(lookup?.receiverUmaAddress, destination)
  const [terms, hasBooks, promised] = await Promise.all([
    termsFor(core.rates, source.currency, receivingIn(destination)),
    destination.type === 'UMA_ADDRESS' ? hasBooksIn(core, worldId, destination.currency) : true,
    destination.type === 'UMA_ADDRESS' && source.customer
      ? isPromised(core.database, source.customer, destination.umaAddress)
      : false,
  ])
  return { world: world!, source, destination, terms, hasBooks, promised }
}

function receivingIn(destination: Destination): Pick<UmaCurrency, 'currency' | 'millisatoshis'> {
  const { currency } = destination
  return (
    (destination.type === 'UMA_ADDRESS' && destination.receiver.currencies.find((one) => one.currency === currency)) || {
      currency,
    }
  )
}

/** Money to a UMA address may arrive in a currency that the platform itself has never had. */
async function hasBooksIn({ database }: Core, worldId: string, currency: string): Promise<boolean> {
  const rows = await database.query('select 1 from ledger_account where id = $1', [
    systemAccount(worldId, 'CLEARING', currency).id,
  ])
  return rows.length > 0
}

function checkLookup(lookedUp: string | null | undefined, destination: Destination): void {
  if (!lookedUp || destination.type !== 'UMA_ADDRESS' || destination.umaAddress === lookedUp) return
  throw new DomainError('INVALID_INPUT', 'lookupId: it is of another receiver', { field: 'lookupId', value: lookedUp })
}

function requirePrice({ lockedCurrencySide, lockedCurrencyAmount }: Input, { source, destination, terms }: Loaded): Price {
  const [sending, receiving] = [currencyOf(source.currency), currencyOf(destination.currency)]
  if (!terms) {
    throw new DomainError('INVALID_CURRENCY', `There is no price for ${receiving.code} in ${sending.code}`, {
      field: 'destination.accountId',
      value: receiving.code,
    })
  }
  const price = priceOf({ sending, receiving, lockedCurrencySide, lockedCurrencyAmount }, terms)
  if (!price) {
    throw new DomainError('AMOUNT_OUT_OF_RANGE', 'The fees would take all of it: send more', {
      field: 'lockedCurrencyAmount',
      value: lockedCurrencyAmount,
    })
  }
  return price
}

function guardOf({ source, destination }: Loaded) {
  const external = [source, destination].flatMap((end) => (end.type === 'EXTERNAL_ACCOUNT' ? [end.account] : []))
  const owner = destination.type === 'INTERNAL_ACCOUNT' ? destination.owner : undefined
  const customers = [source.customer, owner].filter((one): one is CustomerRow => one !== undefined)
  return { external_account: external, customer: customers }
}

interface NewPayment {
  payment: Payment & { quote: QuoteRow }
  /** The destination, where it was given inline. */
  account: ExternalAccountRow | undefined
  /** Of a destination at another provider. */
  request: PayRequestRow | undefined
}

function newPayment(wanted: Input, { world, source, destination }: Loaded, price: Price, moment: Moment): NewPayment {
  const { now, newId, settings, rails } = moment
  const transactionId = newId()
  const account =
    destination.type === 'NEW_ACCOUNT'
      ? newExternalAccount(destination.details, world, destination.owner, moment, 'destination.externalAccountDetails.')
      : undefined
  const common = {
    worldId: world.id,
    customerId: source.customer?.id ?? null,
    ...sourceColumns(wanted, source, destination),
    ...destinationColumns(destination, account),
    exchangeRate: price.exchangeRate,
    rateDetails: price.rateDetails as unknown as QuoteRow['rateDetails'],
    description: wanted.description ?? null,
    remittanceInformation: wanted.remittanceInformation ?? null,
  }
  const transaction: TransactionRow = {
    ...newTransactionDefaults(now),
    ...begin('quote', now),
    ...common,
    id: transactionId,
    type: 'OUTGOING',
    platformCustomerId: source.customer?.platformCustomerId ?? null,
    quoteId: newId(),
    sourceCurrency: source.currency,
    destinationCurrency: destination.currency,
    sentAmount: price.totalSendingAmount,
    receivedAmount: price.totalReceivingAmount,
    fees: price.feesIncluded,
    counterpartyInformation: counterpartyInformation(wanted, destination),
  }
  const instructions = () => {
    const { worldId, reference, sourceCurrency: currency } = transaction
    const found = paymentInstructions(rails, { worldId, currency, reference, funds: 'quote' })
    if (found.length > 0) return found
    throw new DomainError('NOT_IMPLEMENTED', `No rail is configured here that takes in ${currency}`, {
      field: 'source.currency',
      currency,
    })
  }
  const quote: QuoteRow = {
    ...common,
    id: transaction.quoteId!,
    transactionId,
    status: 'PENDING',
    sendingCurrency: source.currency,
    receivingCurrency: destination.currency,
    lockedCurrencySide: wanted.lockedCurrencySide,
    totalSendingAmount: price.totalSendingAmount,
    totalReceivingAmount: price.totalReceivingAmount,
    feesIncluded: price.feesIncluded,
    paymentInstructions:
      source.type === 'REALTIME_FUNDING' ? (instructions() as unknown as QuoteRow['paymentInstructions']) : null,
    expiresAt: new Date(now.getTime() + settings.quoteLifetimeMs),
    executedAt: null,
    createdAt: now,
    updatedAt: now,
    version: 1,
  }
  const payer = { customer: source.customer, given: wanted.senderCustomerInfo }
  const request = destination.type === 'UMA_ADDRESS' ? newPayRequest(transaction, destination.receiver, payer, moment) : undefined
  return { payment: { quote, transaction }, account, request }
}

function sourceColumns(wanted: Input, source: Source, destination: Destination) {
  const byAddress = destination.type === 'UMA_ADDRESS' || wanted.source.umaAddress !== undefined
  return {
    sourceType: source.type,
    sourceAccountId: source.type === 'REALTIME_FUNDING' ? null : source.account.id,
    sourceUmaAddress: byAddress ? (source.customer?.umaAddress ?? null) : null,
  }
}

function destinationColumns(destination: Destination, account: ExternalAccountRow | undefined) {
  if (destination.type === 'UMA_ADDRESS') {
    return {
      destinationType: destination.type,
      destinationAccountId: null,
      destinationUmaAddress: destination.umaAddress,
    }
  }
  return {
    destinationType: destination.type === 'NEW_ACCOUNT' ? ('EXTERNAL_ACCOUNT' as const) : destination.type,
    destinationAccountId: destination.type === 'NEW_ACCOUNT' ? account!.id : destination.account.id,
    destinationUmaAddress: null,
  }
}

/** What is known of the other side: only of payments to UMA addresses. */
function counterpartyInformation({ destination: to }: Input, { type }: Destination): TransactionRow['counterpartyInformation'] {
  return type === 'UMA_ADDRESS' ? (to.counterpartyInformation ?? null) : null
}
