/**
 * Who may come in, and how often: credentials are looked at here, attempts that fail are counted by address and user name, and what a token
 * asks is counted by the minute. Each process counts for itself.
 */
import type { IncomingMessage, ServerResponse } from 'node:http'
import { RateLimiterMemory, RateLimiterRes } from 'rate-limiter-flexible'
import { type Clock, minute, second } from '../../base/clock.ts'
import { DomainError } from '../../base/refusal.ts'
import type { Caller } from '../operation.ts'
import { authenticate, bearerOf, type Tokens, userNameOf } from './authentication.ts'

const failuresPerMinute = 20
/** Of one address, whatever names it tries: beyond it nothing more is remembered of it. */
const namesPerMinute = 1000

export interface Admission {
  /** The client's address: as the nearest trusted proxy says. */
  addressOf(request: Pick<IncomingMessage, 'headers' | 'socket'>): string
  /** Refuses UNAUTHORIZED; RATE_LIMITED where the same address has failed with this user name too often, whatever it says now. */
  identify(authorization: string | undefined, address: string): Promise<Caller>
  /** One more call of a token. Refuses RATE_LIMITED; the budget is said in RateLimit headers of the response, where there is one. */
  count(caller: Caller, response?: ServerResponse): Promise<void>
  /** Both, for a call over HTTP. */
  admit(request: IncomingMessage, response: ServerResponse): Promise<Caller>
}

export interface AdmissionOptions {
  /** Of one token; 0: as many as it likes. */
  requestsPerMinute: number
  /** How many proxies in front of the gateway append to X-Forwarded-For. */
  trustedProxies: number
}

export function createAdmission(
  tokens: Tokens,
  clock: Clock,
  { requestsPerMinute, trustedProxies }: AdmissionOptions,
): Admission {
  const duration = minute / second
  const failures = new RateLimiterMemory({ points: failuresPerMinute, duration })
  const addresses = new RateLimiterMemory({ points: namesPerMinute, duration })
  const requests = requestsPerMinute === 0 ? undefined : new RateLimiterMemory({ points: requestsPerMinute, duration })

  const admission: Admission = {
    addressOf({ headers, socket }) {
      const direct = socket.remoteAddress ?? ''
      if (trustedProxies === 0) return direct
      const forwarded = String(headers['x-forwarded-for'] ?? '').split(',')
      return forwarded.at(-trustedProxies)?.trim() || direct
    },
    async identify(authorization, address) {
      const userName = userNameOf(authorization)
      const key = userName === undefined ? undefined : `${address} ${userName}`
      const failed = key === undefined ? undefined : await failures.get(key)
      if (failed && failed.consumedPoints >= failuresPerMinute) {
        throw tooMany('Too many failed attempts to sign in', failed.msBeforeNext)
      }
      try {
        return await authenticate(tokens, authorization, clock.now())
      } catch (error) {
        // Whoever gives no credentials guesses none.
        if (!(error instanceof DomainError) || (key ?? bearerOf(authorization)) === undefined) throw error
        const { consumedPoints, msBeforeNext } = await addresses.penalty(address)
        if (consumedPoints > namesPerMinute) throw tooMany('Too many failed attempts to sign in', msBeforeNext)
        if (key !== undefined) await failures.penalty(key)
        throw error
      }
    },
    async count({ tokenId }, response) {
      if (!requests || tokenId === undefined) return
      try {
        announce(response, await requests.consume(tokenId), requestsPerMinute)
      } catch (error) {
        if (!(error instanceof RateLimiterRes)) throw error
        announce(response, error, requestsPerMinute)
        throw tooMany(`More than ${requestsPerMinute} requests in a minute`, error.msBeforeNext)
      }
    },
    async admit(request, response) {
      const caller = await admission.identify(request.headers.authorization, admission.addressOf(request))
      await admission.count(caller, response)
      return caller
    },
  }
  return admission
}

function announce(response: ServerResponse | undefined, { remainingPoints, msBeforeNext }: RateLimiterRes, limit: number): void {
  if (!response || response.headersSent) return
  response.setHeader('ratelimit-limit', limit)
  response.setHeader('ratelimit-remaining', Math.max(0, remainingPoints))
  response.setHeader('ratelimit-reset', secondsUntil(msBeforeNext))
}

function tooMany(message: string, msBeforeNext: number): DomainError {
  return new DomainError('RATE_LIMITED', message, { retryAfterSeconds: secondsUntil(msBeforeNext) })
}

function secondsUntil(ms: number): number {
  return Math.max(1, Math.ceil(ms / second))
}
