/**
 * Webhooks: a follower of the event log turns events into deliveries, signed bodies on their way to an endpoint; then each delivery is
 * sent until it is acknowledged or its time is over. Every attempt is kept.
 */
import { cached } from '../base/cached.ts'
import { type Clock, second } from '../base/clock.ts'
import { stringifyJson } from '../base/json.ts'
import type { Core } from '../core/operation.ts'
import { readSigningKeys } from '../core/platform/signing-keys.ts'
import type { Database, Queryable } from '../database/port.ts'
import type { SigningKeyRow } from '../database/tables.ts'
import { envelope, eventColumns, type LoggedEvent } from '../log/event.ts'
import { isAcknowledged, nextAttemptAt } from './policy.ts'
import type { Poster } from './post.ts'
import { signatureHeader, signatureOf } from './signature.ts'

const followerName = 'webhooks'
const eventsAtOnce = 200
const deliveriesAtOnce = 20
/** Longer than a POST may take. */
const leaseMs = 20 * second

/** Before the first `followLog`. */
export async function prepareFollower(database: Queryable): Promise<void> {
  await database.query('insert into follower (name, position) values ($1, 0) on conflict do nothing', [followerName])
}

type EventWithEndpoint = LoggedEvent & { url: string }

/** Turns new events into deliveries; true if there were any. One process at a time does this. */
export async function followLog(database: Database): Promise<boolean> {
  return database.transaction(async (tx) => {
    const [follower] = await tx.query<{ position: bigint }>(
      'select position from follower where name = $1 for update skip locked',
      [followerName],
    )
    if (!follower) return false
    const [page] = await tx.query<{ last: bigint | null }>(
      `select max(position) as last from (select position from event where position > $1 order by position limit ${eventsAtOnce}) page`,
      [follower.position],
    )
    if (!page || page.last === null) return false
    const events = await tx.query<EventWithEndpoint>(
      `select ${eventColumns}, w.webhook_endpoint as url from event e join world w on w.id = e.world_id
       where e.position > $1 and e.position <= $2 and w.webhook_endpoint is not null order by e.position`,
      [follower.position, page.last],
    )
    if (events.length > 0) await insertDeliveries(tx, events)
    await tx.query('update follower set position = $2 where name = $1', [followerName, page.last])
    return true
  })
}

async function insertDeliveries(tx: Queryable, events: readonly EventWithEndpoint[]): Promise<void> {
  const deliveries = events.map((event) => ({
    id: event.uuid,
    world_id: event.worldId,
    type: event.type,
    url: event.url,
    body: stringifyJson(envelope(event)),
    created_at: event.createdAt,
  }))
  await tx.query(
    `insert into webhook_delivery (id, world_id, type, url, body, status, attempts, next_attempt_at, created_at)
     select id, world_id, type, url, body, 'PENDING', 0, created_at, created_at
     from jsonb_to_recordset($1::text::jsonb) as d(id uuid, world_id uuid, type text, url text, body text, created_at timestamptz)
     on conflict do nothing`,
    [stringifyJson(deliveries)],
  )
}

export interface Sender {
  /** Sends what is due; true if there was anything. */
  sendDue(): Promise<boolean>
}

interface Delivery {
  id: string
  worldId: string
  type: string
  url: string
  body: string
  attempts: number
  createdAt: Date
}

export function createSender({ database, clock, worlds, settings }: Core, poster: Poster): Sender {
  const keys = cached(async (worldId) => (await readSigningKeys(database, worldId)).find(({ status }) => status === 'ACTIVE'))

  async function send(delivery: Delivery): Promise<void> {
    const [key, world] = await Promise.all([keys.get(delivery.worldId), worlds.get(delivery.worldId)])
    if (!key || !world) throw new Error(`a delivery of a world without a signing key: ${delivery.worldId}`)
    const allowLocal = settings.allowLocalWebhooks && world.environment === 'SANDBOX'
    const startedAt = performance.now()
    const attempt = await tryPost(poster, delivery, key, allowLocal)
    await record(database, clock, delivery, { ...attempt, durationMs: Math.round(performance.now() - startedAt) })
  }

  return {
    async sendDue() {
      const due = await takeDue(database, clock)
      await Promise.all(due.map(send))
      return due.length > 0
    },
  }
}

function takeDue(database: Database, clock: Clock): Promise<Delivery[]> {
  return database.query<Delivery>(
    `update webhook_delivery d set next_attempt_at = coalesce($1::timestamptz, clock_timestamp()) + make_interval(secs => ${leaseMs / second}),
       attempts = attempts + 1
     where d.id = any(array(
       select id from webhook_delivery where next_attempt_at <= coalesce($1::timestamptz, clock_timestamp())
       order by next_attempt_at, id limit ${deliveriesAtOnce} for update skip locked
     ))
     returning d.id, d.world_id as "worldId", d.type, d.url, d.body, d.attempts, d.created_at as "createdAt"`,
    [clock.pinned()],
  )
}

interface Tried {
  responseStatus: number | undefined
  responseBody?: string
  error?: string
}

async function tryPost(poster: Poster, { url, body }: Delivery, key: SigningKeyRow, allowLocal: boolean): Promise<Tried> {
  try {
    const answer = await poster.post(url, body, { [signatureHeader]: signatureOf(body, key) }, { allowLocal })
    return { responseStatus: answer.status, responseBody: answer.body.replaceAll('\u0000', '') }
  } catch (error) {
    return { responseStatus: undefined, error: error instanceof Error ? error.message : String(error) }
  }
}

async function record(
  database: Database,
  clock: Clock,
  delivery: Delivery,
  attempt: Tried & { durationMs: number },
): Promise<void> {
  const now = clock.now()
  const next = isAcknowledged(attempt) ? undefined : nextAttemptAt(delivery, now, Math.random())
  const status = isAcknowledged(attempt) ? 'DELIVERED' : next ? 'PENDING' : 'FAILED'
  await database.query(
    `with attempt as (
       insert into webhook_attempt (delivery_id, attempted_at, duration_ms, response_status, response_body, error)
       values ($1, $2, $3, $4, $5, $6)
     )
     update webhook_delivery set status = $7, next_attempt_at = $8 where id = $1`,
    [
      delivery.id,
      now,
      attempt.durationMs,
      attempt.responseStatus ?? null,
      attempt.responseBody ?? null,
      attempt.error ?? null,
      status,
      next ?? null,
    ],
  )
}
