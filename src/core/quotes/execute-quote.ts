/** Executing a quote: the source is debited, the money is in flight, and the payment is handed to its rail. */
import { z } from 'zod'
import { DomainError } from '../../base/refusal.ts'
import type { CustomerRow, ExternalAccountRow, QuoteRow, TransactionRow } from '../../database/tables.ts'
import { debit } from '../../ledger/entry.ts'
import { externalAccountsById } from '../accounts/external.ts'
import { balanceChanged } from '../accounts/internal.ts'
import { requirePayable } from '../accounts/payable.ts'
import type { EventDraft } from '../commit.ts'
import { customersById, requireReady } from '../customers/customer.ts'
import { idOf } from '../input.ts'
import { operation } from '../operation.ts'
import { paymentChanged, transactionsById } from '../transactions/transaction.ts'
import { Quote, requireQuote, toQuote } from './quote.ts'

interface Loaded {
  quote: QuoteRow
  transaction: TransactionRow
  customer: CustomerRow | undefined
  destination: ExternalAccountRow
}

/**
 * Refuses QUOTE_NOT_FOUND, QUOTE_EXPIRED (judged again by the database's clock when it commits), QUOTE_ALREADY_EXECUTED,
 * INSUFFICIENT_BALANCE, USER_NOT_READY, INVALID_BANK_ACCOUNT.
 */
export const executeQuote = operation({
  name: 'executeQuote',
  permission: 'TRANSACT',
  input: z.object({ quoteId: idOf('Quote') }),
  output: Quote,
  load: async ({ database }, { worldId }, { quoteId }): Promise<Loaded> => {
    const quote = await requireQuote(database, worldId, quoteId)
    const [[transaction], customers, [destination]] = await Promise.all([
      transactionsById(database, worldId, [quote.transactionId]),
      quote.customerId === null ? [] : customersById(database, worldId, [quote.customerId]),
      externalAccountsById(database, worldId, [quote.destinationAccountId!]),
    ])
    return { quote, transaction: transaction!, customer: customers[0], destination: destination! }
  },
  decide(_input, { quote, transaction, customer, destination }, { now }) {
    requireExecutable(quote, now)
    if (customer) requireReady(customer)
    requirePayable(destination)
    const executed = execution(quote, transaction, now)
    return {
      reply: toQuote(executed.quote),
      before: quote.expiresAt,
      update: { quote: [executed.quote], transaction: [executed.transaction] },
      guard: { external_account: [destination], ...(customer ? { customer: [customer] } : {}) },
      insert: { task: [executed.task] },
      remove: { task: [quote.id] },
      entries: executed.entries,
      events: executed.events,
    }
  },
})

function requireExecutable({ status, expiresAt }: QuoteRow, now: Date): void {
  if (status === 'EXPIRED' || (status === 'PENDING' && now >= expiresAt)) {
    throw new DomainError('QUOTE_EXPIRED', 'The quote has expired; create a new one', {
      field: 'quoteId',
      expiresAt: expiresAt.toISOString(),
    })
  }
  if (status !== 'PENDING') {
    throw new DomainError('QUOTE_ALREADY_EXECUTED', `The quote has been executed; it is ${status}`, { field: 'quoteId', status })
  }
}

/** What executing writes, for a quote that may be. The task of the payment has the transaction's id. */
export function execution(quote: QuoteRow, transaction: TransactionRow, now: Date) {
  const { worldId } = quote
  const accountId = quote.sourceAccountId!
  const processing: TransactionRow = { ...transaction, status: 'PROCESSING', updatedAt: now }
  return {
    quote: { ...quote, status: 'PROCESSING', executedAt: now, updatedAt: now } satisfies QuoteRow,
    transaction: processing,
    task: { id: transaction.id, worldId, kind: 'pay', subjectId: transaction.id, dueAt: now, attempts: 0 },
    entries: [
      {
        worldId,
        transactionId: transaction.id,
        entry: debit(worldId, quote.sendingCurrency, accountId, quote.totalSendingAmount),
      },
    ],
    events: [sourceBalanceChanged(quote, transaction), paymentChanged(processing)],
  }
}

/** ACCOUNT_STATUS of the account a quote is paid from. */
export function sourceBalanceChanged(quote: QuoteRow, { platformCustomerId }: TransactionRow): EventDraft {
  return balanceChanged({
    worldId: quote.worldId,
    accountId: quote.sourceAccountId!,
    currency: quote.sendingCurrency,
    customerId: quote.customerId,
    platformCustomerId: platformCustomerId ?? undefined,
  })
}
