/** What an answer means, and when to try again. Pure. */
import { day, minute, second } from '../base/clock.ts'

export interface Attempt {
  /** Of the answer; undefined when there was none. */
  responseStatus: number | undefined
}

const firstPauseMs = 5 * second
const longestPauseMs = 30 * minute
const horizonMs = 7 * day

/** A 2xx is an acknowledgement; so is 409, the endpoint's word that it has this event already. */
export function isAcknowledged({ responseStatus }: Attempt): boolean {
  return responseStatus !== undefined && ((responseStatus >= 200 && responseStatus < 300) || responseStatus === 409)
}

/**
 * When to send again after `attempts` failures: 5 s, doubling to half an hour, for seven days after the event; undefined when it is over.
 * `random` (0 to 1) spreads the pauses by a tenth, so that many deliveries do not return together. TEST is never sent again.
 */
export function nextAttemptAt(
  delivery: { type: string; createdAt: Date; attempts: number },
  now: Date,
  random: number,
): Date | undefined {
  if (delivery.type === 'TEST') return undefined
  const pauseMs = Math.min(firstPauseMs * 2 ** Math.min(delivery.attempts - 1, 30), longestPauseMs)
  const at = now.getTime() + Math.round(pauseMs * (0.9 + 0.1 * random))
  return at <= delivery.createdAt.getTime() + horizonMs ? new Date(at) : undefined
}
