/** Whether another provider has really said something, just now and for the first time: its keys, its signatures, its nonces. */
import { ErrorCode, type NonceValidator, PubKeyResponse, UmaError } from '@uma-sdk/core'
import { isLoopbackAddress } from '../base/address.ts'
import { type Clock, hour, minute, second } from '../base/clock.ts'
import type { Poster } from '../base/outgoing.ts'
import { isTimely, spendNonce } from '../core/uma/nonces.ts'
import type { Database } from '../database/port.ts'

export const answerWithinMs = 10 * second
const longestCachedMs = hour
/** Whoever forges signatures of a provider does not make us ask it for its keys more often than this. */
const askedAgainAfterMs = minute

interface Said {
  /** Who is said to have signed it. */
  domain: string
  nonce: string
  /** Seconds since 1970. */
  timestamp: number
}

export interface Trust {
  /** Throws a UmaError: COUNTERPARTY_PUBKEY_FETCH_ERROR, INVALID_PUBKEY_FORMAT, CERT_CHAIN_EXPIRED. */
  keysOf(domain: string, allowLocal: boolean): Promise<PubKeyResponse>
  /**
   * Throws a UmaError: INVALID_TIMESTAMP, INVALID_SIGNATURE, INVALID_NONCE, and as `keysOf`. `verify` is the protocol's own check; keys that
   * do not fit are fetched again once, in case they have changed.
   */
  require(
    said: Said,
    allowLocal: boolean,
    verify: (keys: PubKeyResponse, nonces: NonceValidator) => Promise<boolean>,
  ): Promise<void>
}

/** The nonce is spent once the signature is known to be good: nobody else can use it up. */
const anyNonce: NonceValidator = { checkAndSaveNonce: async () => true }

export function createTrust(database: Database, clock: Clock, poster: Poster): Trust {
  const kept = new Map<string, { keys: PubKeyResponse; since: number; until: number }>()

  async function fetchKeys(domain: string, allowLocal: boolean): Promise<PubKeyResponse> {
    const url = `${schemeOf(domain, allowLocal)}//${domain}/.well-known/lnurlpubkey`
    const answer = await poster.get(url, { allowLocal, timeoutMs: answerWithinMs }).catch((error: Error) => error)
    if (answer instanceof Error || answer.status !== 200) {
      const why = answer instanceof Error ? answer.message : `it was answered ${answer.status}`
      throw new UmaError(`The keys of ${domain} could not be had: ${why}`, ErrorCode.COUNTERPARTY_PUBKEY_FETCH_ERROR)
    }
    const keys = readKeys(answer.body, domain)
    const now = clock.now()
    if (keys.signingCertChain?.some(({ validTo }) => new Date(validTo) < now)) {
      throw new UmaError(`The certificates of ${domain} have expired`, ErrorCode.CERT_CHAIN_EXPIRED)
    }
    const expires = keys.expirationTimestamp === undefined ? Number.POSITIVE_INFINITY : keys.expirationTimestamp * second
    kept.set(domain, { keys, since: now.getTime(), until: Math.min(expires, now.getTime() + longestCachedMs) })
    return keys
  }

  async function keysOf(domain: string, allowLocal: boolean): Promise<PubKeyResponse> {
    const known = kept.get(domain)
    return known && known.until > clock.now().getTime() ? known.keys : fetchKeys(domain, allowLocal)
  }

  return {
    keysOf,
    async require({ domain, nonce, timestamp }, allowLocal, verify) {
      if (!isTimely(clock, new Date(timestamp * second))) {
        throw new UmaError('The signature is too old, or from the future', ErrorCode.INVALID_TIMESTAMP)
      }
      const now = clock.now().getTime()
      const mayHaveChanged = (kept.get(domain)?.since ?? now) <= now - askedAgainAfterMs
      const isGood = async (keys: PubKeyResponse) => verify(keys, anyNonce).catch(() => false)
      const good =
        (await isGood(await keysOf(domain, allowLocal))) ||
        (mayHaveChanged && (await isGood(await fetchKeys(domain, allowLocal))))
      if (!good) throw new UmaError(`The signature is not one of ${domain}`, ErrorCode.INVALID_SIGNATURE)
      if (!(await spendNonce({ database, clock }, domain, nonce))) {
        throw new UmaError('The nonce was used before', ErrorCode.INVALID_NONCE)
      }
    },
  }
}

function readKeys(body: string, domain: string): PubKeyResponse {
  try {
    const keys = PubKeyResponse.fromJson(body)
    if ([33, 65].includes(keys.getSigningPubKey().length) && [33, 65].includes(keys.getEncryptionPubKey().length)) return keys
  } catch {
    // It is refused below.
  }
  throw new UmaError(`What ${domain} calls its keys are none`, ErrorCode.INVALID_PUBKEY_FORMAT)
}

/** Loopback, where it may be spoken with, has no certificates. */
export function schemeOf(domain: string, allowLocal: boolean): 'http:' | 'https:' {
  const host = domain.replace(/:\d+$/, '')
  return allowLocal && (/^(.+\.)?localhost$/.test(host) || isLoopbackAddress(host)) ? 'http:' : 'https:'
}
