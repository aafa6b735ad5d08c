/** A new quote from an internal account to an external one: the rate, the fees and both amounts, locked for a few minutes. */
import { z } from 'zod'
import { currencyOf } from '../../base/currency.ts'
import { toId } from '../../base/ids.ts'
import { randomCode } from '../../base/random.ts'
import { DomainError } from '../../base/refusal.ts'
import type { CustomerRow, ExternalAccountRow, InternalAccountRow, QuoteRow, TransactionRow } from '../../database/tables.ts'
import type { Terms } from '../../rails/port.ts'
import { externalAccountsById } from '../accounts/external.ts'
import { internalAccountsById } from '../accounts/internal.ts'
import { accountNotFound, requirePayable } from '../accounts/payable.ts'
import { customersById, requireReady } from '../customers/customer.ts'
import { accountReference, amountUpTo, currencyCode, idOf, text } from '../input.ts'
import { type Caller, type Core, type Moment, operation } from '../operation.ts'
import { supportOf, type World } from '../platform/world.ts'
import { execution } from './execute-quote.ts'
import { type Price, priceOf } from './pricing.ts'
import { Quote, toQuote } from './quote.ts'

const source = z
  .object({
    sourceType: z.enum(['ACCOUNT', 'REALTIME_FUNDING']).optional(),
    accountId: accountReference.optional(),
    customerId: idOf('Customer').optional(),
    currency: currencyCode.optional(),
  })
  // The discriminator may be left out; reading it the same either way keeps idempotency keys the same too.
  .transform((end) => ({ ...end, sourceType: end.sourceType ?? (end.accountId ? 'ACCOUNT' : 'REALTIME_FUNDING') }))

const destination = z
  .object({
    destinationType: z.enum(['ACCOUNT', 'UMA_ADDRESS', 'EXTERNAL_ACCOUNT_DETAILS']).optional(),
    accountId: accountReference.optional(),
    umaAddress: z.string().max(400).optional(),
    externalAccountDetails: z.unknown().optional(),
    currency: currencyCode.optional(),
  })
  .transform((end) => ({ ...end, destinationType: end.destinationType ?? inferDestination(end) }))

function inferDestination({ umaAddress, externalAccountDetails }: { umaAddress?: unknown; externalAccountDetails?: unknown }) {
  if (umaAddress !== undefined) return 'UMA_ADDRESS'
  return externalAccountDetails === undefined ? 'ACCOUNT' : 'EXTERNAL_ACCOUNT_DETAILS'
}

const input = z.object({
  source,
  destination,
  lockedCurrencySide: z.enum(['SENDING', 'RECEIVING']),
  lockedCurrencyAmount: amountUpTo(),
  immediatelyExecute: z.boolean().default(false),
  description: text(500).optional(),
})

type Input = z.output<typeof input>

interface Loaded {
  world: World
  source: InternalAccountRow
  customer: CustomerRow | undefined
  destination: ExternalAccountRow
  terms: Terms | undefined
}

/**
 * Refuses ACCOUNT_NOT_FOUND, INVALID_CURRENCY (same or other currency than the accounts', no price, not supported), INVALID_BANK_ACCOUNT
 * (destination not ACTIVE), USER_NOT_READY, AMOUNT_OUT_OF_RANGE. The balance is looked at when the quote is executed, not before; with
 * immediatelyExecute that is now (INSUFFICIENT_BALANCE). NOT_IMPLEMENTED for the forms this version does not carry yet.
 */
export const createQuote = operation({
  name: 'createQuote',
  permission: 'TRANSACT',
  input,
  output: Quote,
  load,
  decide(wanted, loaded, moment) {
    const { world, source, customer, destination } = loaded
    checkEnds(wanted, loaded)
    const price = requirePrice(wanted, loaded)
    requireInRange(world, source.currency, price.totalSendingAmount)
    const { quote, transaction } = newPayment(wanted, loaded, price, moment)
    const guard = { external_account: [destination], ...(customer ? { customer: [customer] } : {}) }
    if (!wanted.immediatelyExecute) {
      return {
        reply: toQuote(quote),
        guard,
        insert: {
          quote: [quote],
          transaction: [transaction],
          task: [
            { id: quote.id, worldId: world.id, kind: 'expire-quote', subjectId: quote.id, dueAt: quote.expiresAt, attempts: 0 },
          ],
        },
      }
    }
    const executed = execution(quote, transaction, moment.now)
    return {
      reply: toQuote(executed.quote),
      guard,
      insert: { quote: [executed.quote], transaction: [executed.transaction], task: [executed.task] },
      entries: executed.entries,
      events: executed.events,
    }
  },
})

async function load({ database, worlds, rates, railOf }: Core, { worldId, environment }: Caller, wanted: Input): Promise<Loaded> {
  if (!railOf(environment))
    throw new DomainError('NOT_IMPLEMENTED', 'No rail is configured that carries payments out of this environment')
  const { sourceId, destinationId } = requireSupportedForm(wanted)
  const [world, [source], [destination]] = await Promise.all([
    worlds.get(worldId),
    internalAccountsById(database, worldId, [sourceId]),
    externalAccountsById(database, worldId, [destinationId]),
  ])
  if (!source) throw accountNotFound('source.accountId', toId('InternalAccount', sourceId))
  if (!destination) throw accountNotFound('destination.accountId', toId('ExternalAccount', destinationId))
  const [terms, customers] = await Promise.all([
    rates.terms(source.currency, destination.currency),
    source.customerId === null ? [] : customersById(database, worldId, [source.customerId]),
  ])
  return { world: world!, source, destination, terms, customer: customers[0] }
}

/** Of the specification's forms, the one this version carries: from an internal to an external account. */
function requireSupportedForm({ source: from, destination: to }: Input): { sourceId: string; destinationId: string } {
  if (from.sourceType === 'REALTIME_FUNDING') {
    throw from.currency === undefined ? missing('source.accountId') : notYet('source', 'Quotes funded just in time')
  }
  if (to.destinationType === 'UMA_ADDRESS') throw notYet('destination', 'Quotes to UMA addresses')
  if (to.destinationType === 'EXTERNAL_ACCOUNT_DETAILS') throw notYet('destination', 'Quotes with inline account details')
  if (!from.accountId) throw missing('source.accountId')
  if (!to.accountId) throw missing('destination.accountId')
  if (from.accountId.kind === 'ExternalAccount') throw notYet('source.accountId', 'Quotes from external accounts')
  if (to.accountId.kind === 'InternalAccount') throw notYet('destination.accountId', 'Quotes to internal accounts')
  return { sourceId: from.accountId.id, destinationId: to.accountId.id }
}

function missing(field: string): DomainError {
  return new DomainError('INVALID_INPUT', `${field}: expected an account id`, { field })
}

function notYet(field: string, what: string): DomainError {
  return new DomainError('NOT_IMPLEMENTED', `${what} are not supported yet`, { field })
}

function checkEnds(wanted: Input, { source, customer, destination }: Loaded): void {
  if (customer) requireReady(customer)
  if (wanted.source.customerId !== undefined && wanted.source.customerId !== source.customerId) {
    throw new DomainError('INVALID_INPUT', 'source.customerId: the account belongs to somebody else', {
      field: 'source.customerId',
    })
  }
  requirePayable(destination)
  requireCurrency('source.currency', wanted.source.currency, source.currency)
  requireCurrency('destination.currency', wanted.destination.currency, destination.currency)
  if (source.currency === destination.currency) {
    throw new DomainError('INVALID_CURRENCY', 'Both accounts are in the same currency: use a transfer instead of a quote', {
      field: 'destination.accountId',
      value: destination.currency,
    })
  }
}

function requireCurrency(field: string, wanted: string | undefined, actual: string): void {
  if (wanted === undefined || wanted === actual) return
  throw new DomainError('INVALID_CURRENCY', `${field}: the account is in ${actual}`, { field, value: wanted })
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

function requireInRange(world: World, currency: string, amount: bigint): void {
  const support = supportOf(world, currency)
  if (!support?.enabledTransactionTypes.includes('OUTGOING')) {
    throw new DomainError('INVALID_CURRENCY', `The platform does not send ${currency}`, {
      field: 'source.accountId',
      value: currency,
    })
  }
  if (amount >= BigInt(support.minAmount) && amount <= BigInt(support.maxAmount)) return
  throw new DomainError(
    'AMOUNT_OUT_OF_RANGE',
    `The platform sends ${support.minAmount} to ${support.maxAmount} (smallest unit of ${currency}) at a time; this would be ${amount}`,
    { field: 'lockedCurrencyAmount', totalSendingAmount: amount, min: support.minAmount, max: support.maxAmount },
  )
}

function newPayment(
  wanted: Input,
  { world, source, customer, destination }: Loaded,
  price: Price,
  { now, newId, settings }: Moment,
): { quote: QuoteRow; transaction: TransactionRow } {
  const transactionId = newId()
  const ends = {
    sourceType: 'INTERNAL_ACCOUNT',
    sourceAccountId: source.id,
    sourceUmaAddress: null,
    destinationType: 'EXTERNAL_ACCOUNT',
    destinationAccountId: destination.id,
    destinationUmaAddress: null,
  } as const
  const common = {
    worldId: world.id,
    customerId: customer?.id ?? null,
    ...ends,
    exchangeRate: price.exchangeRate,
    rateDetails: price.rateDetails as unknown as QuoteRow['rateDetails'],
    description: wanted.description ?? null,
    createdAt: now,
    updatedAt: now,
    version: 1,
  }
  const quote: QuoteRow = {
    ...common,
    id: newId(),
    transactionId,
    status: 'PENDING',
    sendingCurrency: source.currency,
    receivingCurrency: destination.currency,
    lockedCurrencySide: wanted.lockedCurrencySide,
    totalSendingAmount: price.totalSendingAmount,
    totalReceivingAmount: price.totalReceivingAmount,
    feesIncluded: price.feesIncluded,
    paymentInstructions: null,
    expiresAt: new Date(now.getTime() + settings.quoteLifetimeMs),
    executedAt: null,
  }
  const transaction: TransactionRow = {
    ...common,
    id: transactionId,
    type: 'OUTGOING',
    status: 'PENDING',
    platformCustomerId: customer?.platformCustomerId ?? null,
    quoteId: quote.id,
    sourceCurrency: source.currency,
    destinationCurrency: destination.currency,
    sentAmount: price.totalSendingAmount,
    receivedAmount: price.totalReceivingAmount,
    fees: price.feesIncluded,
    reference: `REF-${randomCode(16)}`,
    counterpartyInformation: null,
    failureReason: null,
    refund: null,
    settledAt: null,
  }
  return { quote, transaction }
}
