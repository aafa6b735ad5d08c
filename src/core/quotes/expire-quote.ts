/** A quote nobody executed in time. Run by its task; harmless at any other moment. */
import { z } from 'zod'
import type { QuoteRow, TransactionRow } from '../../database/tables.ts'
import { operation } from '../operation.ts'
import { paymentChanged, transactionsById } from '../transactions/transaction.ts'
import { quotesById } from './quote.ts'

export const expireQuote = operation({
  name: 'expireQuote',
  permission: 'TRANSACT',
  input: z.object({ quoteId: z.uuid() }),
  output: z.object({ expired: z.boolean() }),
  load: async ({ database }, { worldId }, { quoteId }) => {
    const [quote] = await quotesById(database, worldId, [quoteId])
    if (!quote) throw new Error(`task for a quote that does not exist: ${quoteId}`)
    const [transaction] = await transactionsById(database, worldId, [quote.transactionId])
    return { quote, transaction: transaction! }
  },
  decide(_input, { quote, transaction }, { now }) {
    if (quote.status !== 'PENDING' || now < quote.expiresAt) return { reply: { expired: false } }
    const expired: QuoteRow = { ...quote, status: 'EXPIRED', updatedAt: now }
    const ended: TransactionRow = { ...transaction, status: 'EXPIRED', failureReason: 'QUOTE_EXPIRED', updatedAt: now }
    return {
      reply: { expired: true },
      notBefore: quote.expiresAt,
      update: { quote: [expired], transaction: [ended] },
      events: [paymentChanged(ended)],
    }
  },
})
