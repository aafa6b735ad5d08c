/**
 * The live feed: each process reads every event once and hands it to the subscribers it concerns. A subscriber that names a cursor first
 * gets what it missed, and goes live without a gap or a repeat; one that does not keep up is ended with the cursor to resume from.
 */
import { encodePosition } from '../base/cursor.ts'
import type { Database, Parameter } from '../database/port.ts'
import { eventColumns, type LoggedEvent, lastPosition } from './event.ts'

export interface Interest {
  worldId: string
  /** Absent: every type. */
  types?: readonly string[] | undefined
  /** Bare uuid. */
  customerId?: string | undefined
  /** `<Type>:<uuid>` of one resource. */
  resourceId?: string | undefined
}

export class SlowSubscriber extends Error {
  override readonly name = 'SlowSubscriber'
  /** Where to resume. */
  readonly cursor: string

  constructor(position: bigint) {
    super('The subscriber does not keep up; resume after the cursor')
    this.cursor = encodePosition(position)
  }
}

export interface Feed {
  /** `after`: a position; absent, only what happens from now on. */
  subscribe(interest: Interest, after?: bigint): AsyncGenerator<LoggedEvent, void, undefined>
  /** Reads what is new and hands it on; true if there was anything. */
  read(): Promise<boolean>
  /** Ends every subscription. */
  close(): void
}

const pageSize = 500
const longestQueue = 1000

export async function openFeed(database: Database): Promise<Feed> {
  const subscribers = new Set<Subscriber>()
  let position = await lastPosition(database)

  return {
    subscribe(interest, after) {
      const start = position
      const subscriber = new Subscriber(interest)
      subscribers.add(subscriber)
      const events = follow(database, subscriber, after ?? start, start)
      return endedBy(events, () => {
        subscribers.delete(subscriber)
        subscriber.end('closed')
      })
    },
    async read() {
      if (subscribers.size === 0) {
        // Nobody listens: whoever comes next begins here, or reads what was missed from the database.
        const passed = position
        const last = await lastPosition(database)
        if (subscribers.size === 0) position = last
        return position > passed
      }
      const events = await database.query<LoggedEvent>(
        `select ${eventColumns} from event e where e.position > $1 order by e.position limit ${pageSize}`,
        [position],
      )
      for (const event of events) {
        for (const subscriber of subscribers) subscriber.offer(event)
        position = event.position
      }
      return events.length > 0
    },
    close() {
      for (const subscriber of subscribers) subscriber.end('closed')
    },
  }
}

/** What was missed, then what happens. */
async function* follow(
  database: Database,
  subscriber: Subscriber,
  after: bigint,
  start: bigint,
): AsyncGenerator<LoggedEvent, void, undefined> {
  let last = after
  for await (const event of readBetween(database, subscriber.interest, after, start)) {
    last = event.position
    yield event
  }
  for (;;) {
    const event = await subscriber.next()
    if (event === 'closed') return
    if (event === 'overflown') throw new SlowSubscriber(last)
    // The cursor may be ahead of what this process had read when the subscription began.
    if (event.position <= last) continue
    last = event.position
    yield event
  }
}

/** The same events, and `onEnd` at their end, also when the reader leaves before its first event or while it waits for one. */
function endedBy<Item>(items: AsyncGenerator<Item, void, undefined>, onEnd: () => void): AsyncGenerator<Item, void, undefined> {
  const ended = async (result: Promise<IteratorResult<Item, void>>) => {
    try {
      const settled = await result
      if (settled.done) onEnd()
      return settled
    } catch (error) {
      onEnd()
      throw error
    }
  }
  return {
    next: () => ended(items.next()),
    return: () => {
      onEnd()
      return items.return()
    },
    throw: (error) => {
      onEnd()
      return items.throw(error)
    },
    [Symbol.asyncIterator]() {
      return this
    },
    async [Symbol.asyncDispose]() {
      onEnd()
      await items.return()
    },
  }
}

/** Events after one position up to another; none when the first is not before the second. */
async function* readBetween(database: Database, interest: Interest, after: bigint, upTo: bigint): AsyncGenerator<LoggedEvent> {
  let from = after
  for (;;) {
    const parameters: Parameter[] = [interest.worldId, from, upTo, interest.customerId ?? null, interest.resourceId ?? null]
    const events = await database.query<LoggedEvent>(
      `select ${eventColumns} from event e where e.world_id = $1 and e.position > $2 and e.position <= $3
         and ($4::uuid is null or e.customer_id = $4) and ($5::text is null or e.resource_id = $5)
       order by e.position limit ${pageSize}`,
      parameters,
    )
    for (const event of events) {
      from = event.position
      if (concerns(event, interest)) yield event
    }
    if (events.length < pageSize) return
  }
}

function concerns(event: LoggedEvent, { worldId, types, customerId, resourceId }: Interest): boolean {
  return (
    event.worldId === worldId &&
    (types === undefined || types.includes(event.type)) &&
    (customerId === undefined || event.customerId === customerId) &&
    (resourceId === undefined || event.resourceId === resourceId)
  )
}

type Item = LoggedEvent | 'closed' | 'overflown'

/** A bounded queue between the feed and one reader. */
class Subscriber {
  readonly interest: Interest
  readonly #queue: Item[] = []
  #waiting: ((item: Item) => void) | undefined
  #ended: 'closed' | 'overflown' | undefined

  constructor(interest: Interest) {
    this.interest = interest
  }

  offer(event: LoggedEvent): void {
    if (this.#ended || !concerns(event, this.interest)) return
    if (this.#queue.length >= longestQueue) this.end('overflown')
    else this.#push(event)
  }

  end(how: 'closed' | 'overflown'): void {
    if (this.#ended) return
    this.#ended = how
    this.#push(how)
  }

  next(): Promise<Item> {
    const item = this.#queue.shift()
    if (item !== undefined) return Promise.resolve(item)
    return new Promise((resolve) => {
      this.#waiting = resolve
    })
  }

  #push(item: Item): void {
    const waiting = this.#waiting
    this.#waiting = undefined
    if (waiting) waiting(item)
    else this.#queue.push(item)
  }
}
