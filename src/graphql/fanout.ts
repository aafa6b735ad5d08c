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
  /** Takes results, in order: several at once cost little more than one. */
  next(results: readonly Result[]): void
  /** It has more to write than it has written: results wait until `whenDrained`. */
  readonly congested: boolean
  whenDrained(resume: () => void): void
  /** It did not keep up; `cursor`: after the last result it took. */
  overflow(cursor: string): void
  /** Something broke here: the subscriber should resume after the cursor. */
  fail(error: unknown, cursor: string): void
}

/** What an event looks like to those who share a channel. */
export interface Result {
  position: bigint
  cursor: string
  /** JSON, in UTF-8. */
  payload: Buffer
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
/** Bytes that go to one subscriber's network before it is asked whether it can take more. */
const writtenAtOnce = 8 * 1024
const replayedAtOnce = 200
/** Results a channel keeps for those who resume, as after a restart everybody does; few where few share it. */
const mostKeptResults = 256

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
      const result = await channel.resultOf(event)
      await member.drained()
      if (member.left) return
      member.send([result])
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
  readonly #results = new Map<bigint, Promise<Result>>()
  #handedOut: bigint

  constructor(interest: Interest, render: (event: LoggedEvent) => Promise<string>, feed: Feed) {
    this.interest = interest
    this.#render = render
    this.#handedOut = feed.horizon
    this.close = feed.listen(interest.worldId, (events) => this.#hear(events))
  }

  /** What lies after it is still to come to the live members, what lies before is not. */
  get position(): bigint {
    return this.#handedOut
  }

  resultOf(event: LoggedEvent): Promise<Result> {
    let result = this.#results.get(event.position)
    if (!result) {
      result = this.#make(event)
      this.#results.set(event.position, result)
      const most = Math.min(4 * this.coming, mostKeptResults)
      if (this.#results.size > most) this.#results.delete(this.#results.keys().next().value!)
    }
    return result
  }

  async #make(event: LoggedEvent): Promise<Result> {
    return { position: event.position, cursor: cursorOf(event), payload: Buffer.from(await this.#render(event)) }
  }

  async #hear(events: readonly LoggedEvent[]): Promise<void> {
    const wanted = events.filter((event) => concerns(event, this.interest))
    const results = await Promise.all(wanted.map((event) => this.resultOf(event)))
    // Nobody can join between what is told and what is noted as told.
    if (results.length > 0) for (const member of this.members) member.offer(results)
    this.#handedOut = events.at(-1)!.position
  }
}

class Member {
  left = false
  /** Up to here it has been told everything. */
  position: bigint
  readonly #sink: Sink
  #waiting: readonly Result[] = []
  #asleep = false
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

  send(results: readonly Result[]): void {
    this.#sent = results.at(-1)!.position
    if (this.#sent > this.position) this.position = this.#sent
    this.#sink.next(results)
  }

  drained(): Promise<void> | undefined {
    return this.#sink.congested ? new Promise((resolve) => this.#sink.whenDrained(resolve)) : undefined
  }

  /** Live: goes out at once, or waits in the queue, which has an end. */
  offer(results: readonly Result[]): void {
    if (this.#over) return
    // Its cursor may be ahead of what this process had read when it came.
    const fresh = results[0]!.position > this.position ? results : results.filter(({ position }) => position > this.position)
    if (fresh.length === 0) return
    this.position = fresh.at(-1)!.position
    this.#waiting = this.#waiting.length === 0 ? fresh : [...this.#waiting, ...fresh]
    this.#pump()
  }

  /** As much as the network takes; the rest when it has taken that. */
  #pump(): void {
    while (this.#waiting.length > 0 && !this.#asleep && !this.#sink.congested && !this.left) {
      const portion = firstOf(this.#waiting)
      this.#waiting = this.#waiting.slice(portion.length)
      this.send(portion)
    }
    if (this.#waiting.length > longestQueue) {
      this.#over = true
      this.#waiting = []
      this.#sink.overflow(this.cursor)
    } else if (this.#waiting.length > 0 && !this.#asleep) {
      this.#asleep = true
      this.#sink.whenDrained(() => {
        this.#asleep = false
        if (!this.#over) this.#pump()
      })
    }
  }
}

/** So many from the front as are written at once. */
function firstOf(results: readonly Result[]): readonly Result[] {
  let bytes = 0
  let count = 0
  while (count < results.length && bytes < writtenAtOnce) {
    bytes += results[count]!.payload.length
    count += 1
  }
  return count === results.length ? results : results.slice(0, count)
}
