/** The log of a world, as platforms read it: everything that webhooks and subscriptions tell, by cursor. */
import { z } from 'zod'
import { decodePosition } from '../../base/cursor.ts'
import { toId } from '../../base/ids.ts'
import { cursorOf, envelope, eventTypes, type LoggedEvent, lastPosition, readEvents } from '../../log/event.ts'
import { idOf, pageLimit, searchText } from '../input.ts'
import { query } from '../operation.ts'

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

/** In a query: one value, several, or several in one with commas between. */
const types = z.preprocess(
  (raw) =>
    raw === undefined ? undefined : [raw].flat().flatMap((value) => (typeof value === 'string' ? value.split(',') : [value])),
  z.array(z.enum(eventTypes)).max(20).optional(),
)

/** Oldest first, from the beginning or after the cursor. `nextCursor` is the place to go on from, also when there is no more yet. */
export const listEvents = query({
  name: 'listEvents',
  permission: 'VIEW',
  input: z.object({
    types,
    customerId: idOf('Customer').optional(),
    resourceId: searchText(100).optional(),
    limit: pageLimit,
    cursor: z.string().max(200).optional(),
  }),
  output: z.object({ data: z.array(EventRecord), hasMore: z.boolean(), nextCursor: z.string() }),
  async answer({ database }, { worldId }, { limit, cursor, ...interest }) {
    const after = cursor === undefined ? 0n : decodePosition(cursor, 'cursor')
    const upTo = await lastPosition(database)
    const { events } = await readEvents(database, { worldId, ...interest }, { after, upTo, limit: limit + 1 })
    const data = events.slice(0, limit)
    const hasMore = events.length > limit
    const last = hasMore ? data.at(-1)! : { position: upTo > after ? upTo : after }
    return { data: data.map(toEventRecord), hasMore, nextCursor: cursorOf(last) }
  },
})
