/** The statement of an internal account: every posting that moved it, with the balance it left; and the balance at any instant. */

import { currencyOf } from '../../base/currency.ts'
import { decodePlace, encodePlace } from '../../base/cursor.ts'
import { toId } from '../../base/ids.ts'
import type { Queryable } from '../../database/port.ts'
import { byIdsInWorld } from '../../database/tables.ts'
import type { EntryKind } from '../../ledger/entry.ts'
import { directionOf, type Manner, type Page, type PageInput } from '../page.ts'

export interface StatementLine {
  /** Of the ledger entry: bare uuid. */
  entryId: string
  kind: EntryKind
  /** Smallest unit; positive is money in. */
  amount: bigint
  /** Smallest unit: what the line left on the account. */
  balanceAfter: bigint
  currency: ReturnType<typeof currencyOf>
  /** `Transaction:<uuid>` */
  transactionId: string
  createdAt: string
  /** Of this line: the next page goes on after it. */
  cursor: string
}

interface Row {
  accountId: string
  postingId: bigint
  entryId: string
  kind: EntryKind
  currency: string
  amount: bigint
  balanceAfter: bigint
  transactionId: string
  createdAt: Date
}

/** A page of several accounts' statements, newest line first, in the order of `accountIds`; one statement for all of them. */
export async function readStatements(
  database: Queryable,
  worldId: string,
  accountIds: readonly string[],
  { limit, cursor, backwards = false }: Pick<PageInput, 'limit' | 'cursor'> & Pick<Manner, 'backwards'>,
): Promise<Page<StatementLine>[]> {
  const [direction, beyond] = directionOf(backwards)
  const place = cursor === undefined ? undefined : decodePlace(cursor, backwards ? 'before' : 'after', /^\d{1,18}$/)
  const rows = await database.query<Row>(
    `select owner.id as "accountId", line.* from unnest($2::uuid[]) as owner(id) cross join lateral (
       select p.id as "postingId", e.id as "entryId", e.kind, e.currency, p.amount, p.balance_after as "balanceAfter",
         e.transaction_id as "transactionId", p.created_at as "createdAt"
       from internal_account a join ledger_posting p on p.account_id = a.id join ledger_entry e on e.id = p.entry_id
       where a.world_id = $1 and a.id = owner.id ${place ? `and (p.created_at, p.id) ${beyond} ($4, $5::bigint)` : ''}
       order by p.created_at ${direction}, p.id ${direction} limit $3
     ) line`,
    [worldId, accountIds, limit + 1, ...(place ? [place.createdAt, place.id] : [])],
  )
  const rowsOf = Map.groupBy(rows, ({ accountId }) => accountId)
  return accountIds.map((id) => {
    const lines = (rowsOf.get(id) ?? []).map(toLine)
    const data = lines.slice(0, limit)
    return { data: backwards ? data.reverse() : data, hasMore: lines.length > limit }
  })
}

function toLine({ postingId, transactionId, createdAt, currency, accountId: _account, ...line }: Row): StatementLine {
  return {
    ...line,
    currency: currencyOf(currency),
    transactionId: toId('Transaction', transactionId),
    createdAt: createdAt.toISOString(),
    cursor: encodePlace({ createdAt, id: postingId.toString() }),
  }
}

/** How many lines each account's statement has. */
export async function countStatements(database: Queryable, worldId: string, accountIds: readonly string[]): Promise<number[]> {
  const rows = await database.query<{ id: string; lines: bigint }>(
    `select a.id, count(p.id) as lines from internal_account a left join ledger_posting p on p.account_id = a.id
     where ${byIdsInWorld('a')} group by a.id`,
    [worldId, accountIds],
  )
  const counts = new Map(rows.map(({ id, lines }) => [id, Number(lines)]))
  return accountIds.map((id) => counts.get(id) ?? 0)
}

/** What was on each account at an instant, what happened at that instant included; smallest unit. */
export async function balancesAt(
  database: Queryable,
  worldId: string,
  accountIds: readonly string[],
  at: Date,
): Promise<bigint[]> {
  const rows = await database.query<{ id: string; balance: bigint }>(
    `select owner.id, last.balance_after as balance from unnest($2::uuid[]) as owner(id) cross join lateral (
       select p.balance_after from internal_account a join ledger_posting p on p.account_id = a.id
       where a.world_id = $1 and a.id = owner.id and p.created_at <= $3 order by p.created_at desc, p.id desc limit 1
     ) last`,
    [worldId, accountIds, at],
  )
  const balances = new Map(rows.map(({ id, balance }) => [id, balance]))
  return accountIds.map((id) => balances.get(id) ?? 0n)
}
