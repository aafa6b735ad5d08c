/**
 * The SQL function behind every write. It takes a batch of plans, decides one by one which of them can go, and writes all of those
 * with one statement per table. It is code, not history: it is made from the tables' columns, named by the digest of its text, and
 * installed at start, so gateways of two versions can work on one database.
 *
 * It locks, in this order and each in id order: the rows that plans change, table by table; then the balances they move.
 *
 * What is many and small comes as arrays, one element per thing; rows come as JSON text, one list per table, which is cheaper to read than
 * `jsonb`: no tree is built of it.
 */
import { createHash } from 'node:crypto'
import { columnNames, type InsertedRows, type VersionedRows } from '../database/tables.ts'

const insertedTables: readonly (keyof InsertedRows)[] = [
  'platform',
  'world',
  'api_token',
  'viewer_token',
  'persisted_operation',
  'signing_key',
  'customer',
  'ledger_account',
  'internal_account',
  'external_account',
  'quote',
  'transaction',
  'deposit',
  'approval',
  'invitation',
  'kyc_link',
  'link_token',
  'bulk_job',
  'lookup',
  'uma_key',
  'pay_request',
  'task',
]

export const versionedTables: readonly (keyof VersionedRows)[] = [
  'world',
  'api_token',
  'customer',
  'external_account',
  'quote',
  'transaction',
  'deposit',
  'approval',
  'invitation',
  'kyc_link',
  'link_token',
  'bulk_job',
  'pay_request',
]

/** The tables that plans take rows from. */
const removedTables = ['api_token', 'viewer_token', 'persisted_operation', 'lookup', 'bulk_row', 'task'] as const

export type RemovedTable = (typeof removedTables)[number]

/**
 * The parts of a batch that are lists, by the place of their JSON text in the parameter `parts`. Beside `insert …` and `update …`, lists of
 * rows, stands in `…plans` which plan each row belongs to.
 */
export const parts: ReadonlyMap<string, number> = new Map(
  [
    'keys',
    'periods',
    'events',
    ...insertedTables.flatMap((table) => [`insert ${table}`, `insert ${table} plans`]),
    ...versionedTables.flatMap((table) => [`update ${table}`, `update ${table} plans`, `changing ${table}`, `relied ${table}`]),
    ...removedTables.flatMap((table) => [`remove ${table}`, `remove ${table} plans`]),
  ].map((name, index) => [name, index + 1]),
)

/** The JSON text of a part. */
function part(name: string): string {
  return `parts[${parts.get(name)!}]`
}

/** A part that is a PostgreSQL array. */
function array(name: string, type: string): string {
  return `${part(name)}::${type}[]`
}

const neverChanged = new Set(['id', 'world_id', 'created_at'])

// Slots are numbered on from table to table; a table's ids are sorted, so width_bucket says which of them one is.
const guardRows = versionedTables
  .flatMap((table) =>
    (['changing', 'relied'] as const).map(
      (name) => `
  if ${part(`${name} ${table}`)} is not null then
    ids := ${array(`${name} ${table}`, 'uuid')};
    for found in select t.id, t.version from ${table} t where t.id = any(ids)${name === 'changing' ? ' order by t.id for no key update' : ''} loop
      version_of[slots + width_bucket(found.id, ids)] := found.version;
    end loop;
    slots := slots + cardinality(ids);
  end if;`,
    ),
  )
  .join('')

const insertRows = insertedTables
  .map(
    (table) => `
  if ${part(`insert ${table}`)} is not null then
    plan_of := ${array(`insert ${table} plans`, 'int')};
    insert into ${table} (${columnNames(table).join(', ')})
    select ${columnNames(table)
      .map((column) => `r.${column}`)
      .join(', ')}
    from rows from (json_populate_recordset(null::${table}, ${part(`insert ${table}`)}::json)) with ordinality as r
    where going[plan_of[r.ordinality]];
  end if;`,
  )
  .join('')

const updateRows = versionedTables
  .map((table) => {
    const columns = columnNames(table).filter((column) => !neverChanged.has(column))
    return `
  if ${part(`update ${table}`)} is not null then
    plan_of := ${array(`update ${table} plans`, 'int')};
    select array_agg(r.id order by r.id), array_agg(r order by r.id) into ids, changed_${table}
    from json_array_elements(${part(`update ${table}`)}::json) with ordinality as item(value, nth), json_populate_record(null::${table}, item.value) r
    where going[plan_of[item.nth]];
    update ${table} t set (${columns.join(', ')}) = (
      select ${columns.map((column) => `r.${column}`).join(', ')} from unnest(changed_${table}[width_bucket(t.id, ids):width_bucket(t.id, ids)]) r
    ) where t.id = any(ids);
  end if;`
  })
  .join('')

const removeRows = removedTables
  .map(
    (table) => `
  if ${part(`remove ${table}`)} is not null then
    plan_of := ${array(`remove ${table} plans`, 'int')};
    ids := array(select gone.id from unnest(${array(`remove ${table}`, 'uuid')}) with ordinality as gone(id, nth) where going[plan_of[gone.nth]]);
    delete from ${table} t where t.id = any(ids);
  end if;`,
  )
  .join('')

const changedRows = versionedTables.map((table) => `  changed_${table} ${table}[];`).join('\n')

const body = `(
  pinned timestamptz, plan_count int,
  guard_plan int[], guard_slot int[], guard_version int[], guard_changes boolean[],
  account_ids uuid[], move_plan int[], move_slot int[], move_amount bigint[],
  entry_plan int[], entry_id uuid[], entry_world uuid[], entry_transaction uuid[], entry_kind text[], entry_currency text[],
  posting_entry int[], posting_account uuid[], posting_amount bigint[], posting_move int[],
  parts text[]
) returns jsonb language plpgsql
-- Its plans are made when the tables are small and kept while they grow, so no statement leaves the planner a choice: tables are only ever
-- asked for keys, and never joined with what stands in the batch.
set enable_seqscan = off set enable_bitmapscan = off set enable_hashjoin = off set enable_mergejoin = off
as $function$
declare
  instant timestamptz;
  verdict text[] := array_fill('done'::text, array[plan_count]);
  going boolean[] := array_fill(true, array[plan_count]);
  known jsonb := '{}';
  guard_count int := cardinality(guard_plan);
  move_count int := cardinality(move_plan);
  version_of int[] := array_fill(null::int, array[guard_count]);
  balance_of bigint[] := array_fill(null::bigint, array[move_count]);
  balance_after bigint[] := array_fill(null::bigint, array[move_count]);
  balance bigint;
  found record;
  ids uuid[];
  plan_of int[];
  slots int := 0;
  guard int := 1;
  first_guard int;
  move int := 1;
  first_move int;
${changedRows}
begin
  -- Keys that have been answered before.
  if ${part('keys')} is not null then
    for found in
      select claim.plan, answered.input_hash, answered.reply
      from json_to_recordset(${part('keys')}::json) as claim(plan int, world_id uuid, operation text, key text)
      cross join lateral (
        select k.input_hash, k.reply from idempotency_key k
        where k.world_id = claim.world_id and k.operation = claim.operation and k.key = claim.key offset 0
      ) answered
    loop
      verdict[found.plan] := 'known';
      known := known || jsonb_build_object(found.plan::text, jsonb_build_object('inputHash', found.input_hash, 'reply', found.reply));
    end loop;
  end if;

  -- The rows plans rely on, and the balances they move: locked, then read.${guardRows}
  if move_count > 0 then
    for found in select a.id, a.balance from ledger_account a where a.id = any(account_ids) order by a.id for no key update loop
      balance_of[width_bucket(found.id, account_ids)] := found.balance;
    end loop;
  end if;

  -- The instant is taken behind the locks, so it never goes back along an account. By it, plans whose time has passed or not yet come.
  instant := date_trunc('milliseconds', coalesce(pinned, clock_timestamp()));
  if ${part('periods')} is not null then
    for found in
      select period.plan, coalesce(instant < period.not_before, false) as early
      from json_to_recordset(${part('periods')}::json) as period(plan int, not_before timestamptz, before timestamptz)
      where instant < period.not_before or instant >= period.before
    loop
      if verdict[found.plan] = 'done' then verdict[found.plan] := case when found.early then 'early' else 'late' end; end if;
    end loop;
  end if;

  -- Which plans go, in their order: each sees what the ones before it leave.
  for plan in 1..plan_count loop
    first_guard := guard;
    while guard <= guard_count and guard_plan[guard] = plan loop
      if verdict[plan] = 'done' and version_of[guard_slot[guard]] is distinct from guard_version[guard] then
        verdict[plan] := 'moved';
      end if;
      guard := guard + 1;
    end loop;

    first_move := move;
    while move <= move_count and move_plan[move] = plan loop
      if verdict[plan] = 'done' then
        balance := balance_of[move_slot[move]] + move_amount[move];
        if balance is null then raise exception 'plan % moves a balance that does not exist', plan; end if;
        if balance < 0 then
          verdict[plan] := 'short';
          for undone in first_move..move - 1 loop
            balance_of[move_slot[undone]] := balance_of[move_slot[undone]] - move_amount[undone];
          end loop;
        else
          balance_of[move_slot[move]] := balance;
          balance_after[move] := balance;
        end if;
      end if;
      move := move + 1;
    end loop;

    going[plan] := verdict[plan] = 'done';
    if going[plan] then
      for taken in first_guard..guard - 1 loop
        if guard_changes[taken] then version_of[guard_slot[taken]] := guard_version[taken] + 1; end if;
      end loop;
    end if;
  end loop;

  -- All of those, one statement per table.${insertRows}${updateRows}${removeRows}

  if cardinality(entry_id) > 0 then
    insert into ledger_entry (id, world_id, transaction_id, kind, currency, created_at)
    select e.id, e.world_id, e.transaction_id, e.kind, e.currency, instant
    from unnest(entry_plan, entry_id, entry_world, entry_transaction, entry_kind, entry_currency)
      as e(plan, id, world_id, transaction_id, kind, currency)
    where going[e.plan];

    insert into ledger_posting (entry_id, account_id, amount, balance_after, created_at)
    select entry_id[p.entry], p.account, p.amount, balance_after[p.move], instant
    from unnest(posting_entry, posting_account, posting_amount, posting_move) as p(entry, account, amount, move)
    where going[entry_plan[p.entry]];

    if exists (
      select 1
      from unnest(posting_entry, posting_account, posting_amount, posting_move) as p(entry, account, amount, move)
      left join ledger_account a on a.id = p.account and a.currency = entry_currency[p.entry] and a.world_id = entry_world[p.entry]
      where going[entry_plan[p.entry]]
      group by p.entry
      having sum(p.amount) <> 0 or count(*) <> count(a.id) or bool_or((a.balance is null) <> (p.move is null))
    ) then
      raise exception 'an entry is out of balance or posts to an account of another currency or world';
    end if;

    update ledger_account a set balance = balance_of[width_bucket(a.id, account_ids)], updated_at = instant
    where a.id = any(account_ids) and a.balance <> balance_of[width_bucket(a.id, account_ids)];
  end if;

  if ${part('events')} is not null then
    insert into event (uuid, world_id, type, resource_id, customer_id, transaction_id, payload, created_at)
    select e.uuid, e.world_id, e.type, e.resource_id, e.customer_id, e.transaction_id,
      case when e.first_move is null then e.payload
      else jsonb_set(
        jsonb_set(e.payload, '{oldBalance,amount}', to_jsonb(balance_after[e.first_move] - move_amount[e.first_move])),
        '{newBalance,amount}', to_jsonb(balance_after[e.last_move]))
      end,
      instant
    from json_to_recordset(${part('events')}::json) as e(
      plan int, uuid uuid, world_id uuid, type text, resource_id text, customer_id uuid, transaction_id uuid, payload jsonb,
      first_move int, last_move int)
    where going[e.plan];
  end if;

  if ${part('keys')} is not null then
    insert into idempotency_key (world_id, operation, key, input_hash, reply, created_at)
    select k.world_id, k.operation, k.key, k.input_hash,
      case when k.reply_move is null then k.reply
      else jsonb_set(k.reply, k.reply_path, to_jsonb(balance_after[k.reply_move])) end,
      instant
    from json_to_recordset(${part('keys')}::json) as k(
      plan int, world_id uuid, operation text, key text, input_hash text, reply jsonb, reply_path text[], reply_move int)
    where going[k.plan];
  end if;

  return jsonb_build_object('at', instant, 'verdicts', to_jsonb(verdict), 'known', known, 'balanceAfter', to_jsonb(balance_after));
end $function$`

const commitFunctionName = `commit_plans_${createHash('sha256').update(body).digest('hex').slice(0, 12)}`

export const commitFunction = `create or replace function ${commitFunctionName}${body};`

const parameterTypes = [
  'timestamptz',
  'int',
  'int[]',
  'int[]',
  'int[]',
  'boolean[]',
  'uuid[]',
  'int[]',
  'int[]',
  'bigint[]',
  'int[]',
  'uuid[]',
  'uuid[]',
  'uuid[]',
  'text[]',
  'text[]',
  'int[]',
  'uuid[]',
  'bigint[]',
  'int[]',
]

/** Arrays are passed as their text, and after them the parts, each as one parameter, so that nothing has to be quoted. */
export const commitCall = `select ${commitFunctionName}(${parameterTypes
  .map((type, index) => (type.endsWith('[]') ? `$${index + 1}::text::${type}` : `$${index + 1}::${type}`))
  .join(', ')}, array[${[...parts.values()].map((place) => `$${parameterTypes.length + place}::text`).join(', ')}]) as result`
