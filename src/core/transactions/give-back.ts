/**
 * Money that reached nobody goes home: to the internal account it was debited from; crypto that was pushed, to the owner's internal account
 * of that asset; anything else, through its rail to whoever sent it, which takes as long as the rail takes.
 */

import { z } from 'zod'
import type { Queryable } from '../../database/port.ts'
import { wholeWorld } from '../../database/sight.ts'
import { type DepositRow, type InternalAccountRow, selectList, type TaskRow, type TransactionRow } from '../../database/tables.ts'
import { endOfFlight, outOfFlight } from '../../ledger/entry.ts'
import { newTask } from '../../log/tasks.ts'
import { balanceChanged, internalAccountsById, withBalance } from '../accounts/internal.ts'
import type { EventDraft, Plan } from '../commit.ts'
import { operation } from '../operation.ts'
import { selectionOf } from '../page.ts'
import { paymentChanged, type Refund, transactionsById } from './transaction.ts'

const cryptoAssets: ReadonlySet<string> = new Set(['BTC', 'USDC', 'USDT', 'USDB'])

/** The internal account that money of a payment goes home to; undefined where home is outside. */
export async function homeOf(database: Queryable, transaction: TransactionRow): Promise<InternalAccountRow | undefined> {
  const { worldId, sourceType, sourceAccountId, sourceCurrency, customerId } = transaction
  if (sourceType === 'INTERNAL_ACCOUNT') return (await internalAccountsById(database, wholeWorld(worldId), [sourceAccountId!]))[0]
  if (sourceType !== 'REALTIME_FUNDING' || !cryptoAssets.has(sourceCurrency)) return undefined
  const [own] = await database.query<InternalAccountRow>(
    `select ${selectionOf(withBalance)} from ${withBalance.from}
     where t.world_id = $1 and t.currency = $2 and t.customer_id is not distinct from $3::uuid`,
    [worldId, sourceCurrency, customerId],
  )
  return own
}

/** What came in for a payment from outside, the oldest first. */
export function depositsOf(database: Queryable, { worldId, id }: Pick<TransactionRow, 'worldId' | 'id'>): Promise<DepositRow[]> {
  return database.query<DepositRow>(
    `select ${selectList('deposit')} from deposit where world_id = $1 and transaction_id = $2 order by created_at, id`,
    [worldId, id],
  )
}

interface GivenBack {
  refund: Refund
  /** The deposit afterwards, where there is one. */
  deposit: DepositRow | undefined
  tasks: TaskRow[]
  entries: NonNullable<Plan<unknown>['entries']>[number][]
  events: EventDraft[]
}

/** What giving money in flight back writes; `deposit` is what brought it in, where it came from outside. */
export function giveBack(
  transaction: TransactionRow,
  what: { amount: bigint; deposit: DepositRow | undefined; home: InternalAccountRow | undefined },
  now: Date,
): GivenBack {
  const { id: transactionId, worldId, sourceCurrency: currency, reference } = transaction
  const { amount, deposit, home } = what
  const refund: Refund = { reference: `${reference}-REFUND`, initiatedAt: now.toISOString() }
  if (!home) {
    if (!deposit) throw new Error(`money in flight without a home: ${transactionId}`)
    const returning: DepositRow = { ...deposit, status: 'RETURNING', updatedAt: now }
    const task = newTask('give-back', worldId, deposit.id)
    return { refund, deposit: returning, tasks: [task], entries: [], events: [] }
  }
  const returned: DepositRow | undefined = deposit && { ...deposit, status: 'RETURNED', updatedAt: now }
  const entry = outOfFlight('REFUND', worldId, currency, endOfFlight(worldId, currency, home.id), amount)
  return {
    refund: { ...refund, settledAt: now.toISOString() },
    deposit: returned,
    tasks: [],
    entries: [{ worldId, transactionId, entry }],
    events: [balanceChanged(home, transactionId)],
  }
}

/** The rail has given a deposit back: out of flight. Told again, it changes nothing. */
export const settleReturn = operation({
  name: 'settleReturn',
  permission: 'TRANSACT',
  input: z.object({ depositId: z.uuid() }),
  output: z.object({ changed: z.boolean() }),
  load: async ({ database }, { worldId }, { depositId }) => {
    const [deposit] = await database.query<DepositRow>(
      `select ${selectList('deposit')} from deposit where world_id = $1 and id = $2`,
      [worldId, depositId],
    )
    if (!deposit) throw new Error(`return of a deposit that does not exist: ${depositId}`)
    const [transaction] = await transactionsById(database, wholeWorld(worldId), [deposit.transactionId])
    return { deposit, transaction: transaction! }
  },
  decide(_input, { deposit, transaction }, { now }) {
    if (deposit.status !== 'RETURNING') return { reply: { changed: false } }
    const { worldId, currency, amount, transactionId } = deposit
    const entry = outOfFlight('RETURN', worldId, currency, endOfFlight(worldId, currency, null), amount)
    const refund = transaction.refund as Refund | null
    const refunded =
      refund && refund.settledAt === undefined
        ? { ...transaction, refund: { ...refund, settledAt: now.toISOString() }, updatedAt: now }
        : undefined
    return {
      reply: { changed: true },
      update: {
        deposit: [{ ...deposit, status: 'RETURNED' as const, updatedAt: now }],
        transaction: refunded ? [refunded] : [],
      },
      entries: [{ worldId, transactionId, entry }],
      events: refunded ? [paymentChanged(refunded)] : [],
    }
  },
})
