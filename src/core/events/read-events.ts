/** The log of a world, as platforms read it: everything that webhooks and subscriptions tell, by cursor. */
import { z } from 'zod'
import { decodePosition } from '../../base/cursor.ts'
import { toId } from '../../base/ids.ts'
import type { Queryable } from '../../database/port.ts'
import {
  cursorOf,
  envelope,
  eventTypes,
  type Interest,
  interestOf,
  type LoggedEvent,
  lastPosition,
  quietEventTypes,
  readEvents,
} from '../../log/event.ts'
import { idOf, listOf, pageLimit, searchText } from '../input.ts'
import { query } from '../operation.ts'

export { eventTypes } from '../../log/event.ts'

const EventRecord = z.object({
  /** Where it stands in the log: what comes after it is read with this. */
  cursor: z.string(),
  resourceId: z.string(),
  /** Which of the events about its resource it is: 1, 2, 3 … */
  sequence: z.int(),
  customerId: z.string().optional(),
  /** The body of the webhook. */
  event: z.looseObject({ type: z.string(), webhookId: z.string(), timestamp: z.string() }),
})

function toEventRecord(event: LoggedEvent): z.output<typeof EventRecord> {
  const { resourceId, sequence, customerId } = event
  return {
    cursor: cursorOf(event),
    resourceId,
    sequence,
    ...(customerId === null ? {} : { customerId: toId('Customer', customerId) }),
    event: envelope(event) as z.output<typeof EventRecord>['event'],
  }
}

const input = z.object({
  types: listOf(z.enum([...eventTypes, ...quietEventTypes]), 20),
  customerId: idOf('Customer').optional(),
  resourceId: searchText(100).optional(),
  limit: pageLimit,
  cursor: z.string().max(200).optional(),
})

/** Events as the log has them, oldest first, from the beginning or after the cursor. */
export const readLog = query({
  name: 'readLog',
  permission: 'VIEW',
  forViewers: true,
  input: input.extend({ total: z.enum(['none', 'exact']).default('none') }),
  output: z.object({
    data: z.array(z.custom<LoggedEvent>()),
    hasMore: z.boolean(),
    nextCursor: z.string(),
    totalCount: z.int().optional(),
  }),
  async answer({ database }, caller, { limit, cursor, total, ...wanted }) {
    const interest = interestOf(caller, wanted)
    const after = cursor === undefined ? 0n : decodePosition(cursor, 'cursor')
    const [upTo, totalCount] = await Promise.all([
      lastPosition(database),
      total === 'exact' ? countEvents(database, interest) : undefined,
    ])
    const { events } = await readEvents(database, interest, { after, upTo, limit: limit + 1 })
    const data = events.slice(0, limit)
    const hasMore = events.length > limit
    const last = hasMore ? data.at(-1)! : { position: upTo > after ? upTo : after }
    return { data, hasMore, nextCursor: cursorOf(last), ...(totalCount === undefined ? {} : { totalCount }) }
  },
})

async function countEvents(database: Queryable, { worldId, types: ofTypes, customerId, resourceId }: Interest): Promise<number> {
  const [row] = await database.query<{ count: bigint }>(
    `select count(*) as count from event where world_id = $1 and position is not null and ($2::text[] is null or type = any($2))
       and ${customerId === undefined ? '$3::uuid is null' : 'customer_id = $3'}
       and ${resourceId === undefined ? '$4::text is null' : 'resource_id = $4 and sequence is not null'}`,
    [worldId, ofTypes ?? null, customerId ?? null, resourceId ?? null],
  )
  return Number(row!.count)
}

/** `nextCursor` is the place to go on from, also when there is no more yet. What is told to listeners alone is there when it is asked for. */
export const listEvents = query({
  name: 'listEvents',
  permission: 'VIEW',
  forViewers: true,
  input,
  output: z.object({ data: z.array(EventRecord), hasMore: z.boolean(), nextCursor: z.string() }),
  async answer(core, caller, asked) {
    const { data, ...page } = await readLog.answer(core, caller, {
      ...asked,
      types: asked.types ?? [...eventTypes],
      total: 'none',
    })
    return { ...page, data: data.map(toEventRecord) }
  },
})
