import { generateKeyPairSync, verify } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { day, minute, second } from '../../src/base/clock.ts'
import { isAcknowledged, nextAttemptAt } from '../../src/webhooks/policy.ts'
import { signatureOf } from '../../src/webhooks/signature.ts'

describe('retries', () => {
  test('begin within ten seconds, double up to half an hour, and end inside the seventh day', () => {
    const createdAt = new Date('2026-01-01T00:00:00Z')
    let now = createdAt
    const pauses: number[] = []
    for (let attempts = 1; ; attempts += 1) {
      const next = nextAttemptAt({ type: 'OUTGOING_PAYMENT', createdAt, attempts }, now, 1)
      if (!next) break
      pauses.push(next.getTime() - now.getTime())
      now = next
    }
    expect(pauses.slice(0, 10)).toEqual([5, 10, 20, 40, 80, 160, 320, 640, 1280, 1800].map((seconds) => seconds * second))
    expect(new Set(pauses.slice(9))).toEqual(new Set([30 * minute]))
    const lastAttempt = now.getTime() - createdAt.getTime()
    expect(lastAttempt).toBeLessThanOrEqual(7 * day)
    expect(lastAttempt).toBeGreaterThan(7 * day - 31 * minute)
  })

  test('are spread by up to a tenth, and never made of a TEST', () => {
    const delivery = { createdAt: new Date(0), attempts: 1 }
    expect(nextAttemptAt({ type: 'KYC_STATUS', ...delivery }, new Date(0), 0)).toEqual(new Date(4500))
    expect(nextAttemptAt({ type: 'TEST', ...delivery }, new Date(0), 0)).toBeUndefined()
  })

  test.each([
    [200, true],
    [204, true],
    [409, true],
    [301, false],
    [404, false],
    [500, false],
    [undefined, false],
  ])('an answer of %s acknowledges: %s', (responseStatus, acknowledged) => {
    expect(isAcknowledged({ responseStatus })).toBe(acknowledged)
  })
})

describe('a signature', () => {
  const { privateKey, publicKey } = generateKeyPairSync('ec', {
    namedCurve: 'P-256',
    privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
    publicKeyEncoding: { type: 'spki', format: 'pem' },
  })

  test('names its key and verifies over the exact body; one other byte does not', () => {
    const body = '{"type":"TEST","amount":9007199254740993}'
    const { v, s } = JSON.parse(signatureOf(body, { keyVersion: 3, privateKey }))
    expect(v).toBe('3')
    expect(verify('sha256', Buffer.from(body), publicKey, Buffer.from(s, 'base64'))).toBe(true)
    expect(verify('sha256', Buffer.from(`${body} `), publicKey, Buffer.from(s, 'base64'))).toBe(false)
  })
})
