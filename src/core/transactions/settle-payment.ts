/**
 * The end of an outgoing payment: its rail has said how it went. Told twice, or late, it changes nothing twice: only a transaction that is
 * PROCESSING is moved.
 */
import { z } from 'zod'
import type { QuoteRow, TransactionRow } from '../../database/tables.ts'
import { refund, settlement } from '../../ledger/entry.ts'
import type { Plan } from '../commit.ts'
import { operation } from '../operation.ts'
import { sourceBalanceChanged } from '../quotes/execute-quote.ts'
import type { RateDetails } from '../quotes/pricing.ts'
import { quotesById, toRateDetails } from '../quotes/quote.ts'
import { paymentChanged, type Refund, transactionsById } from './transaction.ts'

const outcome = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('paid') }),
  z.object({ kind: z.literal('failed'), reason: z.string() }),
  z.object({ kind: z.literal('rejected') }),
])

type FinalOutcome = z.output<typeof outcome>

export const settlePayment = operation({
  name: 'settlePayment',
  permission: 'TRANSACT',
  input: z.object({ transactionId: z.uuid(), outcome }),
  output: z.object({ settled: z.boolean() }),
  load: async ({ database }, { worldId }, { transactionId }) => {
    const [transaction] = await transactionsById(database, worldId, [transactionId])
    if (!transaction) throw new Error(`outcome of a payment that does not exist: ${transactionId}`)
    const [quote] = await quotesById(database, worldId, [transaction.quoteId!])
    return { transaction, quote: quote! }
  },
  decide({ outcome: said }, { transaction, quote }, { now }) {
    if (transaction.status !== 'PROCESSING') return { reply: { settled: false } }
    return said.kind === 'paid' ? completed(quote, transaction, now) : returned(quote, transaction, said, now)
  },
})

type Settled = Plan<{ settled: boolean }>

function completed(quote: QuoteRow, transaction: TransactionRow, now: Date): Settled {
  const ended: TransactionRow = { ...transaction, status: 'COMPLETED', settledAt: now, updatedAt: now }
  const fees = toRateDetails(quote.rateDetails as unknown as RateDetails)
  const entries = settlement({
    worldId: quote.worldId,
    sendingCurrency: quote.sendingCurrency,
    sent: quote.totalSendingAmount,
    serviceFees: fees.serviceApiFixedFee + fees.serviceApiVariableFeeAmount,
    receivingCurrency: quote.receivingCurrency,
    received: quote.totalReceivingAmount,
    counterpartyFee: fees.counterpartyFixedFee,
  })
  return {
    reply: { settled: true },
    update: { quote: [{ ...quote, status: 'COMPLETED', updatedAt: now }], transaction: [ended] },
    entries: entries.map((entry) => ({ worldId: quote.worldId, transactionId: transaction.id, entry })),
    events: [paymentChanged(ended)],
  }
}

/** Not paid: the whole amount goes back to where it came from. */
function returned(
  quote: QuoteRow,
  transaction: TransactionRow,
  said: Exclude<FinalOutcome, { kind: 'paid' }>,
  now: Date,
): Settled {
  const { worldId } = quote
  const accountId = quote.sourceAccountId!
  const returnedMoney: Refund = {
    reference: `${transaction.reference}-REFUND`,
    initiatedAt: now.toISOString(),
    settledAt: now.toISOString(),
  }
  const ended: TransactionRow = {
    ...transaction,
    status: said.kind === 'rejected' ? 'REJECTED' : 'FAILED',
    failureReason: said.kind === 'failed' ? said.reason : null,
    refund: returnedMoney,
    updatedAt: now,
  }
  const entry = refund(worldId, quote.sendingCurrency, accountId, quote.totalSendingAmount)
  return {
    reply: { settled: true },
    update: { quote: [{ ...quote, status: 'FAILED', updatedAt: now }], transaction: [ended] },
    entries: [{ worldId, transactionId: transaction.id, entry }],
    events: [sourceBalanceChanged(quote, transaction), paymentChanged(ended)],
  }
}
