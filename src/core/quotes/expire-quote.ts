/** A quote nobody executed or funded in time. Run by its task; harmless at any other moment. */
import { z } from 'zod'
import { operation } from '../operation.ts'
import { changed, movePayment, tell } from '../transactions/moves.ts'
import { transactionsById } from '../transactions/transaction.ts'
import { quotesById } from './quote.ts'

export const expireQuote = operation({
  name: 'expireQuote',
  permission: 'TRANSACT',
  input: z.object({ quoteId: z.uuid() }),
  output: z.object({ status: z.enum(['over', 'early']) }),
  load: async ({ database }, caller, { quoteId }) => {
    const [quote] = await quotesById(database, caller, [quoteId])
    if (!quote) throw new Error(`task for a quote that does not exist: ${quoteId}`)
    const [transaction] = await transactionsById(database, caller, [quote.transactionId])
    return { quote, transaction: transaction! }
  },
  decide(_input, payment, { now, timing }) {
    if (payment.quote.status !== 'PENDING') return { reply: { status: 'over' as const } }
    if (timing === 'early') return { reply: { status: 'early' as const } }
    const after = movePayment(payment, 'expire', now, { failureReason: 'QUOTE_EXPIRED' })
    return {
      reply: { status: 'over' as const },
      notBefore: payment.quote.expiresAt,
      update: changed(payment, after),
      events: tell('expire', after),
    }
  },
})
