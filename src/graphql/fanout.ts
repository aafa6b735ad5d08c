/**
 * Subscriptions, by the thousand. Who follows the same document with the same variables and the same rights shares a channel: each event is
 * executed once and written as text once, and every subscriber gets that text. One that names a cursor first gets what it missed, and then
 * what happens, without a gap or a repeat. One that does not keep up is ended, with the cursor to resume from.
 */
import type { Database } from '../database/port.ts'
import { concerns, cursorOf, type Interest, type LoggedEvent, readEvents } from '../log/event.ts'
import type { Feed } from '../log/feed.ts'

/** Where results go: a subscription of a socket, a stream. */
export interface Sink {
  /** Takes one result. */
  next(payload: string, cursor: string): void
  /** It has more to write than it has written: results wait until `whenDrained`. */
  readonly congested: boolean
  whenDrained(resume: () => void): void
  /** It did not keep up; `cursor`: after the last result it took. */
  overflow(cursor: string): void
  /** Something broke here: the subscriber should resume after the cursor. */
  fail(error: unknown, cursor: string): void
}

export interface Subscription {
  /** Equal for those who may share. */
  key: string
  interest: Interest
  /** A position; undefined: only what happens from now on. */
  after: bigint | undefined
  /** The result of one event, as JSON text. */
  render: (event: LoggedEvent) => Promise<string>
}

export interface Fanout {
  /** What it returns ends it. */
  join(subscription: Subscription, sink: Sink): () => void
}

/** Results that wait for a subscriber's network, beyond what its network holds. */
const longestQueue = 1000
const replayedAtOnce = 200
/** Results a channel keeps for those who resume: after a restart everybody does. */
const keptResults = 256

export function createFanout(database: Database, feed: Feed): Fanout {
  const channels = new Map<string, Channel>()
  return {
    join({ key, interest, after, render }, sink) {
      let channel = channels.get(key)
      if (!channel) {
        channel = new Channel(interest, render, feed)
        channels.set(key, channel)
      }
      const joined = channel
      const member = new Member(sink, after ?? joined.position)
      joined.coming += 1
      const leave = () => {
        if (member.left) return
        member.left = true
        joined.members.delete(member)
        joined.coming -= 1
        if (joined.coming > 0) return
        joined.close()
        if (channels.get(key) === joined) channels.delete(key)
      }
      catchUp(database, joined, member).catch((error: unknown) => {
        if (!member.left) sink.fail(error, member.cursor)
        leave()
      })
      return leave
    },
  }
}

/** What the member has missed, page after page, until nothing lies between it and the channel: then it is live. */
async function catchUp(database: Database, channel: Channel, member: Member): Promise<void> {
  while (!member.left) {
    const upTo = channel.position
    if (member.position >= upTo) {
      channel.members.add(member)
      return
    }
    const page = { after: member.position, upTo, limit: replayedAtOnce }
    const { events, readTo } = await readEvents(database, channel.interest, page)
    for (const event of events) {
      const payload = await channel.resultOf(event)
      await member.drained()
      if (member.left) return
      member.send(payload, event)
    }
    member.position = readTo
  }
}

class Channel {
  readonly interest: Interest
  /** Those who are live. */
  readonly members = new Set<Member>()
  /** And those on their way there. */
  coming = 0
  readonly close: () => void
  readonly #render: (event: LoggedEvent) => Promise<string>
  readonly #results = new Map<bigint, Promise<string>>()
  #handedOut: bigint

  constructor(interest: Interest, render: (event: LoggedEvent) => Promise<string>, feed: Feed) {
    this.interest = interest
    this.#render = render
    this.#handedOut = feed.horizon
    this.close = feed.listen(interest.worldId, (event) => this.#hear(event))
  }

  /** What lies after it is still to come to the live members, what lies before is not. */
  get position(): bigint {
    return this.#handedOut
  }

  resultOf(event: LoggedEvent): Promise<string> {
    let result = this.#results.get(event.position)
    if (!result) {
      result = this.#render(event)
      this.#results.set(event.position, result)
      if (this.#results.size > keptResults) this.#results.delete(this.#results.keys().next().value!)
    }
    return result
  }

  async #hear(event: LoggedEvent): Promise<void> {
    if (concerns(event, this.interest)) {
      const payload = await this.resultOf(event)
      for (const member of this.members) member.offer(payload, event)
    }
    this.#handedOut = event.position
  }
}

class Member {
  left = false
  /** Up to here it has been told everything. */
  position: bigint
  readonly #sink: Sink
  readonly #waiting: { payload: string; event: LoggedEvent }[] = []
  #sent: bigint
  #over = false

  constructor(sink: Sink, position: bigint) {
    this.#sink = sink
    this.position = position
    this.#sent = position
  }

  /** Of the last result its network took. */
  get cursor(): string {
    return cursorOf({ position: this.#sent })
  }

  send(payload: string, event: LoggedEvent): void {
    this.position = event.position
    this.#sent = event.position
    this.#sink.next(payload, cursorOf(event))
  }

  drained(): Promise<void> | undefined {
    return this.#sink.congested ? new Promise((resolve) => this.#sink.whenDrained(resolve)) : undefined
  }

  /** Live: goes out at once, or waits in the queue, which has an end. */
  offer(payload: string, event: LoggedEvent): void {
    // Its cursor may be ahead of what this process had read when it came.
    if (this.#over || event.position <= this.position) return
    if (this.#waiting.length === 0 && !this.#sink.congested) {
      this.send(payload, event)
      return
    }
    this.position = event.position
    if (this.#waiting.length >= longestQueue) {
      this.#over = true
      this.#waiting.length = 0
      this.#sink.overflow(this.cursor)
      return
    }
    if (this.#waiting.push({ payload, event }) === 1) this.#sink.whenDrained(() => this.#flush())
  }

  #flush(): void {
    let sent = 0
    for (; sent < this.#waiting.length && !this.#sink.congested && !this.left; sent += 1) {
      const { payload, event } = this.#waiting[sent]!
      this.#sent = event.position
      this.#sink.next(payload, cursorOf(event))
    }
    this.#waiting.splice(0, sent)
    if (this.#waiting.length > 0 && !this.left) this.#sink.whenDrained(() => this.#flush())
  }
}
