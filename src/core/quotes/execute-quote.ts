/**
 * Executing a quote. From an internal account the money is debited, is in flight, and the payment is handed to its rail; from an external
 * account the rail is first asked to pull it. Money that is pushed executes its quote by itself when it arrives.
 */
import { z } from 'zod'
import { DomainError } from '../../base/refusal.ts'
import { wholeWorld } from '../../database/sight.ts'
import type { CustomerRow, ExternalAccountRow, QuoteRow, TaskRow, TransactionRow } from '../../database/tables.ts'
import { endOfFlight, intoFlight } from '../../ledger/entry.ts'
import { externalAccountsById } from '../accounts/external.ts'
import { balanceChanged } from '../accounts/internal.ts'
import { requireActive } from '../accounts/payable.ts'
import type { EventDraft, Plan } from '../commit.ts'
import { customersById, requireReady } from '../customers/customer.ts'
import { idOf } from '../input.ts'
import { type Moment, operation } from '../operation.ts'
import { movePayment, type Payment, tell } from '../transactions/moves.ts'
import { payTask, transactionsById } from '../transactions/transaction.ts'
import { Quote, requireQuote, toQuote } from './quote.ts'

interface Loaded {
  quote: QuoteRow
  transaction: TransactionRow
  customer: CustomerRow | undefined
  /** Of its ends, those that are external accounts. */
  accounts: readonly ExternalAccountRow[]
}

/**
 * Refuses QUOTE_NOT_FOUND, QUOTE_EXPIRED (by the database's clock, when it commits), QUOTE_ALREADY_EXECUTED, INVALID_INPUT for a quote that
 * is funded by pushing money, INSUFFICIENT_BALANCE, USER_NOT_READY, INVALID_BANK_ACCOUNT.
 */
export const executeQuote = operation({
  name: 'executeQuote',
  permission: 'TRANSACT',
  forViewers: true,
  refuses: [
    'QUOTE_NOT_FOUND',
    'QUOTE_EXPIRED',
    'QUOTE_ALREADY_EXECUTED',
    'INSUFFICIENT_BALANCE',
    'USER_NOT_READY',
    'INVALID_BANK_ACCOUNT',
  ],
  input: z.object({ quoteId: idOf('Quote') }),
  output: Quote,
  load: async ({ database }, caller, { quoteId }): Promise<Loaded> => {
    const quote = await requireQuote(database, caller, quoteId)
    // Where it goes was the business of whoever made it.
    const world = wholeWorld(caller.worldId)
    const [[transaction], customers, accounts] = await Promise.all([
      transactionsById(database, world, [quote.transactionId]),
      quote.customerId === null ? [] : customersById(database, world, [quote.customerId]),
      externalAccountsById(database, world, externalEnds(quote)),
    ])
    return { quote, transaction: transaction!, customer: customers[0], accounts }
  },
  decide(_input, { quote, transaction, customer, accounts }, moment) {
    requireExecutable(quote, moment)
    if (customer) requireReady(customer)
    for (const account of accounts) {
      requireActive(account, account.id === quote.sourceAccountId ? 'source.accountId' : 'destination.accountId')
    }
    const executed = execution({ quote, transaction }, moment.now)
    return {
      reply: toQuote(executed.quote),
      before: quote.expiresAt,
      update: {
        quote: [executed.quote],
        transaction: executed.transaction === transaction ? [] : [executed.transaction],
      },
      guard: { external_account: accounts, ...(customer ? { customer: [customer] } : {}) },
      insert: { task: [executed.task] },
      remove: { task: [quote.id] },
      entries: executed.entries,
      events: executed.events,
    }
  },
})

function externalEnds({ sourceType, sourceAccountId, destinationType, destinationAccountId }: QuoteRow): string[] {
  return [
    ...(sourceType === 'EXTERNAL_ACCOUNT' ? [sourceAccountId!] : []),
    ...(destinationType === 'EXTERNAL_ACCOUNT' ? [destinationAccountId!] : []),
  ]
}

/** Whether its time has passed is said by the commit: `timing` is what it said of the plan before. */
function requireExecutable({ status, expiresAt, sourceType }: QuoteRow, { timing }: Moment): void {
  if (status === 'EXPIRED' || (status === 'PENDING' && timing === 'late')) {
    throw new DomainError('QUOTE_EXPIRED', 'The quote has expired; create a new one', {
      field: 'quoteId',
      expiresAt: expiresAt.toISOString(),
    })
  }
  if (status !== 'PENDING') {
    throw new DomainError('QUOTE_ALREADY_EXECUTED', `The quote has been executed; it is ${status}`, { field: 'quoteId', status })
  }
  if (sourceType === 'REALTIME_FUNDING') {
    throw new DomainError('INVALID_INPUT', 'The quote is executed by pushing the money as its payment instructions say', {
      field: 'quoteId',
    })
  }
}

export interface Execution {
  quote: QuoteRow
  transaction: TransactionRow
  task: TaskRow
  entries: NonNullable<Plan<unknown>['entries']>
  events: EventDraft[]
}

/** What executing writes, for a quote that may be. The task of the payment has the transaction's id. */
export function execution({ quote, transaction }: Payment & { quote: QuoteRow }, now: Date): Execution {
  const begun = { transaction, quote: { ...quote, executedAt: now, updatedAt: now } }
  const task = payTask(transaction)
  if (quote.sourceType === 'EXTERNAL_ACCOUNT') {
    const asked = movePayment(begun, 'execute', now)
    return { quote: asked.quote!, transaction: asked.transaction, task, entries: [], events: tell('execute', asked) }
  }
  const funded = movePayment(begun, 'fund', now)
  const { id: transactionId, worldId } = transaction
  const { sendingCurrency: currency, sourceAccountId, totalSendingAmount } = quote
  const from = endOfFlight(worldId, currency, sourceAccountId)
  return {
    quote: funded.quote!,
    transaction: funded.transaction,
    task,
    entries: [{ worldId, transactionId, entry: intoFlight('DEBIT', worldId, currency, from, totalSendingAmount) }],
    events: [balanceChanged(sourceOf(quote, transaction), transactionId), ...tell('fund', funded)],
  }
}

/** The internal account a quote is paid from. */
function sourceOf({ worldId, sourceAccountId, sendingCurrency, customerId }: QuoteRow, { platformCustomerId }: TransactionRow) {
  return { id: sourceAccountId!, worldId, currency: sendingCurrency, customerId, platformCustomerId }
}
