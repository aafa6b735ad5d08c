/** Everything that happened to a payment, in order: the states it had, what the ledger wrote for each, and what was told. */
import { currencyOf } from '../../base/currency.ts'
import { toId } from '../../base/ids.ts'
import type { Queryable } from '../../database/port.ts'
import { type Sight, sees } from '../../database/sight.ts'
import { byIdsInWorld, type TransactionRow } from '../../database/tables.ts'
import type { AccountKind } from '../../ledger/chart.ts'
import type { EntryKind } from '../../ledger/entry.ts'
import { eventColumns, type LoggedEvent } from '../../log/event.ts'
import { historyOf } from './moves.ts'

export { accountKinds } from '../../ledger/chart.ts'
export { entryKinds } from '../../ledger/entry.ts'

interface TimelinePosting {
  accountKind: AccountKind
  /** `InternalAccount:<uuid>`, where it is one. */
  accountId: string | undefined
  /** Smallest unit; positive credits the account. */
  amount: bigint
}

export type TimelineItem =
  | { kind: 'status'; at: string; status: TransactionRow['status'] }
  | {
      kind: 'entry'
      at: string
      entryKind: EntryKind
      currency: ReturnType<typeof currencyOf>
      postings: TimelinePosting[]
    }
  | { kind: 'event'; at: string; event: LoggedEvent }

/** The timelines of several transactions that may be seen, in their order; of the events, those that may be. */
export async function timelinesOf(database: Queryable, sight: Sight, ids: readonly string[]): Promise<TimelineItem[][]> {
  const { worldId } = sight
  const [transactions, entries, events] = await Promise.all([
    database.query<TransactionRow>(`select t.id, t.history from transaction t where ${byIdsInWorld('t')}`, [worldId, ids]),
    entriesOf(database, worldId, ids),
    database.query<LoggedEvent & { transactionId: string }>(
      `select ${eventColumns}, e.transaction_id as "transactionId" from event e
       where e.transaction_id = any($2::uuid[]) and (e.world_id = $1) is true and e.position is not null order by e.position`,
      [worldId, ids],
    ),
  ])
  const rowOf = new Map(transactions.map((row) => [row.id, row]))
  return ids.map((id) => {
    const row = rowOf.get(id)
    const items: TimelineItem[] = [
      ...(row ? historyOf(row).map((stage) => ({ kind: 'status' as const, ...stage })) : []),
      ...entries.filter(({ transactionId }) => transactionId === id).map(({ item }) => item),
      ...events
        .filter(({ transactionId, customerId }) => transactionId === id && sees(sight, customerId))
        .map((event) => ({ kind: 'event' as const, at: event.createdAt.toISOString(), event })),
    ]
    // The sort is stable: of one instant, the state comes first, then what was written, then what was told.
    return items.sort((left, right) => (left.at < right.at ? -1 : left.at > right.at ? 1 : 0))
  })
}

async function entriesOf(
  database: Queryable,
  worldId: string,
  ids: readonly string[],
): Promise<{ transactionId: string; item: TimelineItem }[]> {
  const rows = await database.query<{
    id: string
    transactionId: string
    kind: EntryKind
    currency: string
    createdAt: Date
    accountKind: AccountKind
    accountId: string
    amount: bigint
  }>(
    `select e.id, e.transaction_id as "transactionId", e.kind, e.currency, e.created_at as "createdAt",
       a.kind as "accountKind", a.id as "accountId", p.amount
     from ledger_entry e join ledger_posting p on p.entry_id = e.id join ledger_account a on a.id = p.account_id
     where e.transaction_id = any($2::uuid[]) and (e.world_id = $1) is true order by p.id`,
    [worldId, ids],
  )
  return [...Map.groupBy(rows, ({ id }) => id).values()].map((legs) => {
    const { transactionId, kind, currency, createdAt } = legs[0]!
    const postings = legs.map(({ accountKind, accountId, amount }) => ({
      accountKind,
      accountId: accountKind === 'INTERNAL' ? toId('InternalAccount', accountId) : undefined,
      amount,
    }))
    const at = createdAt.toISOString()
    return { transactionId, item: { kind: 'entry', at, entryKind: kind, currency: currencyOf(currency), postings } }
  })
}
