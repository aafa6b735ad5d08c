/** Giving up a payment of which nothing has been paid yet. */
import { z } from 'zod'
import { DomainError } from '../../base/refusal.ts'
import { idOf } from '../input.ts'
import { operation } from '../operation.ts'
import { quotesById } from '../quotes/quote.ts'
import { changed, movePayment, tell } from './moves.ts'
import { requireTransaction, Transaction, toTransaction } from './transaction.ts'

/**
 * Cancellable is a payment whose quote has been neither executed nor funded: both become EXPIRED, and money that is pushed for it later goes
 * back. Refuses TRANSACTION_NOT_FOUND; TRANSACTION_NOT_CANCELLABLE for every other payment, one that waits for approval (reject it), a transfer
 * (it begins at once) and one that has been cancelled included.
 */
export const cancelTransaction = operation({
  name: 'cancelTransaction',
  permission: 'TRANSACT',
  forViewers: true,
  refuses: ['TRANSACTION_NOT_FOUND', 'TRANSACTION_NOT_CANCELLABLE'],
  input: z.object({ transactionId: idOf('Transaction') }),
  output: Transaction,
  load: async ({ database }, caller, { transactionId }) => {
    const transaction = await requireTransaction(database, caller, transactionId)
    const [quote] = transaction.quoteId === null ? [] : await quotesById(database, caller, [transaction.quoteId])
    return { transaction, quote }
  },
  decide(_input, payment, { now, timing }) {
    const { transaction, quote } = payment
    if (transaction.status !== 'PENDING' || quote?.status !== 'PENDING' || timing === 'late') {
      throw new DomainError('TRANSACTION_NOT_CANCELLABLE', 'Only a payment whose quote is still PENDING can be cancelled', {
        field: 'transactionId',
        status: transaction.status,
      })
    }
    const after = movePayment(payment, 'cancel', now)
    return {
      reply: toTransaction(after.transaction),
      before: quote.expiresAt,
      update: changed(payment, after),
      remove: { task: [quote.id] },
      events: tell('cancel', after),
    }
  },
})
