/**
 * Reading rows by id, shared among those who ask at the same time. While one statement is under way, the ids that arrive wait, and are
 * read together by the next; so under load the number of statements grows with the number of round trips, not of callers. Every caller
 * sees what was committed before it asked: its ids are only ever in a statement that starts afterwards.
 */
import type { Queryable } from './port.ts'
import { type Sight, sees } from './sight.ts'

/** Rows by their ids; what is missing, or not to be seen, is left out. */
export type ReadById<Row> = (database: Queryable, sight: Sight, ids: readonly string[]) => Promise<Row[]>

type ReadInWorld<Row> = (database: Queryable, worldId: string, ids: readonly string[]) => Promise<Row[]>

interface Waiting<Row> {
  ids: readonly string[]
  resolve: (rows: Row[]) => void
  reject: (error: unknown) => void
}

/** The same read, with concurrent calls put together, whoever they are for. `ownerOf`: the customer a row belongs to. */
export function coalesced<Row extends { id: string }>(
  read: ReadInWorld<Row>,
  ownerOf: (row: Row) => string | null,
): ReadById<Row> {
  /** Who waits while a statement is under way; a world that is not here has none under way. */
  const lanes = new WeakMap<Queryable, Map<string, Waiting<Row>[]>>()

  async function work(database: Queryable, worldId: string, lane: Waiting<Row>[]): Promise<void> {
    while (lane.length > 0) {
      const served = lane.splice(0)
      try {
        const rows = await read(database, worldId, [...new Set(served.flatMap(({ ids }) => ids))])
        const byId = new Map(rows.map((row) => [row.id, row]))
        for (const { ids, resolve } of served) resolve(ids.flatMap((id) => byId.get(id) ?? []))
      } catch (error) {
        for (const { reject } of served) reject(error)
      }
    }
    lanes.get(database)?.delete(worldId)
  }

  function inWorld(database: Queryable, worldId: string, ids: readonly string[]): Promise<Row[]> {
    return new Promise((resolve, reject) => {
      if (ids.length === 0) return resolve([])
      let worlds = lanes.get(database)
      if (!worlds) {
        worlds = new Map()
        lanes.set(database, worlds)
      }
      const lane = worlds.get(worldId)
      const waiting = { ids, resolve, reject }
      if (lane) lane.push(waiting)
      else {
        const opened = [waiting]
        worlds.set(worldId, opened)
        void work(database, worldId, opened)
      }
    })
  }

  return (database, sight, ids) => {
    const rows = inWorld(database, sight.worldId, ids)
    return sight.customerId === undefined ? rows : rows.then((all) => all.filter((row) => sees(sight, ownerOf(row))))
  }
}
