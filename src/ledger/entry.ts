/** Balanced entries: what the accountant writes for each thing that happens to a payment. */
import { type Account, internalAccount, systemAccount } from './chart.ts'

/** One leg. Positive credits the account, negative debits it; smallest unit of the entry's currency. */
interface Posting {
  account: Account
  amount: bigint
}

export const entryKinds = {
  /** From outside onto an internal account. */
  FUNDING: 'Money arrived on an internal account.',
  /** From an internal account into flight. */
  DEBIT: 'The payment was taken from a balance.',
  /** Pulled from an external account into flight. */
  COLLECTION: 'The payment was collected from an external account.',
  /** Pushed by the payer into flight. */
  DEPOSIT: 'The payer pushed the money.',
  SETTLEMENT: 'What was in flight was settled.',
  PAYOUT: 'The receiver was paid.',
  /** From flight back onto an internal account. */
  REFUND: 'The money went back to a balance.',
  /** From flight back to the outside. */
  RETURN: 'The money went back to where it came from.',
} as const

export type EntryKind = keyof typeof entryKinds

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

/** Where a payment's money is outside of flight: a balance, or the world beyond the rails. */
export function endOfFlight(worldId: string, currency: string, internalAccountId: string | null): Account {
  return internalAccountId === null ? systemAccount(worldId, 'CLEARING', currency) : internalAccount(internalAccountId)
}

/** A payment's money goes into flight, and stays there until the payment is settled or given back. */
export function intoFlight(
  kind: 'DEBIT' | 'COLLECTION' | 'DEPOSIT',
  worldId: string,
  currency: string,
  from: Account,
  amount: bigint,
): Entry {
  return entry(kind, currency, [
    [from, -amount],
    [systemAccount(worldId, 'IN_FLIGHT', currency), amount],
  ])
}

/** Money in flight that reached nobody goes to `to`, in full. */
export function outOfFlight(kind: 'REFUND' | 'RETURN', worldId: string, currency: string, to: Account, amount: bigint): Entry {
  return entry(kind, currency, [
    [systemAccount(worldId, 'IN_FLIGHT', currency), -amount],
    [to, amount],
  ])
}

/** The end of a payment that was not priced: the same amount of the same currency arrives. */
export function delivery(worldId: string, currency: string, to: Account, amount: bigint): Entry {
  return entry('SETTLEMENT', currency, [
    [systemAccount(worldId, 'IN_FLIGHT', currency), -amount],
    [to, amount],
  ])
}

export interface Exchange {
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
  /** Where it arrives. */
  to: Account
}

/**
 * The end of a priced payment: two entries, one per currency, that meet in the FX position. Prices are rounded in the position's favour,
 * so what it takes in is worth at least what it gives.
 */
export function exchange(payment: Exchange): Entry[] {
  const { worldId, sendingCurrency, sent, serviceFees, receivingCurrency, received, counterpartyFee, to } = payment
  return [
    entry('SETTLEMENT', sendingCurrency, [
      [systemAccount(worldId, 'IN_FLIGHT', sendingCurrency), -sent],
      [systemAccount(worldId, 'FEES', sendingCurrency), serviceFees],
      [systemAccount(worldId, 'FX_POSITION', sendingCurrency), sent - serviceFees],
    ]),
    entry('PAYOUT', receivingCurrency, [
      [systemAccount(worldId, 'FX_POSITION', receivingCurrency), -(received + counterpartyFee)],
      [systemAccount(worldId, 'COUNTERPARTY_FEES', receivingCurrency), counterpartyFee],
      [to, received],
    ]),
  ]
}
