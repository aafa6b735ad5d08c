/** Balanced entries: what the accountant writes for each thing that happens to a payment. */
import { type Account, internalAccount, systemAccount } from './chart.ts'

/** One leg. Positive credits the account, negative debits it; smallest unit of the entry's currency. */
interface Posting {
  account: Account
  amount: bigint
}

export type EntryKind = 'FUNDING' | 'DEBIT' | 'SETTLEMENT' | 'PAYOUT' | 'REFUND'

/** One movement in one currency; its legs sum to zero. */
export interface Entry {
  kind: EntryKind
  currency: string
  postings: readonly Posting[]
}

/** Legs of zero are left out. Throws when the rest do not balance: that is a bug, and nothing is written. */
export function entry(kind: EntryKind, currency: string, legs: readonly (readonly [Account, bigint])[]): Entry {
  const postings = legs.filter(([, amount]) => amount !== 0n).map(([account, amount]) => ({ account, amount }))
  const sum = postings.reduce((total, { amount }) => total + amount, 0n)
  if (sum !== 0n) throw new Error(`${kind} in ${currency} is out of balance by ${sum}`)
  return { kind, currency, postings }
}

/** Money arrives from outside on an internal account. */
export function funding(worldId: string, currency: string, accountId: string, amount: bigint): Entry {
  return entry('FUNDING', currency, [
    [systemAccount(worldId, 'CLEARING', currency), -amount],
    [internalAccount(accountId), amount],
  ])
}

/** Money leaves a balance and is in flight until the payment is settled or refunded. */
export function debit(worldId: string, currency: string, accountId: string, amount: bigint): Entry {
  return entry('DEBIT', currency, [
    [internalAccount(accountId), -amount],
    [systemAccount(worldId, 'IN_FLIGHT', currency), amount],
  ])
}

/** Money in flight returns to the balance it came from, in full. */
export function refund(worldId: string, currency: string, accountId: string, amount: bigint): Entry {
  return entry('REFUND', currency, [
    [systemAccount(worldId, 'IN_FLIGHT', currency), -amount],
    [internalAccount(accountId), amount],
  ])
}

export interface Settlement {
  worldId: string
  sendingCurrency: string
  /** Everything that was in flight, fees included. */
  sent: bigint
  /** The service's part of it: fixed and variable fee, sending currency. */
  serviceFees: bigint
  receivingCurrency: string
  received: bigint
  /** What the counterparty keeps, receiving currency. */
  counterpartyFee: bigint
}

/**
 * A payment to the outside reached its end: two entries, one per currency, that meet in the FX position. Prices are rounded in the
 * position's favour, so what it takes in is worth at least what it gives.
 */
export function settlement(payment: Settlement): Entry[] {
  const { worldId, sendingCurrency, sent, serviceFees, receivingCurrency, received, counterpartyFee } = payment
  return [
    entry('SETTLEMENT', sendingCurrency, [
      [systemAccount(worldId, 'IN_FLIGHT', sendingCurrency), -sent],
      [systemAccount(worldId, 'FEES', sendingCurrency), serviceFees],
      [systemAccount(worldId, 'FX_POSITION', sendingCurrency), sent - serviceFees],
    ]),
    entry('PAYOUT', receivingCurrency, [
      [systemAccount(worldId, 'FX_POSITION', receivingCurrency), -(received + counterpartyFee)],
      [systemAccount(worldId, 'COUNTERPARTY_FEES', receivingCurrency), counterpartyFee],
      [systemAccount(worldId, 'CLEARING', receivingCurrency), received],
    ]),
  ]
}
