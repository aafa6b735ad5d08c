/** What other providers sign is good for a while, and once. */
import { type Clock, minute } from '../../base/clock.ts'
import type { Database } from '../../database/port.ts'

/** Spec silent: how far a signature's time may be from ours. */
const toleranceMs = 5 * minute
const forgottenAtOnce = 20

export function isTimely(clock: Clock, signedAt: Date): boolean {
  return Math.abs(clock.now().getTime() - signedAt.getTime()) <= toleranceMs
}

/**
 * False: it was used before. Kept until its signature is too old to be repeated. It need not wait for the disk: what a crash of the database takes
 * back is a look-up, or a payment that somebody would be asked about again.
 */
export async function spendNonce({ database, clock }: { database: Database; clock: Clock }, domain: string, nonce: string) {
  const now = clock.now()
  const spent = await database.query(
    `with forgotten as (
       delete from uma_nonce where (domain, nonce) in
         (select domain, nonce from uma_nonce where expires_at < $4 order by expires_at limit ${forgottenAtOnce}))
     insert into uma_nonce (domain, nonce, expires_at) select $1, $2, $3
     where (select set_config('synchronous_commit', 'off', true)) = 'off'
     on conflict do nothing returning nonce`,
    [domain, nonce, new Date(now.getTime() + 3 * toleranceMs), now],
  )
  return spent.length > 0
}
