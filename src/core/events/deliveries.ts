/** What became of each webhook, for the people who have to find out; and sending it once more. */
import { z } from 'zod'
import { decodePosition } from '../../base/cursor.ts'
import { toId } from '../../base/ids.ts'
import { isoText } from '../../base/instant.ts'
import { DomainError } from '../../base/refusal.ts'
import type { Queryable } from '../../database/port.ts'
import { byIdsInWorld, selectList, type WebhookDeliveryRow } from '../../database/tables.ts'
import { eventColumns, type LoggedEvent, lastPosition, readEvents } from '../../log/event.ts'
import { enqueue, isApprovalRequest } from '../../log/outbox.ts'
import { idOf, searchText } from '../input.ts'
import { listQuery } from '../list.ts'
import { action, query } from '../operation.ts'
import { given, listed, pageInput, pageOf } from '../page.ts'
import type { World } from '../platform/world.ts'
import { shapeOf } from '../shape.ts'

const deliveryStatuses = ['PENDING', 'DELIVERED', 'FAILED'] as const

export const WebhookAttempt = z.object({
  attemptedAt: z.string(),
  url: z.string(),
  durationMs: z.int(),
  /** Absent when there was no answer. */
  responseStatus: z.int().optional(),
  /** The beginning of it. */
  responseBody: z.string().optional(),
  /** Why there was no answer. */
  error: z.string().optional(),
})

export const WebhookDelivery = z.object({
  /** The webhookId. */
  id: z.string(),
  type: z.string(),
  resourceId: z.string(),
  /** PENDING: it will be sent, again or for the first time. DELIVERED: acknowledged. FAILED: given up; it can be redelivered. */
  status: z.enum(deliveryStatuses),
  /** Since it was last asked for. */
  attempts: z.int(),
  /** Absent when it is over, or waits for an earlier one about the same resource. */
  nextAttemptAt: z.string().optional(),
  createdAt: z.string(),
})

export type WebhookDelivery = z.output<typeof WebhookDelivery>

const deliveryShape = shapeOf<WebhookDeliveryRow, WebhookDelivery>({
  id: [['id'], ({ id }) => toId('Webhook', id)],
  type: [['type'], ({ type }) => type],
  resourceId: [['resourceId'], ({ resourceId }) => resourceId],
  status: [['status'], ({ status }) => status],
  attempts: [['attempts'], ({ attempts }) => attempts],
  nextAttemptAt: [['nextAttemptAt'], ({ nextAttemptAt }) => (nextAttemptAt === null ? undefined : isoText(nextAttemptAt))],
  createdAt: [['createdAt'], ({ createdAt }) => isoText(createdAt)],
})

function toWebhookDelivery(row: WebhookDeliveryRow): WebhookDelivery {
  return deliveryShape.whole(row)
}

export const listWebhookDeliveries = listQuery({
  name: 'listWebhookDeliveries',
  permission: 'VIEW',
  input: z.object({
    status: z.enum(deliveryStatuses).optional(),
    type: searchText(60).optional(),
    resourceId: searchText(100).optional(),
    ...pageInput,
  }),
  output: pageOf(WebhookDelivery),
  source: listed('webhook_delivery'),
  shape: deliveryShape,
  given: () => undefined,
  conditions: ({ status, type, resourceId }) => [
    ...given(status, 't.status = ?::"DeliveryStatus"'),
    ...given(type, 't.type = ?'),
    ...given(resourceId, 't.resource_id = ?'),
  ],
})

const one = { webhookId: idOf('Webhook') }

/** A delivery with the body that was signed and every attempt, oldest first. Refuses WEBHOOK_NOT_FOUND. */
export const getWebhookDelivery = query({
  name: 'getWebhookDelivery',
  permission: 'VIEW',
  refuses: ['WEBHOOK_NOT_FOUND'],
  input: z.object(one),
  output: WebhookDelivery.extend({ body: z.string(), log: z.array(WebhookAttempt) }),
  async answer({ database }, { worldId }, { webhookId }) {
    const delivery = await requireDelivery(database, worldId, webhookId)
    return {
      ...toWebhookDelivery(delivery),
      body: delivery.body,
      log: (await attemptsOf(database, [webhookId])).get(webhookId) ?? [],
    }
  },
})

async function requireDelivery(database: Queryable, worldId: string, webhookId: string): Promise<WebhookDeliveryRow> {
  const [row] = await database.query<WebhookDeliveryRow>(
    `select ${selectList('webhook_delivery', 'd')} from webhook_delivery d where ${byIdsInWorld('d')}`,
    [worldId, [webhookId]],
  )
  if (!row) throw notFound(webhookId)
  return row
}

/** The attempts of deliveries, oldest first. */
export async function attemptsOf(database: Queryable, deliveryIds: readonly string[]) {
  interface Row {
    deliveryId: string
    attemptedAt: Date
    url: string
    durationMs: number
    responseStatus: number | null
    responseBody: string | null
    error: string | null
  }
  const rows = await database.query<Row>(
    `select delivery_id as "deliveryId", attempted_at as "attemptedAt", url, duration_ms as "durationMs",
       response_status as "responseStatus", response_body as "responseBody", error
     from webhook_attempt where delivery_id = any($1::uuid[]) order by delivery_id, id`,
    [deliveryIds],
  )
  const attempts = new Map<string, z.output<typeof WebhookAttempt>[]>()
  for (const { deliveryId, attemptedAt, url, durationMs, responseStatus, responseBody, error } of rows) {
    const list = attempts.get(deliveryId) ?? []
    attempts.set(deliveryId, list)
    list.push({
      attemptedAt: attemptedAt.toISOString(),
      url,
      durationMs,
      ...(responseStatus === null ? {} : { responseStatus }),
      ...(responseBody === null ? {} : { responseBody }),
      ...(error === null ? {} : { error }),
    })
  }
  return attempts
}

/**
 * Sends an event once more, to the endpoint as it now is, with the same webhookId and body; from here it has seven days again. Also of an
 * event that was never sent because no endpoint was set. One that is on its way already stays so. Refuses WEBHOOK_NOT_FOUND;
 * WEBHOOK_ENDPOINT_NOT_SET; CONFLICT for a request for approval, which is sent once.
 */
export const redeliverWebhook = action({
  name: 'redeliverWebhook',
  permission: 'MANAGE',
  refuses: ['WEBHOOK_NOT_FOUND', 'WEBHOOK_ENDPOINT_NOT_SET', 'CONFLICT'],
  input: z.object(one),
  output: WebhookDelivery,
  async answer({ database, clock, worlds }, { worldId }, { webhookId }) {
    const { webhookEnvelope } = requireEndpoint(await worlds.get(worldId))
    const [event] = await database.query<LoggedEvent>(
      `select ${eventColumns} from event e where e.uuid = $1 and (e.world_id = $2) is true and e.position is not null`,
      [webhookId, worldId],
    )
    if (!event) throw notFound(webhookId)
    if (isApprovalRequest(event)) {
      throw new DomainError('CONFLICT', 'A request for approval is sent once', { field: 'webhookId' })
    }
    await enqueue(database, clock, [{ ...event, webhookEnvelope }], { again: true })
    return toWebhookDelivery(await requireDelivery(database, worldId, webhookId))
  },
})

const eventsAtOnce = 500

/**
 * Sends everything once more that happened after a cursor: delivered, given up or never sent. Requests for approval and TESTs are left out.
 * Answers how many are on their way because of it. Refuses WEBHOOK_ENDPOINT_NOT_SET, INVALID_INPUT.
 */
export const redeliverWebhooks = action({
  name: 'redeliverWebhooks',
  permission: 'MANAGE',
  refuses: ['WEBHOOK_ENDPOINT_NOT_SET'],
  input: z.object({ after: z.string().max(200) }),
  output: z.object({ redelivered: z.int() }),
  async answer({ database, clock, worlds }, { worldId }, { after }) {
    const { webhookEnvelope } = requireEndpoint(await worlds.get(worldId))
    const upTo = await lastPosition(database)
    let redelivered = 0
    for (let from = decodePosition(after); from < upTo; ) {
      const { events, readTo } = await readEvents(database, { worldId }, { after: from, upTo, limit: eventsAtOnce })
      const wanted = events
        .filter((event) => event.type !== 'TEST' && !isApprovalRequest(event))
        .map((event) => ({ ...event, webhookEnvelope }))
      redelivered += await enqueue(database, clock, wanted, { again: true })
      from = readTo
    }
    return { redelivered }
  },
})

function requireEndpoint(world: World | undefined): World {
  if (world?.webhookEndpoint) return world
  throw new DomainError('WEBHOOK_ENDPOINT_NOT_SET', 'Set a webhookEndpoint first')
}

function notFound(webhookId: string): DomainError {
  return new DomainError('WEBHOOK_NOT_FOUND', 'There is no such webhook', {
    field: 'webhookId',
    value: toId('Webhook', webhookId),
  })
}

export const WebhookHealth = z.object({
  url: z.string().optional(),
  /** HEALTHY: everything goes out. PAUSED: it failed again and again; tried again at `pausedUntil`. TRYING: one delivery tries it. */
  state: z.enum(['HEALTHY', 'PAUSED', 'TRYING']),
  /** In a row, up to now. */
  failures: z.int(),
  pausedUntil: z.string().optional(),
  lastSuccessAt: z.string().optional(),
  lastFailureAt: z.string().optional(),
  lastError: z.string().optional(),
  /** Deliveries that are not over; counted up to 10,000. */
  pending: z.int(),
  oldestPendingAt: z.string().optional(),
})

/** How the world's webhook endpoint does. */
export const getWebhookHealth = query({
  name: 'getWebhookHealth',
  permission: 'VIEW',
  input: z.object({}),
  output: WebhookHealth,
  async answer({ database, clock, worlds }, { worldId }) {
    interface Row {
      failures: number | null
      pausedUntil: Date | null
      lastSuccessAt: Date | null
      lastFailureAt: Date | null
      lastError: string | null
      pending: bigint
      oldestPendingAt: Date | null
    }
    const [[row], world] = await Promise.all([
      database.query<Row>(
        `select e.failures, e.paused_until as "pausedUntil", e.last_success_at as "lastSuccessAt", e.last_failure_at as "lastFailureAt",
           e.last_error as "lastError", p.pending, p.oldest as "oldestPendingAt"
         from (
           select count(*) as pending, min(created_at) as oldest from (
             select created_at from webhook_delivery where world_id = $1 and status = 'PENDING' order by give_up_at limit 10000
           ) waiting
         ) p left join webhook_endpoint e on e.world_id = $1`,
        [worldId],
      ),
      worlds.get(worldId),
    ])
    const { failures, pausedUntil, lastSuccessAt, lastFailureAt, lastError, pending, oldestPendingAt } = row!
    const paused = pausedUntil !== null && pausedUntil > clock.now()
    const state = paused ? ('PAUSED' as const) : pausedUntil === null ? ('HEALTHY' as const) : ('TRYING' as const)
    return {
      ...(world?.webhookEndpoint ? { url: world.webhookEndpoint } : {}),
      state,
      failures: failures ?? 0,
      ...(paused ? { pausedUntil: pausedUntil.toISOString() } : {}),
      ...(lastSuccessAt ? { lastSuccessAt: lastSuccessAt.toISOString() } : {}),
      ...(lastFailureAt ? { lastFailureAt: lastFailureAt.toISOString() } : {}),
      ...(lastError === null ? {} : { lastError }),
      pending: Number(pending),
      ...(oldestPendingAt ? { oldestPendingAt: oldestPendingAt.toISOString() } : {}),
    }
  },
})
