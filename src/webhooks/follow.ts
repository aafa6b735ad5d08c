/** A follower of the event log: it turns events into deliveries to the endpoint of their world, where one is set. */
import type { Clock } from '../base/clock.ts'
import type { Database, Queryable } from '../database/port.ts'
import { eventColumns, quietEventTypes } from '../log/event.ts'
import { type AddressedEvent, enqueue } from '../log/outbox.ts'

const followerName = 'webhooks'
const eventsAtOnce = 200

/** Before the first `followLog`. */
export async function prepareFollower(database: Queryable): Promise<void> {
  await database.query('insert into follower (name, position) values ($1, 0) on conflict do nothing', [followerName])
}

/** Turns new events into deliveries; true if there were any. One process at a time does this. */
export async function followLog(database: Database, clock: Clock): Promise<boolean> {
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
    const events = await tx.query<AddressedEvent>(
      `select ${eventColumns}, w.webhook_envelope as "webhookEnvelope" from event e join world w on w.id = e.world_id
       where e.position > $1 and e.position <= $2 and w.webhook_endpoint is not null and not e.type = any($3::text[]) order by e.position`,
      [follower.position, page.last, quietEventTypes],
    )
    await enqueue(tx, clock, events, { again: false })
    await tx.query('update follower set position = $2 where name = $1', [followerName, page.last])
    return true
  })
}
