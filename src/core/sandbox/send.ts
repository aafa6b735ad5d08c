/** Sandbox: money is pushed with a reference, as if the payer had followed a quote's (or an account's) payment instructions. */
import { z } from 'zod'
import { DomainError } from '../../base/refusal.ts'
import { amountUpTo, currencyCode, idOf, text } from '../input.ts'
import { operation } from '../operation.ts'
import { requireQuote } from '../quotes/quote.ts'
import { depositContext, depositPlan } from '../transactions/receive-deposit.ts'
import { requireTransaction, Transaction } from '../transactions/transaction.ts'

/**
 * Names what it pays by the reference, or by the quote, whose amount it then pays unless told otherwise. Refuses REFERENCE_NOT_FOUND,
 * QUOTE_NOT_FOUND, INVALID_CURRENCY; FORBIDDEN with production credentials. The reply is the transaction that was funded, or refused.
 */
export const sandboxSend = operation({
  name: 'sandboxSend',
  permission: 'TRANSACT',
  sandboxOnly: true,
  refuses: ['INVALID_CURRENCY', 'INVALID_AMOUNT', 'REFERENCE_NOT_FOUND', 'QUOTE_NOT_FOUND'],
  input: z
    .object({
      reference: text(100).optional(),
      quoteId: idOf('Quote').optional(),
      currencyCode,
      currencyAmount: amountUpTo().optional(),
    })
    .refine(({ reference, quoteId }) => reference !== undefined || quoteId !== undefined, {
      path: ['reference'],
      error: 'expected the reference of the payment instructions',
    })
    .refine(({ quoteId, currencyAmount }) => quoteId !== undefined || currencyAmount !== undefined, {
      path: ['currencyAmount'],
      error: 'expected the amount in the smallest unit',
    }),
  output: Transaction,
  load: async ({ database }, caller, { reference: given, quoteId }) => {
    const quote = quoteId === undefined ? undefined : await requireQuote(database, caller, quoteId)
    const reference = quote ? (await requireTransaction(database, caller, quote.transactionId)).reference : given!
    if (given !== undefined && given !== reference) {
      throw new DomainError('INVALID_INPUT', "reference: it is not the quote's", { field: 'reference', value: given })
    }
    // Each call is a deposit of its own: only an idempotency key makes two calls one.
    return { reference, quote, context: await depositContext(database, caller.worldId, '', reference) }
  },
  decide({ currencyCode: currency, currencyAmount }, { reference, quote, context }, moment) {
    const amount = currencyAmount ?? quote!.totalSendingAmount
    return depositPlan({ railReference: `sandbox:${moment.newId()}`, reference, currency, amount }, context, moment)
  },
})
