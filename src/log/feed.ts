/**
 * The live feed: each process reads every event once, page after page, and hands the events to whoever listens. The next page waits until all
 * listeners have done with this one, so nothing piles up here.
 */
import type { Database } from '../database/port.ts'
import { eventColumns, type LoggedEvent, lastPosition } from './event.ts'

/** Called with the new events of a world, in order; again only when it has done with them. */
type Listener = (events: readonly LoggedEvent[]) => Promise<void>

export interface Feed {
  /** Whoever begins to listen now hears everything after this position. */
  readonly horizon: bigint
  /** What it returns ends it. */
  listen(worldId: string, listener: Listener): () => void
  /** Reads what is new and hands it on; true if there was anything. */
  read(): Promise<boolean>
}

const pageSize = 100

export async function openFeed(database: Database): Promise<Feed> {
  const listeners = new Map<string, Set<Listener>>()
  let position = await lastPosition(database)
  // While a page is handed out: its end.
  let horizon = position

  async function handOut(events: readonly LoggedEvent[]): Promise<void> {
    const byWorld = Map.groupBy(events, ({ worldId }) => worldId)
    await Promise.all(
      [...byWorld].flatMap(([worldId, ofWorld]) =>
        // Who comes while this goes on begins after it.
        [...(listeners.get(worldId) ?? [])].map((listener) => listener(ofWorld)),
      ),
    )
  }

  return {
    get horizon() {
      return horizon
    },
    listen(worldId, listener) {
      const ofWorld = listeners.get(worldId) ?? new Set()
      listeners.set(worldId, ofWorld.add(listener))
      return () => {
        ofWorld.delete(listener)
        if (ofWorld.size === 0 && listeners.get(worldId) === ofWorld) listeners.delete(worldId)
      }
    },
    async read() {
      if (listeners.size === 0) {
        // Nobody listens: whoever comes next begins here, or reads what was missed from the database.
        const passed = position
        const last = await lastPosition(database)
        if (listeners.size === 0) {
          position = last
          horizon = last
        }
        return position > passed
      }
      const events = await database.query<LoggedEvent>(
        `select ${eventColumns} from event e where e.position > $1 order by e.position limit ${pageSize}`,
        [position],
      )
      if (events.length === 0) return false
      horizon = events.at(-1)!.position
      await handOut(events)
      position = horizon
      return true
    },
  }
}
