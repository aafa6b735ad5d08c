/** What an answer means, and when to try again. Pure. */
import { day, minute, second } from '../base/clock.ts'
import type { Delivery, Verdict } from '../log/outbox.ts'

export interface Answer {
  /** Undefined when there was none. */
  status: number | undefined
  /** Its Retry-After header. */
  retryAfter?: string | undefined
}

const firstPauseMs = 5 * second
const longestPauseMs = 30 * minute
/** Spec silent: an endpoint may ask for this much patience, and for this much on behalf of all its deliveries. */
const longestRetryAfterMs = day
const longestWishedPauseMs = 5 * minute

/**
 * A 2xx is an acknowledgement; so is 409, the endpoint's word that it has this event already. Anything else is tried again after 5 s,
 * doubling to half an hour, or later where the endpoint says so, until the delivery's time is over. `random` (0 to 1) spreads the pauses by
 * a tenth, so that many deliveries do not return together.
 */
export function judge(
  delivery: Pick<Delivery, 'attempts' | 'giveUpAt' | 'once'>,
  { status, retryAfter }: Answer,
  now: Date,
  random: number,
): Verdict {
  const acknowledged = status !== undefined && ((status >= 200 && status < 300) || status === 409)
  if (acknowledged) return { acknowledged, nextAttemptAt: undefined, pauseUntil: undefined }
  const wishMs =
    status === undefined || retryAfter === undefined ? 0 : Math.min(readRetryAfter(retryAfter, now), longestRetryAfterMs)
  const backoffMs = Math.min(firstPauseMs * 2 ** Math.min(delivery.attempts - 1, 30), longestPauseMs)
  const next = new Date(now.getTime() + Math.max(wishMs, Math.round(backoffMs * (0.9 + 0.1 * random))))
  const overwhelmed = (status === 429 || status === 503) && wishMs > 0
  return {
    acknowledged,
    nextAttemptAt: delivery.once || next > delivery.giveUpAt ? undefined : next,
    pauseUntil: overwhelmed ? new Date(now.getTime() + Math.min(wishMs, longestWishedPauseMs)) : undefined,
  }
}

/** Seconds, or a date. Milliseconds from now; 0 for anything else. */
function readRetryAfter(text: string, now: Date): number {
  if (/^\d{1,10}$/.test(text.trim())) return Number(text) * second
  const at = Date.parse(text)
  return Number.isNaN(at) ? 0 : Math.max(0, at - now.getTime())
}

/** What an answer to a request for approval says of the payment. */
export type Decision =
  | { kind: 'approve'; receiverUserInfo: unknown }
  | { kind: 'reject'; reason: string | undefined }
  /** 422: it lacks something that will not come. */
  | { kind: 'incomplete' }
  /** 202: a call decides. */
  | { kind: 'defer' }
  | { kind: 'timeout' }
  | { kind: 'error' }

export function decisionOf(answer: { status: number | undefined; body: string; timedOut: boolean }): Decision {
  const { status, body, timedOut } = answer
  if (timedOut) return { kind: 'timeout' }
  switch (status) {
    case 202:
      return { kind: 'defer' }
    case 403:
      return { kind: 'reject', reason: reasonIn(readObject(body)) }
    case 422:
      return { kind: 'incomplete' }
    default: {
      if (status === undefined || status < 200 || status >= 300) return { kind: 'error' }
      const given = readObject(body)
      return { kind: 'approve', receiverUserInfo: given?.['receiverUserInfo'] ?? given?.['receiverCustomerInfo'] }
    }
  }
}

function readObject(text: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : undefined
  } catch {
    return undefined
  }
}

function reasonIn(body: Record<string, unknown> | undefined): string | undefined {
  const details = body?.['details'] as Record<string, unknown> | undefined
  const reason = body?.['reason'] ?? details?.['rejectionReason'] ?? details?.['reason']
  return typeof reason === 'string' ? reason : undefined
}
