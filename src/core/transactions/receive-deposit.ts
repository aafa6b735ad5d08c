/**
 * Money pushed in from outside, as a rail reports it by the reference the payer wrote. It credits an internal account, or funds a quote if
 * it is the quoted amount and comes in time; otherwise it goes back. Reported twice, it is one deposit.
 */

import { z } from 'zod'
import { DomainError } from '../../base/refusal.ts'
import type { Queryable } from '../../database/port.ts'
import { wholeWorld } from '../../database/sight.ts'
import {
  type CustomerRow,
  type DepositRow,
  type ExternalAccountRow,
  type InternalAccountRow,
  selectList,
  type TransactionRow,
} from '../../database/tables.ts'
import { endOfFlight, funding, intoFlight } from '../../ledger/entry.ts'
import { externalAccountsById } from '../accounts/external.ts'
import { balanceChanged, ownersOfInternalAccounts, withBalance } from '../accounts/internal.ts'
import type { Plan } from '../commit.ts'
import { customersById, isReady } from '../customers/customer.ts'
import { amountUpTo, currencyCode, text } from '../input.ts'
import { type Moment, operation } from '../operation.ts'
import { selectionOf } from '../page.ts'
import { quotesById } from '../quotes/quote.ts'
import { depositRow, type ReportedDeposit } from './deposit.ts'
import { giveBack, homeOf } from './give-back.ts'
import { begin, changed, movePayment, type Payment, tell } from './moves.ts'
import { newTransactionDefaults, payTask, Transaction, toTransaction } from './transaction.ts'

/** What a reference names, and what is there already. */
export interface DepositContext {
  /** The same deposit, reported before. */
  known: DepositRow | undefined
  payment: Payment | undefined
  home: InternalAccountRow | undefined
  /** The external account the payment goes to. */
  destination: ExternalAccountRow | undefined
  /** The internal account that the reference names. */
  account: InternalAccountRow | undefined
  /** Whose account it is, or whose payment. */
  customer: CustomerRow | undefined
}

/** Refuses REFERENCE_NOT_FOUND, INVALID_CURRENCY. The reply is the transaction it funds, or the one that credited an account. */
export const receiveDeposit = operation({
  name: 'receiveDeposit',
  permission: 'TRANSACT',
  input: z.object({
    railReference: text(200),
    reference: text(100),
    currency: currencyCode,
    amount: amountUpTo(),
  }),
  output: Transaction,
  load: ({ database }, { worldId }, { railReference, reference }) => depositContext(database, worldId, railReference, reference),
  decide: (deposit, context, moment) => depositPlan(deposit, context, moment),
})

export async function depositContext(
  database: Queryable,
  worldId: string,
  railReference: string,
  reference: string,
): Promise<DepositContext> {
  const [[known], [transaction], [account]] = await Promise.all([
    database.query<DepositRow>(`select ${selectList('deposit')} from deposit where world_id = $1 and rail_reference = $2`, [
      worldId,
      railReference,
    ]),
    database.query<TransactionRow>(
      `select ${selectList('transaction')} from transaction where world_id = $1 and reference = $2
       union all
       select ${selectList('transaction', 't')} from deposit d join transaction t on t.id = d.transaction_id
       where d.world_id = $1 and d.rail_reference = $3`,
      [worldId, reference, railReference],
    ),
    database.query<InternalAccountRow>(
      `select ${selectionOf(withBalance)} from ${withBalance.from} where t.world_id = $1 and t.funding_reference = $2`,
      [worldId, reference],
    ),
  ])
  const world = wholeWorld(worldId)
  const toExternal = transaction?.destinationType === 'EXTERNAL_ACCOUNT'
  const [[quote], home, [owner], [payer], [destination]] = await Promise.all([
    transaction?.quoteId ? quotesById(database, world, [transaction.quoteId]) : [],
    transaction ? homeOf(database, transaction) : undefined,
    account ? ownersOfInternalAccounts(database, world, [account.id]) : [],
    transaction?.customerId ? customersById(database, world, [transaction.customerId]) : [],
    toExternal ? externalAccountsById(database, world, [transaction.destinationAccountId!]) : [],
  ])
  const payment = transaction && { transaction, quote }
  return { known, payment, home, destination, account, customer: owner?.customer ?? payer }
}

export function depositPlan(deposit: ReportedDeposit, context: DepositContext, moment: Moment): Plan<Transaction> {
  const { known, payment, account, customer } = context
  if (known) return { reply: toTransaction(payment!.transaction) }
  if (account) {
    requireCurrency(deposit, account.currency)
    return creditPlan(deposit, account, moment)
  }
  // Only what asked to be funded this way can be: other payments' references name nothing here.
  if (payment?.transaction.sourceType !== 'REALTIME_FUNDING' || !payment.quote) {
    throw new DomainError('REFERENCE_NOT_FOUND', 'Nothing here waits for money with this reference', {
      field: 'reference',
      value: deposit.reference,
    })
  }
  requireCurrency(deposit, payment.transaction.sourceCurrency)
  const inTime = payment.quote.status === 'PENDING' && moment.timing !== 'late'
  if (!inTime) return tooLate(deposit, payment, context, moment)
  if (deposit.amount !== payment.quote.totalSendingAmount) {
    return refused('FUNDING_AMOUNT_MISMATCH', deposit, payment, context, moment)
  }
  // What executing by hand would refuse, money that is pushed cannot be asked about beforehand.
  const barred = (customer && !isReady(customer)) || (context.destination && context.destination.status !== 'ACTIVE')
  return barred ? refused('QUOTE_EXECUTION_FAILED', deposit, payment, context, moment) : funded(deposit, payment, context, moment)
}

/** The plan of money that arrived on an internal account. */
export function creditPlan(deposit: ReportedDeposit, account: InternalAccountRow, { now, newId }: Moment) {
  const { id: accountId, worldId, currency, customerId, platformCustomerId } = account
  const transaction: TransactionRow = {
    ...newTransactionDefaults(now),
    ...begin('credit', now),
    id: newId(),
    worldId,
    type: 'INCOMING',
    customerId,
    platformCustomerId,
    sourceType: 'REALTIME_FUNDING',
    sourceAccountId: null,
    sourceUmaAddress: null,
    sourceCurrency: currency,
    destinationType: 'INTERNAL_ACCOUNT',
    destinationAccountId: accountId,
    destinationUmaAddress: null,
    destinationCurrency: currency,
    sentAmount: deposit.amount,
    receivedAmount: deposit.amount,
    description: 'Internal account funding',
    settledAt: now,
  }
  const { id: transactionId } = transaction
  return {
    reply: toTransaction(transaction),
    insert: { transaction: [transaction], deposit: [depositRow(deposit, transaction, 'CREDITED', now, newId())] },
    entries: [{ worldId, transactionId, entry: funding(worldId, currency, accountId, deposit.amount) }],
    events: [balanceChanged(account, transactionId), ...tell('credit', { transaction, quote: undefined })],
  }
}

function requireCurrency({ currency }: ReportedDeposit, expected: string): void {
  if (currency === expected) return
  throw new DomainError('INVALID_CURRENCY', `currencyCode: ${expected} is expected with this reference`, {
    field: 'currencyCode',
    value: currency,
  })
}

/** The quoted amount in time: the payment begins. */
function funded(
  deposit: ReportedDeposit,
  payment: Payment,
  { customer, destination }: DepositContext,
  { now, newId }: Moment,
): Plan<Transaction> {
  const executed: Payment = { ...payment, quote: { ...payment.quote!, executedAt: now } }
  const after = movePayment(executed, 'fund', now)
  const { transaction } = after
  return {
    reply: toTransaction(transaction),
    before: payment.quote!.expiresAt,
    guard: { customer: customer ? [customer] : [], external_account: destination ? [destination] : [] },
    update: changed(payment, after),
    insert: {
      deposit: [depositRow(deposit, transaction, 'APPLIED', now, newId())],
      task: [payTask(transaction)],
    },
    remove: { task: [payment.quote!.id] },
    entries: [deposited(deposit, transaction)],
    events: tell('fund', after),
  }
}

/** In time, but not to be used: the payment fails, the money goes back. */
function refused(
  failureReason: 'FUNDING_AMOUNT_MISMATCH' | 'QUOTE_EXECUTION_FAILED',
  deposit: ReportedDeposit,
  payment: Payment,
  context: DepositContext,
  { now, newId }: Moment,
): Plan<Transaction> {
  const back = sentBack(deposit, payment.transaction, context, now, newId())
  const after = movePayment(payment, 'fail', now, { failureReason, refund: back.refund })
  return {
    reply: toTransaction(after.transaction),
    before: payment.quote!.expiresAt,
    update: changed(payment, after),
    remove: { task: [payment.quote!.id] },
    ...back.plan,
    events: [...back.plan.events, ...tell('fail', after)],
  }
}

/** After the quote's time, or a second time: the money goes back, and a quote that still looked open has expired. */
function tooLate(deposit: ReportedDeposit, payment: Payment, context: DepositContext, { now, newId }: Moment): Plan<Transaction> {
  const back = sentBack(deposit, payment.transaction, context, now, newId())
  if (payment.quote!.status === 'PENDING') {
    const after = movePayment(payment, 'expire', now, { failureReason: 'QUOTE_EXPIRED', refund: back.refund })
    return {
      reply: toTransaction(after.transaction),
      notBefore: payment.quote!.expiresAt,
      update: changed(payment, after),
      remove: { task: [payment.quote!.id] },
      ...back.plan,
      events: [...back.plan.events, ...tell('expire', after)],
    }
  }
  const { transaction } = payment
  // What was paid twice is returned without a word on the payment itself; what came after the end is its refund.
  const noted: TransactionRow =
    transaction.status === 'EXPIRED' && transaction.refund === null
      ? { ...transaction, refund: back.refund, updatedAt: now }
      : transaction
  const after: Payment = { ...payment, transaction: noted }
  return {
    reply: toTransaction(noted),
    guard: { transaction: [transaction], quote: [payment.quote!] },
    update: changed(payment, after),
    ...back.plan,
    events: [...back.plan.events, ...(noted === transaction ? [] : tell('expire', after))],
  }
}

function sentBack(deposit: ReportedDeposit, transaction: TransactionRow, { home }: DepositContext, now: Date, id: string) {
  const row = depositRow(deposit, transaction, 'APPLIED', now, id)
  const back = giveBack(transaction, { amount: deposit.amount, deposit: row, home }, now)
  return {
    refund: back.refund,
    plan: {
      insert: { deposit: [back.deposit!], task: back.tasks },
      entries: [deposited(deposit, transaction), ...back.entries],
      events: back.events,
    },
  }
}

function deposited({ amount }: ReportedDeposit, { id: transactionId, worldId, sourceCurrency: currency }: TransactionRow) {
  return {
    worldId,
    transactionId,
    entry: intoFlight('DEPOSIT', worldId, currency, endOfFlight(worldId, currency, null), amount),
  }
}
