/** Whose token is gone, or at its end: what they have open is ended within a second, whichever process took the token away. */
import type { Clock } from '../base/clock.ts'
import type { Caller } from '../core/operation.ts'
import type { Database } from '../database/port.ts'

export interface Revocations {
  /** What it returns ends the watch. */
  watch(caller: Caller, onRevoked: () => void): () => void
  /** Looks after everybody at once. */
  check(): Promise<void>
}

export function watchRevocations(database: Database, clock: Clock): Revocations {
  const watched = new Map<string, Set<() => void>>()
  return {
    watch({ tokenId }, onRevoked) {
      if (tokenId === undefined) return () => {}
      const ofToken = watched.get(tokenId) ?? new Set()
      watched.set(tokenId, ofToken.add(onRevoked))
      return () => {
        ofToken.delete(onRevoked)
        if (ofToken.size === 0 && watched.get(tokenId) === ofToken) watched.delete(tokenId)
      }
    },
    async check() {
      if (watched.size === 0) return
      const ids = [...watched.keys()]
      const rows = await database.query<{ id: string }>(
        `select id from api_token where id = any($1::uuid[])
         union all
         select v.id from viewer_token v join customer c on c.id = v.customer_id
         where v.id = any($1::uuid[]) and v.expires_at > $2 and not c.is_deleted`,
        [ids, clock.now()],
      )
      const valid = new Set(rows.map(({ id }) => id))
      for (const id of ids) {
        if (valid.has(id)) continue
        for (const onRevoked of watched.get(id) ?? []) onRevoked()
        watched.delete(id)
      }
    },
  }
}
