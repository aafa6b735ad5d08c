/** What can be said against a quote: about its two ends, and about its amounts. */
import { DomainError } from '../../base/refusal.ts'
import { requireActive, requireInRange, requirePullable, requireSent } from '../accounts/payable.ts'
import { requireReady } from '../customers/customer.ts'
import { knownPersonData, requirePayerData } from '../customers/person-data.ts'
import { requireProviderFields } from '../customers/provider-fields.ts'
import type { Moment } from '../operation.ts'
import type { World } from '../platform/world.ts'
import type { Destination, DestinationInput, Source, SourceInput } from './ends.ts'
import type { Price } from './pricing.ts'

/** What the client asked for, as far as the checks look at it. */
interface Wanted {
  source: SourceInput
  destination: DestinationInput
  immediatelyExecute: boolean
  senderCustomerInfo?: Readonly<Record<string, string>> | undefined
}

interface Ends {
  source: Source
  destination: Destination
}

/** Everything that can be said against the two ends before anything is priced. */
export function checkEnds(wanted: Wanted, { world, source, destination }: Ends & { world: World }, { rails }: Moment): void {
  checkSource(wanted, source)
  checkDestination(wanted, destination)
  if (source.customer) requireProviderFields(world, source.currency, source.customer, rails, 'source.accountId')
  const owner = destination.type === 'INTERNAL_ACCOUNT' ? destination.owner : undefined
  if (owner) requireProviderFields(world, destination.currency, owner, rails, 'destination.accountId')
  requireDifferentEnds(source, destination)
  requireCarried(source, destination, rails)
  if (destination.type === 'UMA_ADDRESS') {
    requirePayerData(destination.receiver.payerFields, knownPersonData(source.customer, wanted.senderCustomerInfo))
  }
}

function checkSource(wanted: Wanted, source: Source): void {
  const { customer } = source
  if (customer) requireReady(customer)
  if (wanted.source.customerId !== undefined && wanted.source.customerId !== customer?.id) {
    throw new DomainError('INVALID_INPUT', 'source.customerId: the account belongs to somebody else', {
      field: 'source.customerId',
    })
  }
  if (source.type === 'EXTERNAL_ACCOUNT') requireActive(source.account, 'source.accountId')
  if (source.type === 'REALTIME_FUNDING' && wanted.immediatelyExecute) {
    throw new DomainError('INVALID_INPUT', 'immediatelyExecute: the payment begins by itself when the money has been pushed', {
      field: 'immediatelyExecute',
      value: true,
    })
  }
  requireCurrency('source.currency', wanted.source.currency, source.currency)
}

function checkDestination(wanted: Wanted, destination: Destination): void {
  requireCurrency('destination.currency', wanted.destination.currency, destination.currency)
  switch (destination.type) {
    case 'EXTERNAL_ACCOUNT':
      requireActive(destination.account, 'destination.accountId')
      return
    case 'INTERNAL_ACCOUNT':
      if (destination.owner) requireReady(destination.owner)
      return
    case 'NEW_ACCOUNT':
      return
    case 'UMA_ADDRESS': {
      const { receiver, currency } = destination
      if (receiver.currencies.some((one) => one.currency === currency)) return
      throw new DomainError('INVALID_RECEIVER', `The receiver does not take ${currency}`, {
        field: 'destination.currency',
        value: currency,
      })
    }
  }
}

function requireCurrency(field: string, wanted: string | undefined, actual: string): void {
  if (wanted === undefined || wanted === actual) return
  throw new DomainError('INVALID_CURRENCY', `${field}: the account is in ${actual}`, { field, value: wanted })
}

function requireDifferentEnds(source: Source, destination: Destination): void {
  const from = source.type === 'REALTIME_FUNDING' ? undefined : source.account.id
  const to =
    destination.type === 'INTERNAL_ACCOUNT' || destination.type === 'EXTERNAL_ACCOUNT' ? destination.account.id : undefined
  const ownAddress = destination.type === 'UMA_ADDRESS' && destination.umaAddress === source.customer?.umaAddress
  if ((from !== undefined && from === to) || ownAddress) {
    const field = ownAddress ? 'destination.umaAddress' : 'destination.accountId'
    throw new DomainError('SELF_PAYMENT', 'Source and destination are the same', { field })
  }
  // Money that is pushed, or goes to a UMA address, needs a quote also where nothing is exchanged.
  const transferDoes = source.type !== 'REALTIME_FUNDING' && destination.type !== 'UMA_ADDRESS'
  if (transferDoes && source.currency === destination.currency) {
    throw new DomainError('INVALID_CURRENCY', 'Both accounts are in the same currency: use a transfer instead of a quote', {
      field: 'destination.accountId',
      value: destination.currency,
    })
  }
}

/** Refuses NOT_IMPLEMENTED where nobody carries it: a rail brings the money in, or takes it out. */
function requireCarried(source: Source, destination: Destination, rails: Moment['rails']): void {
  if (source.type === 'EXTERNAL_ACCOUNT') requirePullable(rails, source.account)
  switch (destination.type) {
    case 'EXTERNAL_ACCOUNT':
      requireSent(rails, destination.currency, destination.account.accountType, 'destination.accountId')
      return
    case 'NEW_ACCOUNT': {
      const { accountType } = destination.details.accountInfo
      requireSent(rails, destination.currency, accountType, 'destination.externalAccountDetails')
      return
    }
    case 'UMA_ADDRESS':
      requireSent(rails, destination.currency, 'UMA_ADDRESS', 'destination.umaAddress')
      return
    case 'INTERNAL_ACCOUNT':
      return
  }
}

/** Refuses AMOUNT_OUT_OF_RANGE by the platform's limits and by the receiver's; INVALID_CURRENCY for one the platform does not send. */
export function checkAmounts({ world, source, destination }: Ends & { world: World }, price: Price): void {
  const field = source.type === 'REALTIME_FUNDING' ? 'source.currency' : 'source.accountId'
  requireInRange(world, 'OUTGOING', source.currency, price.totalSendingAmount, {
    currency: field,
    amount: 'lockedCurrencyAmount',
  })
  if (destination.type !== 'UMA_ADDRESS') return
  const { min, max } = destination.receiver.currencies.find(({ currency }) => currency === destination.currency)!
  const received = price.totalReceivingAmount
  if (received >= min && received <= max) return
  throw new DomainError('AMOUNT_OUT_OF_RANGE', `The receiver takes ${min} to ${max}; this would be ${received}`, {
    field: 'lockedCurrencyAmount',
    value: received,
    min,
    max,
  })
}
