/**
 * The state machines of transactions and quotes, as data: every move there is, from where it may be made, what it makes of the quote, what
 * it may post, and whether it is told. Nothing changes a status but `movePayment`; the auditor reads the same table.
 */
import type { QuoteRow, TransactionRow } from '../../database/tables.ts'
import type { EntryKind } from '../../ledger/entry.ts'
import type { EventDraft } from '../commit.ts'
import { TornRead } from '../operation.ts'
import { paymentChanged } from './transaction.ts'

type TransactionStatus = TransactionRow['status']
type QuoteStatus = QuoteRow['status']

interface Move {
  /** Empty: the payment begins with it. */
  from: readonly TransactionStatus[]
  to: TransactionStatus
  /** What the quote is afterwards, where the payment has one. */
  quote?: QuoteStatus
  /** The entries that belong to it. REFUND is at once; RETURN follows when the rail has given the money back. */
  posts: readonly EntryKind[]
  /** Whether an OUTGOING_PAYMENT or INCOMING_PAYMENT event says so; of balances ACCOUNT_STATUS events always do. */
  told: 'always' | 'of quotes' | 'never'
}

const underWay = ['PENDING', 'PROCESSING', 'SENT'] as const

export const moves = {
  /** A quote is made. */
  quote: { from: [], to: 'PENDING', quote: 'PENDING', posts: [], told: 'never' },
  /** A transfer is made. */
  create: { from: [], to: 'CREATED', posts: [], told: 'never' },
  /** Money has arrived on an internal account. */
  credit: { from: [], to: 'COMPLETED', posts: ['FUNDING'], told: 'always' },
  /** Somebody pays by UMA; the platform is asked whether it may. */
  receive: { from: [], to: 'PENDING', posts: [], told: 'always' },
  /** A transfer-in asks the other bank for the money. */
  collect: { from: ['CREATED'], to: 'PENDING', posts: [], told: 'never' },
  /** An executed quote asks the other bank for the money. */
  execute: { from: ['PENDING'], to: 'PENDING', quote: 'PROCESSING', posts: [], told: 'always' },
  /** The money is here: debited, collected or deposited; or approved of, and on its way from the payer's provider. */
  fund: {
    from: ['CREATED', 'PENDING'],
    to: 'PROCESSING',
    quote: 'PROCESSING',
    posts: ['DEBIT', 'COLLECTION', 'DEPOSIT'],
    told: 'of quotes',
  },
  /** The rail has begun cross-border settlement. */
  send: { from: ['PROCESSING'], to: 'SENT', posts: [], told: 'always' },
  complete: {
    from: ['PROCESSING', 'SENT'],
    to: 'COMPLETED',
    quote: 'COMPLETED',
    posts: ['SETTLEMENT', 'PAYOUT'],
    told: 'always',
  },
  /** It did not happen: what there was of money goes back. A deposit of another amount than quoted comes and goes here. */
  fail: { from: underWay, to: 'FAILED', quote: 'FAILED', posts: ['DEPOSIT', 'REFUND', 'RETURN'], told: 'always' },
  /** The other bank or wallet refused it. */
  reject: { from: underWay, to: 'REJECTED', quote: 'FAILED', posts: ['REFUND', 'RETURN'], told: 'always' },
  /** It had been sent and came back. */
  refund: { from: ['PROCESSING', 'SENT'], to: 'REFUNDED', quote: 'FAILED', posts: ['REFUND', 'RETURN'], told: 'always' },
  /** Nobody executed or funded it in time. Money that comes later goes back. */
  expire: { from: ['PENDING'], to: 'EXPIRED', quote: 'EXPIRED', posts: ['DEPOSIT', 'REFUND', 'RETURN'], told: 'always' },
  /** Its platform gave it up before anything was paid: as if its time were over. Unlike an expired one it has no failureReason. */
  cancel: { from: ['PENDING'], to: 'EXPIRED', quote: 'EXPIRED', posts: ['DEPOSIT', 'REFUND', 'RETURN'], told: 'always' },
} as const satisfies Record<string, Move>

export type MoveName = keyof typeof moves

/**
 * What a quote may be while its transaction is in a state. PENDING and PROCESSING differ while money is being collected from an external
 * account: the quote has been executed, the money is not here yet.
 */
export const quoteStatusesBeside: Readonly<Record<TransactionStatus, readonly QuoteStatus[]>> = {
  CREATED: [],
  PENDING: ['PENDING', 'PROCESSING'],
  PROCESSING: ['PROCESSING'],
  SENT: ['PROCESSING'],
  COMPLETED: ['COMPLETED'],
  FAILED: ['FAILED'],
  REJECTED: ['FAILED'],
  REFUNDED: ['FAILED'],
  EXPIRED: ['EXPIRED'],
}

/** One status of a transaction's history. */
export interface Stage {
  status: TransactionStatus
  /** ISO 8601. */
  at: string
}

export function historyOf({ history }: TransactionRow): Stage[] {
  return history as unknown as Stage[]
}

/** The beginning of a history. */
export function begin(name: MoveName, now: Date): Pick<TransactionRow, 'status' | 'history'> {
  return { status: moves[name].to, history: [{ status: moves[name].to, at: now.toISOString() }] }
}

/** A transaction, with the quote it follows where there is one. */
export interface Payment {
  transaction: TransactionRow
  quote: QuoteRow | undefined
}

/** The payment after a move, with what else changes about the transaction. A move that is not allowed is a torn read, or a bug. */
export function movePayment(payment: Payment, name: MoveName, now: Date, change: Partial<TransactionRow> = {}): Payment {
  const { transaction, quote } = payment
  const move: Move = moves[name]
  if (!move.from.includes(transaction.status)) {
    throw new TornRead(`a payment that is ${transaction.status} cannot ${name}: ${transaction.id}`)
  }
  const stages = move.to === transaction.status ? [] : [{ status: move.to, at: now.toISOString() }]
  return {
    transaction: {
      ...transaction,
      ...change,
      status: move.to,
      history: [...historyOf(transaction), ...stages] as unknown as TransactionRow['history'],
      updatedAt: now,
    },
    quote: quote && move.quote && quote.status !== move.quote ? { ...quote, status: move.quote, updatedAt: now } : quote,
  }
}

/** The event of a move that is told. */
export function tell(name: MoveName, { transaction, quote }: Payment): EventDraft[] {
  const { told }: Move = moves[name]
  return told === 'always' || (told === 'of quotes' && quote) ? [paymentChanged(transaction)] : []
}

/** The changed rows of a payment, as a plan takes them. */
export function changed(before: Payment, after: Payment): { transaction: TransactionRow[]; quote: QuoteRow[] } {
  return {
    transaction: after.transaction === before.transaction ? [] : [after.transaction],
    quote: after.quote === undefined || after.quote === before.quote ? [] : [after.quote],
  }
}
