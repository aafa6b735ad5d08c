/**
 * The SQL function behind every write. It takes a batch of plans, decides one by one which of them can go, and writes all of those
 * with one statement per table. It is code, not history: it is made from the tables' columns, named by the digest of its text, and
 * installed at start, so gateways of two versions can work on one database.
 *
 * It locks, in this order and each in id order: the rows that plans change, table by table; then the balances they move.
 */
import { createHash } from 'node:crypto'
import { columnNames, type InsertedRows, type VersionedRows } from '../database/tables.ts'

const insertedTables: readonly (keyof InsertedRows)[] = [
  'platform',
  'world',
  'api_token',
  'signing_key',
  'customer',
  'ledger_account',
  'internal_account',
  'external_account',
  'quote',
  'transaction',
  'deposit',
  'lookup',
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
]

const neverChanged = new Set(['id', 'world_id', 'created_at'])

const guardRows = versionedTables
  .map(
    (table) => `
  if changing ? '${table}' then
    ids := array(select jsonb_array_elements_text(changing->'${table}'->'ids'))::uuid[];
    before_first := (changing->'${table}'->>'beforeFirst')::int;
    for found in select t.id, t.version from ${table} t where t.id = any(ids) order by t.id for no key update loop
      version_of[before_first + width_bucket(found.id, ids)] := found.version;
    end loop;
  end if;
  if relied ? '${table}' then
    ids := array(select jsonb_array_elements_text(relied->'${table}'->'ids'))::uuid[];
    before_first := (relied->'${table}'->>'beforeFirst')::int;
    for found in select t.id, t.version from ${table} t where t.id = any(ids) loop
      version_of[before_first + width_bucket(found.id, ids)] := found.version;
    end loop;
  end if;`,
  )
  .join('')

const insertRows = insertedTables
  .map(
    (table) => `
  if inserts ? '${table}' then
    insert into ${table} (${columnNames(table).join(', ')})
    select ${columnNames(table)
      .map((column) => `r.${column}`)
      .join(', ')}
    from jsonb_array_elements(inserts->'${table}') item, jsonb_populate_record(null::${table}, item->'row') r
    where going[(item->>'plan')::int];
  end if;`,
  )
  .join('')

const updateRows = versionedTables
  .map((table) => {
    const columns = columnNames(table).filter((column) => !neverChanged.has(column))
    return `
  if updates ? '${table}' then
    select jsonb_object_agg(item->'row'->>'id', item->'row') into changed
    from jsonb_array_elements(updates->'${table}') item where going[(item->>'plan')::int];
    ids := array(select jsonb_object_keys(changed))::uuid[];
    update ${table} t set (${columns.join(', ')}) = (
      select ${columns.map((column) => `r.${column}`).join(', ')} from jsonb_populate_record(null::${table}, changed->t.id::text) r
    ) where t.id = any(ids);
  end if;`
  })
  .join('')

const removeRows = (['api_token', 'lookup', 'task'] as const)
  .map(
    (table) => `
  if removals ? '${table}' then
    ids := array(select (item->>'id')::uuid from jsonb_array_elements(removals->'${table}') item where going[(item->>'plan')::int]);
    delete from ${table} t where t.id = any(ids);
  end if;`,
  )
  .join('')

const body = `(
  batch jsonb, pinned timestamptz, plan_count int,
  guard_plan int[], guard_slot int[], guard_version int[], guard_changes boolean[],
  move_plan int[], move_slot int[], move_amount bigint[]
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
  guard_count int := coalesce(array_length(guard_plan, 1), 0);
  move_count int := coalesce(array_length(move_plan, 1), 0);
  version_of int[] := array_fill(null::int, array[guard_count]);
  balance_of bigint[] := array_fill(null::bigint, array[move_count]);
  balance_after bigint[] := array_fill(null::bigint, array[move_count]);
  balance bigint;
  found record;
  ids uuid[];
  account_ids uuid[];
  before_first int;
  changed jsonb;
  -- Its parts, taken out once: to take one out is to copy it.
  keys jsonb := batch->'keys';
  periods jsonb := batch->'periods';
  changing jsonb := batch->'changing';
  relied jsonb := batch->'relied';
  accounts jsonb := batch->'accounts';
  inserts jsonb := batch->'insert';
  updates jsonb := batch->'update';
  removals jsonb := batch->'remove';
  entries jsonb := batch->'entries';
  postings jsonb := batch->'postings';
  events jsonb := batch->'events';
  guard int := 1;
  first_guard int;
  move int := 1;
  first_move int;
begin
  -- Keys that have been answered before.
  for found in
    select claim.plan, answered.input_hash, answered.reply
    from jsonb_to_recordset(keys) as claim(plan int, world_id uuid, operation text, key text)
    cross join lateral (
      select k.input_hash, k.reply from idempotency_key k
      where k.world_id = claim.world_id and k.operation = claim.operation and k.key = claim.key offset 0
    ) answered
  loop
    verdict[found.plan] := 'known';
    known := known || jsonb_build_object(found.plan::text, jsonb_build_object('inputHash', found.input_hash, 'reply', found.reply));
  end loop;

  -- The rows plans rely on, and the balances they move: locked, then read. Of sorted
  -- ids, width_bucket says which one it is.${guardRows}
  account_ids := array(select jsonb_array_elements_text(accounts))::uuid[];
  for found in select a.id, a.balance from ledger_account a where a.id = any(account_ids) order by a.id for no key update loop
    balance_of[width_bucket(found.id, account_ids)] := found.balance;
  end loop;

  -- The instant is taken behind the locks, so it never goes back along an account. By it, plans whose time has passed or not yet come.
  instant := date_trunc('milliseconds', coalesce(pinned, clock_timestamp()));
  for found in
    select period.plan, instant < period.not_before as early
    from jsonb_to_recordset(periods) as period(plan int, not_before timestamptz, before timestamptz)
    where instant < period.not_before or instant >= period.before
  loop
    if verdict[found.plan] = 'done' then verdict[found.plan] := case when found.early then 'early' else 'late' end; end if;
  end loop;

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

  if entries is not null then
    insert into ledger_entry (id, world_id, transaction_id, kind, currency, created_at)
    select e.id, e.world_id, e.transaction_id, e.kind, e.currency, instant
    from jsonb_to_recordset(entries) as e(plan int, id uuid, world_id uuid, transaction_id uuid, kind text, currency text)
    where going[e.plan];

    insert into ledger_posting (entry_id, account_id, amount, balance_after, created_at)
    select p.entry_id, p.account_id, p.amount, balance_after[p.move], instant
    from jsonb_to_recordset(postings) as p(plan int, entry_id uuid, account_id uuid, amount bigint, move int)
    where going[p.plan];

    if exists (
      select 1
      from jsonb_to_recordset(postings) as p(
        plan int, entry_id uuid, account_id uuid, amount bigint, move int, world_id uuid, currency text)
      left join ledger_account a on a.id = p.account_id and a.currency = p.currency and a.world_id = p.world_id
      where going[p.plan]
      group by p.entry_id
      having sum(p.amount) <> 0 or count(*) <> count(a.id) or bool_or((a.balance is null) <> (p.move is null))
    ) then
      raise exception 'an entry is out of balance or posts to an account of another currency or world';
    end if;

    update ledger_account a set balance = balance_of[width_bucket(a.id, account_ids)], updated_at = instant
    where a.id = any(account_ids) and a.balance <> balance_of[width_bucket(a.id, account_ids)];
  end if;

  if events is not null then
    insert into event (uuid, world_id, type, resource_id, customer_id, transaction_id, payload, created_at)
    select e.uuid, e.world_id, e.type, e.resource_id, e.customer_id, e.transaction_id,
      case when e.first_move is null then e.payload
      else jsonb_set(
        jsonb_set(e.payload, '{oldBalance,amount}', to_jsonb(balance_after[e.first_move] - move_amount[e.first_move])),
        '{newBalance,amount}', to_jsonb(balance_after[e.last_move]))
      end,
      instant
    from jsonb_to_recordset(events) as e(
      plan int, uuid uuid, world_id uuid, type text, resource_id text, customer_id uuid, transaction_id uuid, payload jsonb,
      first_move int, last_move int)
    where going[e.plan];
  end if;

  if keys is not null then
    insert into idempotency_key (world_id, operation, key, input_hash, reply, created_at)
    select k.world_id, k.operation, k.key, k.input_hash,
      case when k.reply_move is null then k.reply
      else jsonb_set(k.reply, k.reply_path, to_jsonb(balance_after[k.reply_move])) end,
      instant
    from jsonb_to_recordset(keys) as k(
      plan int, world_id uuid, operation text, key text, input_hash text, reply jsonb, reply_path text[], reply_move int)
    where going[k.plan];
  end if;

  return jsonb_build_object('at', instant, 'verdicts', to_jsonb(verdict), 'known', known, 'balanceAfter', to_jsonb(balance_after));
end $function$`

const commitFunctionName = `commit_plans_${createHash('sha256').update(body).digest('hex').slice(0, 12)}`

export const commitFunction = `create or replace function ${commitFunctionName}${body};`

export const commitCall = `select ${commitFunctionName}(
  $1::text::jsonb, $2::timestamptz, $3::int, $4::text::int[], $5::text::int[], $6::text::int[], $7::text::boolean[],
  $8::text::int[], $9::text::int[], $10::text::bigint[]) as result`
