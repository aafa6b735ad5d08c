/**
 * The queue of webhook deliveries: which are due, who has them, and how their endpoints do. Of one resource, deliveries go one after the
 * other; an endpoint that fails again and again is paused and then tried with one delivery at a time, so a dead one costs little. Each
 * statement locks the endpoint's row before its deliveries.
 */
import { type Clock, day, minute, second } from '../base/clock.ts'
import { stringifyJson } from '../base/json.ts'
import { hasPersonal } from '../database/personal.ts'
import type { Queryable } from '../database/port.ts'
import type { WorldRow } from '../database/tables.ts'
import { bodyOf, type LoggedEvent } from './event.ts'

const horizonMs = 7 * day
/** Longer than an attempt may take: what a process that died had taken comes back then. */
const leaseMs = 20 * second
const failuresToPause = 5
const shortestPauseMs = 5 * second
const longestPauseMs = minute

export interface Delivery {
  /** The event's uuid. */
  id: string
  worldId: string
  type: string
  /** The specification's id of what it is about. */
  resourceId: string
  /** What is signed and sent. */
  body: string
  /** Sent once, whatever becomes of it. */
  once: boolean
  /** This one included. */
  attempts: number
  giveUpAt: Date
}

export interface Attempt {
  attemptedAt: Date
  url: string
  durationMs: number
  responseStatus: number | undefined
  responseBody: string | undefined
  /** Why there was no answer. */
  error: string | undefined
}

export interface Verdict {
  acknowledged: boolean
  /** When to try again; undefined: it is over. */
  nextAttemptAt: Date | undefined
  /** The endpoint's own wish to be left alone. */
  pauseUntil: Date | undefined
}

const instantOf = 'coalesce(pinned, clock_timestamp())'

/** Those whose turn it is among the deliveries of a resource that are not over. */
const release = (resource: string) => `
  update webhook_delivery set next_attempt_at = instant where next_attempt_at is null and status = 'PENDING' and id = (
    select p.id from webhook_delivery p where p.resource_id = ${resource} and p.status = 'PENDING' order by p.position limit 1);`

export const outboxRoutine = `
create or replace function enqueue_deliveries(pinned timestamptz, items json, again boolean) returns int
language plpgsql set enable_seqscan = off as $function$
declare
  instant timestamptz := ${instantOf};
  worlds uuid[] := array(select distinct world_id from json_to_recordset(items) as item(world_id uuid) order by 1);
  queued int;
begin
  insert into webhook_endpoint (world_id, failures) select unnest(worlds), 0 on conflict do nothing;
  perform 1 from webhook_endpoint where world_id = any(worlds) order by world_id for update;
  insert into webhook_delivery (id, world_id, position, type, resource_id, body, once, status, attempts, next_attempt_at, give_up_at, created_at)
  select d.id, d.world_id, d.position, d.type, d.resource_id, d.body, d.once, 'PENDING', 0,
    case when row_number() over (partition by d.resource_id order by d.position) = 1 and not exists (
      select 1 from webhook_delivery p where p.resource_id = d.resource_id and p.status = 'PENDING' and p.position < d.position
    ) then instant end,
    instant + interval '${horizonMs} milliseconds', d.created_at
  from json_to_recordset(items) as d(
    id uuid, world_id uuid, position bigint, type text, resource_id text, body text, once boolean, created_at timestamptz)
  on conflict (id) do update
    set status = 'PENDING', attempts = 0, next_attempt_at = excluded.next_attempt_at, give_up_at = excluded.give_up_at
    where again and webhook_delivery.status <> 'PENDING';
  get diagnostics queued = row_count;
  -- A TEST says that the endpoint is new, or that somebody has looked after it.
  update webhook_endpoint set failures = 0, paused_until = null where world_id = any(array(
    select world_id from json_to_recordset(items) as item(world_id uuid, type text) where type = 'TEST'));
  -- Somebody wants to see it go.
  if again then update webhook_endpoint set paused_until = null where world_id = any(worlds); end if;
  update webhook_endpoint set due_at = instant where world_id = any(worlds) and (due_at is null or due_at > instant);
  return queued;
end $function$;

create or replace function take_deliveries(pinned timestamptz, free int, most int, busy_worlds uuid[], busy_counts int[]) returns setof webhook_delivery
language plpgsql set enable_seqscan = off set synchronous_commit = off as $function$
declare
  instant timestamptz := ${instantOf};
  leased timestamptz := instant + interval '${leaseMs} milliseconds';
  lane record;
  late record;
  room int;
  ids uuid[];
begin
  for lane in
    select e.world_id, e.failures, coalesce(e.paused_until > instant, false) as paused
    from webhook_endpoint e where e.due_at <= instant order by e.due_at limit 100 for update skip locked
  loop
    for late in
      select id, resource_id from webhook_delivery where world_id = lane.world_id and status = 'PENDING' and give_up_at < instant limit 100
    loop
      update webhook_delivery set status = 'FAILED', next_attempt_at = null where id = late.id;${release('late.resource_id')}
    end loop;

    room := least(free, most - coalesce(busy_counts[array_position(busy_worlds, lane.world_id)], 0));
    -- After a pause one delivery tries how things are; nothing else goes until it is back.
    if lane.failures >= ${failuresToPause} then room := least(room, 1); end if;
    if lane.paused then room := 0; end if;
    ids := array(select id from webhook_delivery where world_id = lane.world_id and once and next_attempt_at <= instant limit 10 for update)
      || array(select id from webhook_delivery where world_id = lane.world_id and not once and next_attempt_at <= instant
        order by next_attempt_at limit greatest(room, 0) for update);
    free := free - cardinality(ids);
    return query update webhook_delivery d set next_attempt_at = leased, attempts = d.attempts + 1 where d.id = any(ids) returning d.*;

    if lane.failures >= ${failuresToPause} and not lane.paused and cardinality(ids) > 0 then
      update webhook_endpoint set paused_until = leased where world_id = lane.world_id;
    end if;
    update webhook_endpoint e set due_at = greatest(
      (select d.next_attempt_at from webhook_delivery d where d.world_id = e.world_id and d.next_attempt_at is not null order by d.next_attempt_at limit 1),
      e.paused_until
    ) where e.world_id = lane.world_id;
    exit when free <= 0;
  end loop;
end $function$;

create or replace function record_attempt(
  pinned timestamptz, delivery uuid, attempted timestamptz, to_url text, duration int, answered int, answer text, fault text,
  acknowledged boolean, next timestamptz, pause timestamptz
) returns void language plpgsql set enable_seqscan = off set synchronous_commit = off as $function$
declare
  instant timestamptz := ${instantOf};
  tried record;
  lane record;
begin
  select d.world_id, d.resource_id into tried from webhook_delivery d where d.id = delivery;
  select e.failures + 1 as failures into lane from webhook_endpoint e where e.world_id = tried.world_id for update;
  insert into webhook_attempt (delivery_id, attempted_at, url, duration_ms, response_status, response_body, error)
  values (delivery, attempted, to_url, duration, answered, answer, fault);
  update webhook_delivery set next_attempt_at = next,
    status = (case when acknowledged then 'DELIVERED' when next is null then 'FAILED' else 'PENDING' end)::"DeliveryStatus"
  where id = delivery;
  if acknowledged or next is null then${release('tried.resource_id')}
  end if;
  if acknowledged then
    update webhook_endpoint set failures = 0, paused_until = null, last_success_at = instant, due_at = instant where world_id = tried.world_id;
  else
    update webhook_endpoint set failures = lane.failures, last_failure_at = instant, last_error = coalesce(fault, 'answered ' || answered),
      paused_until = greatest(pause, case when lane.failures >= ${failuresToPause} then instant
        + least(${shortestPauseMs} * power(2, least(lane.failures - ${failuresToPause}, 20)), ${longestPauseMs}) * interval '1 millisecond' end),
      due_at = case when next is null then instant else least(due_at, next) end
    where world_id = tried.world_id;
  end if;
end $function$;`

/** Requests for approval are answered once, and a TEST is sent once. */
function isOnce({ type, payload }: LoggedEvent): boolean {
  return type === 'TEST' || isApprovalRequest({ type, payload })
}

export function isApprovalRequest({ type, payload }: Pick<LoggedEvent, 'type' | 'payload'>): boolean {
  return type === 'INCOMING_PAYMENT' && (payload['transaction'] as { status?: unknown } | undefined)?.status === 'PENDING'
}

/** An event, in the form that its platform wants. */
export type AddressedEvent = LoggedEvent & Pick<WorldRow, 'webhookEnvelope'>

/** Puts events in the queue, those that are over once more if `again`. Says how many it put there. */
export async function enqueue(
  tx: Queryable,
  clock: Clock,
  events: readonly AddressedEvent[],
  { again }: { again: boolean },
): Promise<number> {
  if (events.length === 0) return 0
  const items = events.map((event) => ({
    id: event.uuid,
    world_id: event.worldId,
    position: event.position,
    type: event.type,
    resource_id: event.resourceId,
    body: sealedBody(tx, event),
    once: isOnce(event),
    created_at: event.createdAt,
  }))
  const [row] = await tx.query<{ queued: number }>(
    'select enqueue_deliveries($1::timestamptz, $2::text::json, $3::boolean) as queued',
    [clock.pinned(), stringifyJson(items), again],
  )
  return row!.queued
}

/** With what is personal in it, it is sealed as a whole: opened it must be the same bytes again. */
function sealedBody({ vault }: Queryable, event: AddressedEvent): string {
  const body = bodyOf(event, event.webhookEnvelope)
  return hasPersonal(event.payload) ? vault.seal(body) : body
}

/**
 * What is due, `free` at most and `most` at a time to one endpoint, which this process is sending `busy` to already. Taking moves the due
 * time ahead.
 */
export function takeDeliveries(
  database: Queryable,
  clock: Clock,
  { free, most, busy }: { free: number; most: number; busy: ReadonlyMap<string, number> },
): Promise<Delivery[]> {
  return database.query<Delivery>(
    `select id, world_id as "worldId", type, resource_id as "resourceId", body, once, attempts, give_up_at as "giveUpAt"
     from take_deliveries($1::timestamptz, $2::int, $3::int, $4::uuid[], $5::text[]::int[])`,
    [clock.pinned(), free, most, [...busy.keys()], [...busy.values()].map(String)],
  )
}

export async function recordAttempt(
  database: Queryable,
  clock: Clock,
  { id }: Delivery,
  { attemptedAt, url, durationMs, responseStatus, responseBody, error }: Attempt,
  { acknowledged, nextAttemptAt, pauseUntil }: Verdict,
): Promise<void> {
  await database.query(
    `select record_attempt($1::timestamptz, $2::uuid, $3::timestamptz, $4::text, $5::int, $6::int, $7::text, $8::text, $9::boolean,
       $10::timestamptz, $11::timestamptz)`,
    [
      clock.pinned(),
      id,
      attemptedAt,
      url,
      durationMs,
      responseStatus ?? null,
      // An approval may say who is paid.
      responseBody ? database.vault.seal(responseBody) : (responseBody ?? null),
      error ?? null,
      acknowledged,
      nextAttemptAt ?? null,
      pauseUntil ?? null,
    ],
  )
}
