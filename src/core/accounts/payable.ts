/** What money calls ask of the accounts they are between. */
import type { Json } from '../../base/json.ts'
import { DomainError } from '../../base/refusal.ts'
import type { ExternalAccountRow } from '../../database/tables.ts'
import type { Rails } from '../../rails/port.ts'
import { supportOf, type World } from '../platform/world.ts'

/** Refuses INVALID_BANK_ACCOUNT: only ACTIVE accounts are paid or paid from. */
export function requireActive({ status }: ExternalAccountRow, field: string): void {
  if (status === 'ACTIVE') return
  throw new DomainError('INVALID_BANK_ACCOUNT', `${field}: the account is ${status}; only ACTIVE ones are used`, {
    field,
    status,
  })
}

/** Refuses NOT_IMPLEMENTED where nobody carries such a payment. `accountType`: an account's, or UMA_ADDRESS. */
export function requireSent(rails: Rails | undefined, currency: string, accountType: string, field: string): void {
  if (rails?.sends(currency, accountType)) return
  throw new DomainError('NOT_IMPLEMENTED', `No rail is configured here that pays ${currency} to ${accountType}`, {
    field,
    currency,
    accountType,
  })
}

/** Refuses INVALID_INPUT for an account that money cannot be pulled from; NOT_IMPLEMENTED where there is no rail at all. */
export function requirePullable(rails: Rails | undefined, { currency, accountType }: ExternalAccountRow): void {
  const field = 'source.accountId'
  if (!rails) {
    throw new DomainError('NOT_IMPLEMENTED', `No rail is configured here that collects ${currency}`, {
      field,
      currency,
      accountType,
    })
  }
  if (rails.pulls(currency, accountType)) return
  throw new DomainError(
    'INVALID_INPUT',
    `${field}: money cannot be pulled from a ${accountType}; push it with the payment instructions of an internal account`,
    { field, accountType },
  )
}

/** Refuses INVALID_CURRENCY and AMOUNT_OUT_OF_RANGE by the platform's configuration. Smallest unit of `currency`. */
export function requireInRange(
  world: World,
  type: 'INCOMING' | 'OUTGOING',
  currency: string,
  amount: bigint,
  fields: { currency: string; amount: string },
): void {
  const support = supportOf(world, currency)
  const verb = type === 'OUTGOING' ? 'sends' : 'takes in'
  if (!support?.enabledTransactionTypes.includes(type)) {
    throw new DomainError(
      'INVALID_CURRENCY',
      `The platform ${type === 'OUTGOING' ? 'does not send' : 'does not take in'} ${currency}`,
      {
        field: fields.currency,
        value: currency,
      },
    )
  }
  const { minAmount: min, maxAmount: max } = support
  if (amount >= BigInt(min) && amount <= BigInt(max)) return
  throw new DomainError(
    'AMOUNT_OUT_OF_RANGE',
    `The platform ${verb} ${min} to ${max} (smallest unit of ${currency}) at a time; this would be ${amount}`,
    { field: fields.amount, value: amount, min, max },
  )
}

export function accountNotFound(field: string, value: Json): DomainError {
  return new DomainError('ACCOUNT_NOT_FOUND', `${field}: there is no such account`, { field, value })
}
