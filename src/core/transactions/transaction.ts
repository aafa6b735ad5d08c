/** A transaction: a payment, incoming or outgoing, as the platform sees it. */
import { z } from 'zod'
import { currencyOf } from '../../base/currency.ts'
import { toId } from '../../base/ids.ts'
import { isoText } from '../../base/instant.ts'
import { randomCode } from '../../base/random.ts'
import { DomainError } from '../../base/refusal.ts'
import { coalesced } from '../../database/coalesce.ts'
import type { Queryable } from '../../database/port.ts'
import type { Sight } from '../../database/sight.ts'
import { byIdsInWorld, selectList, type TaskRow, type TransactionRow } from '../../database/tables.ts'
import { newTask } from '../../log/tasks.ts'
import type { EventDraft } from '../commit.ts'
import { Destination, Source, toDestination, toSource } from '../endpoint.ts'
import { int64, money } from '../input.ts'
import type { RateDetails } from '../quotes/pricing.ts'
import { rateDetails, toRateDetails } from '../quotes/quote.ts'
import { shapeOf } from '../shape.ts'

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

export const transactionShape = shapeOf<TransactionRow, Transaction>({
  id: [['id'], ({ id }) => toId('Transaction', id)],
  status: [['status'], ({ status }) => status],
  type: [['type'], ({ type }) => type],
  direction: [['type'], ({ type }) => directionOf(type)],
  source: [['sourceType', 'sourceAccountId', 'sourceUmaAddress', 'sourceCurrency'], (row) => toSource(row, row.sourceCurrency)],
  destination: [
    ['destinationType', 'destinationAccountId', 'destinationUmaAddress', 'destinationCurrency'],
    (row) => toDestination(row, row.destinationCurrency),
  ],
  customerId: [['customerId'], ({ customerId }) => (customerId === null ? undefined : toId('Customer', customerId))],
  platformCustomerId: [['platformCustomerId'], ({ platformCustomerId }) => platformCustomerId ?? undefined],
  sentAmount: [
    ['type', 'sentAmount', 'sourceCurrency'],
    ({ type, sentAmount: amount, sourceCurrency }) =>
      type === 'OUTGOING' ? { amount, currency: currencyOf(sourceCurrency) } : undefined,
  ],
  receivedAmount: [
    ['receivedAmount', 'destinationCurrency'],
    ({ receivedAmount: amount, destinationCurrency }) => ({ amount, currency: currencyOf(destinationCurrency) }),
  ],
  exchangeRate: [['exchangeRate'], ({ exchangeRate }) => (exchangeRate === null ? undefined : Number(exchangeRate))],
  fees: [['type', 'fees'], ({ type, fees }) => (type === 'OUTGOING' ? fees : undefined)],
  quoteId: [['quoteId'], ({ quoteId }) => (quoteId === null ? undefined : toId('Quote', quoteId))],
  settledAt: [['settledAt'], ({ settledAt }) => (settledAt === null ? undefined : isoText(settledAt))],
  createdAt: [['createdAt'], ({ createdAt }) => isoText(createdAt)],
  updatedAt: [['updatedAt'], ({ updatedAt }) => isoText(updatedAt)],
  description: [['description'], ({ description }) => description ?? undefined],
  remittanceInformation: [['remittanceInformation'], (row) => row.remittanceInformation ?? undefined],
  reconciliationInstructions: [
    ['status', 'reference'],
    ({ status, reference }) => (status === 'CREATED' ? undefined : { reference }),
  ],
  rateDetails: [
    ['rateDetails'],
    ({ rateDetails: stored }) => (stored === null ? undefined : toRateDetails(stored as unknown as RateDetails)),
  ],
  counterpartyInformation: [
    ['counterpartyInformation'],
    (row) => (row.counterpartyInformation as Record<string, string> | null) ?? undefined,
  ],
  senderUmaAddress: [['sourceUmaAddress'], ({ sourceUmaAddress }) => sourceUmaAddress ?? undefined],
  receiverUmaAddress: [['destinationUmaAddress'], ({ destinationUmaAddress }) => destinationUmaAddress ?? undefined],
  refund: [['refund'], ({ refund }) => (refund === null ? undefined : toRefund(refund as Refund))],
  failureReason: [['failureReason'], ({ failureReason }) => failureReason ?? undefined],
})

export function toTransaction(row: TransactionRow): Transaction {
  return transactionShape.whole(row)
}

function toRefund({ reference, initiatedAt, settledAt }: Refund): Refund {
  return { reference, initiatedAt, ...(settledAt === undefined ? {} : { settledAt }) }
}

export const transactionsById = coalesced<TransactionRow>(
  (database, worldId, ids) =>
    database.query(`select ${selectList('transaction', 't')} from transaction t where ${byIdsInWorld('t')}`, [worldId, ids]),
  ({ customerId }) => customerId,
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
export async function requireTransaction(database: Queryable, sight: Sight, id: string): Promise<TransactionRow> {
  const [row] = await transactionsById(database, sight, [id])
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
