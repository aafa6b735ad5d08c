/** A transaction: a payment, incoming or outgoing, as the platform sees it. */
import { z } from 'zod'
import { currencyOf } from '../../base/currency.ts'
import { toId } from '../../base/ids.ts'
import { randomCode } from '../../base/random.ts'
import { DomainError } from '../../base/refusal.ts'
import { coalesced } from '../../database/coalesce.ts'
import type { Queryable } from '../../database/port.ts'
import { byIdsInWorld, selectList, type TaskRow, type TransactionRow } from '../../database/tables.ts'
import { newTask } from '../../log/tasks.ts'
import type { EventDraft } from '../commit.ts'
import { Destination, Source, toDestination, toSource } from '../endpoint.ts'
import { int64, money } from '../input.ts'
import type { RateDetails } from '../quotes/pricing.ts'
import { rateDetails, toRateDetails } from '../quotes/quote.ts'

export const transactionStatuses = [
  'CREATED',
  'PENDING',
  'PROCESSING',
  'SENT',
  'COMPLETED',
  'REJECTED',
  'FAILED',
  'REFUNDED',
  'EXPIRED',
] as const

export const transactionTypes = ['INCOMING', 'OUTGOING'] as const

/** What a payment does to the platform's side: CREDIT comes in, DEBIT goes out. */
export const directions = ['CREDIT', 'DEBIT'] as const

export function directionOf(type: (typeof transactionTypes)[number]): (typeof directions)[number] {
  return type === 'OUTGOING' ? 'DEBIT' : 'CREDIT'
}

const Refund = z.object({ reference: z.string(), initiatedAt: z.string(), settledAt: z.string().optional() })

export type Refund = z.output<typeof Refund>

export const Transaction = z.object({
  id: z.string(),
  status: z.enum(transactionStatuses),
  type: z.enum(transactionTypes),
  direction: z.enum(directions).optional(),
  source: Source,
  destination: Destination,
  customerId: z.string().optional(),
  platformCustomerId: z.string().optional(),
  sentAmount: money.optional(),
  receivedAmount: money,
  exchangeRate: z.number().optional(),
  fees: int64.optional(),
  quoteId: z.string().optional(),
  settledAt: z.string().optional(),
  createdAt: z.string(),
  updatedAt: z.string(),
  description: z.string().optional(),
  remittanceInformation: z.string().optional(),
  reconciliationInstructions: z.object({ reference: z.string() }).optional(),
  rateDetails: rateDetails.partial().optional(),
  counterpartyInformation: z.record(z.string(), z.string()).optional(),
  senderUmaAddress: z.string().optional(),
  receiverUmaAddress: z.string().optional(),
  refund: Refund.optional(),
  failureReason: z.string().optional(),
})

export type Transaction = z.output<typeof Transaction>

export function toTransaction(row: TransactionRow): Transaction {
  const outgoing = row.type === 'OUTGOING'
  return {
    id: toId('Transaction', row.id),
    status: row.status,
    type: row.type,
    direction: directionOf(row.type),
    source: toSource(row, row.sourceCurrency),
    destination: toDestination(row, row.destinationCurrency),
    ...(row.customerId === null ? {} : { customerId: toId('Customer', row.customerId) }),
    ...(row.platformCustomerId === null ? {} : { platformCustomerId: row.platformCustomerId }),
    ...(outgoing ? { sentAmount: { amount: row.sentAmount, currency: currencyOf(row.sourceCurrency) } } : {}),
    receivedAmount: { amount: row.receivedAmount, currency: currencyOf(row.destinationCurrency) },
    ...(row.exchangeRate === null ? {} : { exchangeRate: Number(row.exchangeRate) }),
    ...(outgoing ? { fees: row.fees } : {}),
    ...(row.quoteId === null ? {} : { quoteId: toId('Quote', row.quoteId) }),
    ...(row.settledAt === null ? {} : { settledAt: row.settledAt.toISOString() }),
    createdAt: row.createdAt.toISOString(),
    updatedAt: row.updatedAt.toISOString(),
    ...(row.description === null ? {} : { description: row.description }),
    ...(row.remittanceInformation === null ? {} : { remittanceInformation: row.remittanceInformation }),
    ...(row.status === 'CREATED' ? {} : { reconciliationInstructions: { reference: row.reference } }),
    ...(row.rateDetails === null ? {} : { rateDetails: toRateDetails(row.rateDetails as unknown as RateDetails) }),
    ...(row.counterpartyInformation === null
      ? {}
      : { counterpartyInformation: row.counterpartyInformation as Record<string, string> }),
    ...(row.sourceUmaAddress === null ? {} : { senderUmaAddress: row.sourceUmaAddress }),
    ...(row.destinationUmaAddress === null ? {} : { receiverUmaAddress: row.destinationUmaAddress }),
    ...(row.refund === null ? {} : { refund: toRefund(row.refund as Refund) }),
    ...(row.failureReason === null ? {} : { failureReason: row.failureReason }),
  }
}

function toRefund({ reference, initiatedAt, settledAt }: Refund): Refund {
  return { reference, initiatedAt, ...(settledAt === undefined ? {} : { settledAt }) }
}

export const transactionsById = coalesced<TransactionRow>((database, worldId, ids) =>
  database.query(`select ${selectList('transaction', 't')} from transaction t where ${byIdsInWorld('t')}`, [worldId, ids]),
)

/** What a new transaction has besides its ends and amounts. */
export function newTransactionDefaults(now: Date) {
  return {
    quoteId: null,
    exchangeRate: null,
    fees: 0n,
    rateDetails: null,
    description: null,
    remittanceInformation: null,
    reference: `REF-${randomCode(16)}`,
    counterpartyInformation: null,
    failureReason: null,
    refund: null,
    settledAt: null,
    createdAt: now,
    updatedAt: now,
    version: 1,
  } satisfies Partial<TransactionRow>
}

/** Refuses TRANSACTION_NOT_FOUND. */
export async function requireTransaction(database: Queryable, worldId: string, id: string): Promise<TransactionRow> {
  const [row] = await transactionsById(database, worldId, [id])
  if (!row) throw new DomainError('TRANSACTION_NOT_FOUND', 'There is no such transaction', { field: 'transactionId' })
  return row
}

/** OUTGOING_PAYMENT or INCOMING_PAYMENT: the transaction as it now is. */
export function paymentChanged(row: TransactionRow): EventDraft {
  return {
    worldId: row.worldId,
    type: row.type === 'OUTGOING' ? 'OUTGOING_PAYMENT' : 'INCOMING_PAYMENT',
    resourceId: toId('Transaction', row.id),
    customerId: row.customerId,
    transactionId: row.id,
    payload: { transaction: toTransaction(row) },
  }
}

/** The work a payment leaves behind: hand its next leg to the rail. */
export function payTask({ id, worldId }: TransactionRow): TaskRow {
  return newTask('pay', worldId, id)
}
