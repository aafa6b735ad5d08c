/** A quote: a locked rate with its fees and, once executed, the payment that follows it. */
import { z } from 'zod'
import { currencyOf } from '../../base/currency.ts'
import { toId } from '../../base/ids.ts'
import { isoText } from '../../base/instant.ts'
import { DomainError } from '../../base/refusal.ts'
import { coalesced } from '../../database/coalesce.ts'
import type { Queryable } from '../../database/port.ts'
import type { Sight } from '../../database/sight.ts'
import { byIdsInWorld, type QuoteRow, selectList } from '../../database/tables.ts'
import { PaymentInstruction } from '../accounts/funding-instructions.ts'
import { Destination, Source, toDestination, toSource } from '../endpoint.ts'
import { currencyObject, int64 } from '../input.ts'
import { shapeOf } from '../shape.ts'
import type { RateDetails } from './pricing.ts'

export const quoteStatuses = ['PENDING', 'PROCESSING', 'COMPLETED', 'FAILED', 'EXPIRED'] as const

export const rateDetails = z.object({
  counterpartyMultiplier: z.number(),
  counterpartyFixedFee: int64,
  serviceApiMultiplier: z.number(),
  serviceApiFixedFee: int64,
  serviceApiVariableFeeRate: z.number(),
  serviceApiVariableFeeAmount: int64,
})

export const Quote = z.object({
  id: z.string(),
  status: z.enum(quoteStatuses),
  createdAt: z.string(),
  expiresAt: z.string(),
  executedAt: z.string().optional(),
  source: Source.extend({ customerId: z.string().optional() }),
  destination: Destination,
  sendingCurrency: currencyObject,
  receivingCurrency: currencyObject,
  lockedCurrencySide: z.enum(['SENDING', 'RECEIVING']),
  totalSendingAmount: int64,
  totalReceivingAmount: int64,
  exchangeRate: z.number(),
  feesIncluded: int64,
  transactionId: z.string(),
  paymentInstructions: z.array(PaymentInstruction).optional(),
  rateDetails,
  description: z.string().optional(),
  remittanceInformation: z.string().optional(),
})

export type Quote = z.output<typeof Quote>

export const quoteShape = shapeOf<QuoteRow, Quote>({
  id: [['id'], ({ id }) => toId('Quote', id)],
  status: [['status'], ({ status }) => status],
  createdAt: [['createdAt'], ({ createdAt }) => isoText(createdAt)],
  expiresAt: [['expiresAt'], ({ expiresAt }) => isoText(expiresAt)],
  executedAt: [['executedAt'], ({ executedAt }) => (executedAt === null ? undefined : isoText(executedAt))],
  source: [
    ['sourceType', 'sourceAccountId', 'sourceUmaAddress', 'sendingCurrency', 'customerId'],
    (row) => ({
      ...toSource(row, row.sendingCurrency),
      ...(row.customerId === null ? {} : { customerId: toId('Customer', row.customerId) }),
    }),
  ],
  destination: [
    ['destinationType', 'destinationAccountId', 'destinationUmaAddress', 'receivingCurrency'],
    (row) => toDestination(row, row.receivingCurrency),
  ],
  sendingCurrency: [['sendingCurrency'], ({ sendingCurrency }) => currencyOf(sendingCurrency)],
  receivingCurrency: [['receivingCurrency'], ({ receivingCurrency }) => currencyOf(receivingCurrency)],
  lockedCurrencySide: [['lockedCurrencySide'], ({ lockedCurrencySide }) => lockedCurrencySide],
  totalSendingAmount: [['totalSendingAmount'], ({ totalSendingAmount }) => totalSendingAmount],
  totalReceivingAmount: [['totalReceivingAmount'], ({ totalReceivingAmount }) => totalReceivingAmount],
  exchangeRate: [['exchangeRate'], ({ exchangeRate }) => Number(exchangeRate)],
  feesIncluded: [['feesIncluded'], ({ feesIncluded }) => feesIncluded],
  transactionId: [['transactionId'], ({ transactionId }) => toId('Transaction', transactionId)],
  paymentInstructions: [
    ['paymentInstructions'],
    (row) => (row.paymentInstructions as unknown as PaymentInstruction[] | null) ?? undefined,
  ],
  rateDetails: [['rateDetails'], (row) => toRateDetails(row.rateDetails as unknown as RateDetails)],
  description: [['description'], ({ description }) => description ?? undefined],
  remittanceInformation: [['remittanceInformation'], (row) => row.remittanceInformation ?? undefined],
})

export function toQuote(row: QuoteRow): Quote {
  return quoteShape.whole(row)
}

/** Stored as JSON, whose small integers are read as numbers. */
export function toRateDetails(stored: RateDetails): RateDetails {
  return {
    counterpartyMultiplier: stored.counterpartyMultiplier,
    counterpartyFixedFee: BigInt(stored.counterpartyFixedFee),
    serviceApiMultiplier: stored.serviceApiMultiplier,
    serviceApiFixedFee: BigInt(stored.serviceApiFixedFee),
    serviceApiVariableFeeRate: stored.serviceApiVariableFeeRate,
    serviceApiVariableFeeAmount: BigInt(stored.serviceApiVariableFeeAmount),
  }
}

export const quotesById = coalesced<QuoteRow>(
  (database, worldId, ids) =>
    database.query(`select ${selectList('quote', 't')} from quote t where ${byIdsInWorld('t')}`, [worldId, ids]),
  ({ customerId }) => customerId,
)

/** Refuses QUOTE_NOT_FOUND. */
export async function requireQuote(database: Queryable, sight: Sight, id: string): Promise<QuoteRow> {
  const [row] = await quotesById(database, sight, [id])
  if (!row) throw new DomainError('QUOTE_NOT_FOUND', 'There is no such quote', { field: 'quoteId' })
  return row
}
