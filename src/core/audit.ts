/**
 * The auditor: proves from the database alone that the books and the payments agree. Every rule is one query that finds the rows which break
 * it; none found means it holds. It reads only, and trusts nothing that the rules themselves do not establish.
 */
import type { Database, Queryable } from '../database/port.ts'
import { type MoveName, moves, quoteStatusesBeside } from './transactions/moves.ts'

export interface Finding {
  rule: string
  /** Of the offending row, in its table. */
  id: string
  detail: string
}

const names = Object.keys(moves) as MoveName[]

/** PENDING and PROCESSING are also reached by moves that are not told; what is told of them is checked the other way round. */
function toldStates(told: 'always' | 'of quotes'): string[] {
  const untold = new Set<string>(names.filter((name) => moves[name].told === 'never').map((name) => moves[name].to))
  return names.filter((name) => moves[name].told === told && !untold.has(moves[name].to)).map((name) => moves[name].to)
}

/** `from>to` of every move; a payment begins from nothing. */
const allowedSteps = names.flatMap((name) => {
  const { from, to } = moves[name]
  return from.length === 0 ? [`>${to}`] : from.map((status) => `${status}>${to}`)
})

const allowedPairs = Object.entries(quoteStatusesBeside).flatMap(([transaction, quotes]) =>
  quotes.map((quote) => `${transaction}/${quote}`),
)

/** A query, and the lists that are its $2, $3 … */
type Rule = string | readonly [sql: string, ...lists: readonly string[][]]

/** $1: the world, or null for all of them. */
const rules: Readonly<Record<string, Rule>> = {
  'an entry sums to zero': `
    select e.id, sum(p.amount)::text as detail from ledger_entry e left join ledger_posting p on p.entry_id = e.id
    where $1::uuid is null or e.world_id = $1 group by e.id having coalesce(sum(p.amount), 1) <> 0`,

  "a posting has an entry and an account, and stays in the entry's currency and world": `
    select p.id, coalesce(a.currency, 'no account') || ' for ' || coalesce(e.currency, 'no entry') as detail
    from ledger_posting p left join ledger_entry e on e.id = p.entry_id left join ledger_account a on a.id = p.account_id
    where ($1::uuid is null or e.world_id = $1)
      and (a.currency is distinct from e.currency or a.world_id is distinct from e.world_id)`,

  'a balance is the sum of its postings, and never negative': `
    select a.id, a.balance || ' for ' || coalesce(sum(p.amount), 0) as detail
    from ledger_account a left join ledger_posting p on p.account_id = a.id
    where a.kind = 'INTERNAL' and ($1::uuid is null or a.world_id = $1) group by a.id
    having a.balance is distinct from coalesce(sum(p.amount), 0) or a.balance < 0`,

  'a posting says the balance it left, and time never goes back along an account': `
    select id, balance_after || ' for ' || running || ' at ' || created_at as detail from (
      select p.id, p.balance_after, p.created_at, sum(p.amount) over along as running, max(p.created_at) over along as latest
      from ledger_account a join ledger_posting p on p.account_id = a.id
      where a.kind = 'INTERNAL' and ($1::uuid is null or a.world_id = $1)
      window along as (partition by p.account_id order by p.id)
    ) line where balance_after is distinct from running or balance_after < 0 or created_at <> latest`,

  'an entry belongs to a payment of its world': `
    select e.id, e.kind as detail from ledger_entry e left join transaction t on t.id = e.transaction_id and t.world_id = e.world_id
    where ($1::uuid is null or e.world_id = $1) and t.id is null`,

  'a payment has come to its state by allowed moves': [
    `
    select t.id, t.status || ' by ' || t.history::text as detail from transaction t where ($1::uuid is null or t.world_id = $1) and (
      t.history->-1->>'status' is distinct from t.status::text
      or exists (
        select 1 from (
          select coalesce(lag(stage->>'status') over (order by place), '') || '>' || (stage->>'status') as step
          from jsonb_array_elements(t.history) with ordinality as stages(stage, place)
        ) steps where not (step = any($2::text[]))
      ))`,
    allowedSteps,
  ],

  'a quote and its payment agree': [
    `
    select q.id, q.status || ' beside ' || coalesce(t.status::text, 'nothing') as detail
    from quote q left join transaction t on t.id = q.transaction_id and t.quote_id = q.id and t.world_id = q.world_id
    where ($1::uuid is null or q.world_id = $1) and (t.id is null or not (t.status || '/' || q.status = any($2::text[]))
      or t.sent_amount <> q.total_sending_amount or t.received_amount <> q.total_receiving_amount or t.fees <> q.fees_included
      or t.source_currency <> q.sending_currency or t.destination_currency <> q.receiving_currency
      or (q.status <> 'FAILED' and (q.executed_at is null) <> (q.status in ('PENDING', 'EXPIRED'))))`,
    allowedPairs,
  ],

  'what is in flight is what payments under way and returns under way hold': `
    with flying as (
      select e.transaction_id as id, sum(p.amount) as amount from ledger_entry e join ledger_posting p on p.entry_id = e.id
      join ledger_account a on a.id = p.account_id where a.kind = 'IN_FLIGHT' and ($1::uuid is null or e.world_id = $1) group by 1
    ), going_back as (
      select transaction_id as id, sum(amount) as amount from deposit
      where status = 'RETURNING' and ($1::uuid is null or world_id = $1) group by 1
    )
    select t.id, coalesce(flying.amount, 0) || ' in flight while ' || t.status as detail
    from transaction t left join flying on flying.id = t.id left join going_back on going_back.id = t.id
    where ($1::uuid is null or t.world_id = $1) and coalesce(flying.amount, 0) <>
      case when t.status in ('PROCESSING', 'SENT') then t.sent_amount else 0 end + coalesce(going_back.amount, 0)`,

  'a payment moved what it says, once': `
    with moved as (
      select t.id, string_agg(distinct e.kind, ' ') as kinds,
        count(distinct e.id) filter (where e.kind = 'DEBIT') as debits,
        count(distinct e.id) filter (where e.kind = 'COLLECTION') as collections,
        count(distinct e.id) filter (where e.kind = 'SETTLEMENT') as settlements,
        count(distinct e.id) filter (where e.kind = 'PAYOUT') as payouts,
        count(distinct e.id) filter (where e.kind = 'FUNDING') as fundings,
        sum(p.amount) filter (where e.kind = 'DEBIT' and a.id = t.source_account_id) as debited,
        sum(p.amount) filter (where e.kind = 'COLLECTION' and a.kind = 'IN_FLIGHT') as collected,
        sum(p.amount) filter (where e.kind in ('SETTLEMENT', 'PAYOUT', 'FUNDING') and e.currency = t.destination_currency
          and (a.id = t.destination_account_id or (a.kind = 'CLEARING' and t.destination_type <> 'INTERNAL_ACCOUNT'))) as delivered,
        sum(p.amount) filter (where e.kind = 'SETTLEMENT' and a.kind = 'FEES') as fees,
        sum(p.amount) filter (where e.kind = 'PAYOUT' and a.kind = 'COUNTERPARTY_FEES') as passed_on,
        sum(p.amount) filter (where e.kind = 'SETTLEMENT' and a.kind = 'FX_POSITION') as taken_in,
        sum(p.amount) filter (where a.id = t.source_account_id) as net_of_source
      from transaction t join ledger_entry e on e.transaction_id = t.id join ledger_posting p on p.entry_id = e.id
      join ledger_account a on a.id = p.account_id where $1::uuid is null or t.world_id = $1 group by t.id
    ), told as (
      select t.*, t.history @> '[{"status":"PROCESSING"}]' as begun, t.status = 'COMPLETED' as done, q.id is not null as priced,
        (q.rate_details->>'serviceApiFixedFee')::bigint + (q.rate_details->>'serviceApiVariableFeeAmount')::bigint as service_fees,
        (q.rate_details->>'counterpartyFixedFee')::bigint as counterparty_fee
      from transaction t left join quote q on q.id = t.quote_id where $1::uuid is null or t.world_id = $1
    )
    select t.id, t.status || ' with ' || coalesce(moved.kinds, 'nothing') as detail from told t left join moved on moved.id = t.id
    where coalesce(moved.debits, 0) <> (t.begun and t.source_type = 'INTERNAL_ACCOUNT')::int
      or coalesce(moved.collections, 0) <> (t.begun and t.source_type = 'EXTERNAL_ACCOUNT')::int
      or coalesce(moved.settlements, 0) <> (t.begun and t.done)::int
      or coalesce(moved.payouts, 0) <> (t.begun and t.done and t.priced)::int
      or coalesce(moved.fundings, 0) <> (t.done and not t.begun)::int
      or (moved.debits = 1 and moved.debited <> -t.sent_amount)
      or (moved.collections = 1 and moved.collected <> t.sent_amount)
      or (t.done and moved.delivered is distinct from t.received_amount)
      or (t.done and t.priced and (coalesce(moved.fees, 0) <> t.service_fees or moved.taken_in <> t.sent_amount - t.service_fees
        or coalesce(moved.passed_on, 0) <> t.counterparty_fee))
      or (t.source_type = 'INTERNAL_ACCOUNT' and coalesce(moved.net_of_source, 0) <>
        case when t.done or t.status in ('PROCESSING', 'SENT') then -t.sent_amount else 0 end)`,

  'what came in from outside is in the books, and what went back too': `
    with came as (
      select transaction_id as id, sum(amount) as amount, sum(amount) filter (where status = 'RETURNED') as back from deposit
      where $1::uuid is null or world_id = $1 group by 1
    ), booked as (
      select e.transaction_id as id,
        -sum(p.amount) filter (where e.kind in ('FUNDING', 'DEPOSIT', 'COLLECTION') and a.kind = 'CLEARING') as came,
        -sum(p.amount) filter (where e.kind in ('RETURN', 'REFUND') and a.kind = 'IN_FLIGHT') as back
      from ledger_entry e join ledger_posting p on p.entry_id = e.id join ledger_account a on a.id = p.account_id
      where $1::uuid is null or e.world_id = $1 group by 1
    )
    select t.id, 'came ' || coalesce(came.amount, 0) || ', booked ' || coalesce(booked.came, 0) || ', back ' || coalesce(came.back, 0)
      || ', booked ' || coalesce(booked.back, 0) as detail
    from transaction t left join came on came.id = t.id left join booked on booked.id = t.id
    where ($1::uuid is null or t.world_id = $1) and t.source_type <> 'INTERNAL_ACCOUNT'
      and (coalesce(came.amount, 0) <> coalesce(booked.came, 0) or coalesce(came.back, 0) <> coalesce(booked.back, 0))`,

  'an event of a payment tells a state it had': `
    select e.id, e.type || ' ' || coalesce(e.payload->'transaction'->>'status', '') as detail from event e
    left join transaction t on t.id = e.transaction_id and t.world_id = e.world_id
    where ($1::uuid is null or e.world_id = $1) and e.type in ('OUTGOING_PAYMENT', 'INCOMING_PAYMENT') and (t.id is null
      or e.resource_id <> 'Transaction:' || t.id
      or not t.history @> jsonb_build_array(jsonb_build_object('status', e.payload->'transaction'->'status')))`,

  'every state that is told has its event': [
    `
    select t.id, stage->>'status' as detail from transaction t cross join lateral jsonb_array_elements(t.history) stage
    where ($1::uuid is null or t.world_id = $1)
      and (stage->>'status' = any($2::text[]) or (t.quote_id is not null and stage->>'status' = any($3::text[])))
      and not exists (select 1 from event e where e.transaction_id = t.id and e.payload->'transaction'->>'status' = stage->>'status')`,
    toldStates('always'),
    toldStates('of quotes'),
  ],

  'every movement of a balance is told, with the balance before and after': `
    select p.id, min(e.kind) || ' on ' || min(a.id::text) as detail
    from ledger_account a join ledger_posting p on p.account_id = a.id join ledger_entry e on e.id = p.entry_id
    left join event told on told.transaction_id = e.transaction_id and told.resource_id = 'InternalAccount:' || a.id
      and (told.payload->'newBalance'->>'amount')::bigint = p.balance_after
      and (told.payload->'oldBalance'->>'amount')::bigint = p.balance_after - p.amount
    where a.kind = 'INTERNAL' and ($1::uuid is null or a.world_id = $1) group by p.id having count(told.id) <> 1`,

  'no balance is told to have moved that did not': `
    select told.id, told.resource_id as detail from event told
    where ($1::uuid is null or told.world_id = $1) and told.type = 'ACCOUNT_STATUS' and told.payload ? 'newBalance' and not exists (
      select 1 from ledger_entry e join ledger_posting p on p.entry_id = e.id
      where e.transaction_id = told.transaction_id and told.resource_id = 'InternalAccount:' || p.account_id
        and (told.payload->'newBalance'->>'amount')::bigint = p.balance_after)`,

  'an incoming UMA payment went on only when the platform approved of it': `
    select t.id, t.status || ' decided by ' || coalesce(a.decided_by::text, 'nobody') as detail
    from transaction t left join approval a on a.transaction_id = t.id and a.world_id = t.world_id
    where ($1::uuid is null or t.world_id = $1) and t.type = 'INCOMING' and t.source_type = 'UMA_ADDRESS'
      and (a.id is null or (t.history @> '[{"status":"PROCESSING"}]' and a.decided_by is null) or (t.status = 'PENDING' and a.decided_by is not null
        and not exists (select from pay_request r where r.id = t.id and r.settle_by is not null)))`,

  'events about a thing are numbered from one on, in the order of their positions': `
    select e.id, e.resource_id || ' ' || coalesce(e.sequence::text, 'no number') as detail from (
      select id, resource_id, position, sequence, world_id, row_number() over (partition by resource_id order by position) as place from event
    ) e where ($1::uuid is null or e.world_id = $1) and e.position is not null and e.sequence is distinct from e.place`,

  'whatever is under way has a task that takes it further': `
    select t.id, t.status::text as detail from transaction t left join quote q on q.id = t.quote_id
    left join task its on its.id = t.id left join task of_quote on of_quote.id = q.id
    left join approval a on a.transaction_id = t.id and t.status = 'PENDING' left join task of_approval on of_approval.id = a.id
    where ($1::uuid is null or t.world_id = $1) and (
      ((t.status in ('PROCESSING', 'SENT') or (t.status = 'PENDING' and coalesce(q.status, 'PROCESSING') = 'PROCESSING'))
        and its.id is null and of_approval.id is null)
      or (q.status = 'PENDING' and of_quote.id is null))
    union all
    select d.id, 'RETURNING' from deposit d left join task on task.id = d.id
    where ($1::uuid is null or d.world_id = $1) and d.status = 'RETURNING' and task.id is null`,
}

/** What is wrong; nothing, if all is well. `worldId` looks at one world only. Reads one consistent state of the database. */
export async function audit(database: Pick<Database, 'transaction'>, worldId: string | null = null): Promise<Finding[]> {
  return database.transaction(async (tx) => {
    await tx.script('set transaction isolation level repeatable read, read only')
    return examine(tx, worldId)
  })
}

/** The same within a transaction that is open already. */
export async function examine(tx: Queryable, worldId: string | null = null): Promise<Finding[]> {
  // Here whole tables are read and joined, once each, which our other statements never do; of one world, what it has.
  await tx.script(
    `set local statement_timeout = 0; set local jit = off; set local enable_nestloop = ${worldId === null ? 'off' : 'on'};
     set local enable_seqscan = on; set local enable_hashjoin = on; set local enable_mergejoin = on`,
  )
  const findings: Finding[] = []
  for (const [rule, query] of Object.entries(rules)) {
    const [sql, ...lists] = typeof query === 'string' ? [query] : query
    const rows = await tx.query<{ id: unknown; detail: string | null }>(sql, [worldId, ...lists])
    findings.push(...rows.map(({ id, detail }) => ({ rule, id: String(id), detail: detail ?? '' })))
  }
  return findings
}
