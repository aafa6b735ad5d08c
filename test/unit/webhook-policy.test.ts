import { generateKeyPairSync, verify } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { day, minute, second } from '../../src/base/clock.ts'
import { signatureOf } from '../../src/core/platform/signing-keys.ts'
import { decisionOf, judge } from '../../src/webhooks/policy.ts'

const start = new Date('2026-01-01T00:00:00Z')
const delivery = (attempts: number, once = false) => ({ attempts, once, giveUpAt: new Date(start.getTime() + 7 * day) })

describe('retries', () => {
  test('begin within ten seconds, double up to half an hour, and end inside the seventh day', () => {
    let now = start
    const pauses: number[] = []
    for (let attempts = 1; ; attempts += 1) {
      const { nextAttemptAt } = judge(delivery(attempts), { status: 500 }, now, 1)
      if (!nextAttemptAt) break
      pauses.push(nextAttemptAt.getTime() - now.getTime())
      now = nextAttemptAt
    }
    expect(pauses.slice(0, 10)).toEqual([5, 10, 20, 40, 80, 160, 320, 640, 1280, 1800].map((seconds) => seconds * second))
    expect(new Set(pauses.slice(9))).toEqual(new Set([30 * minute]))
    const lastAttempt = now.getTime() - start.getTime()
    expect(lastAttempt).toBeLessThanOrEqual(7 * day)
    expect(lastAttempt).toBeGreaterThan(7 * day - 31 * minute)
  })

  test('are spread by up to a tenth, and never made of what is sent once', () => {
    expect(judge(delivery(1), { status: undefined }, start, 0).nextAttemptAt).toEqual(new Date(start.getTime() + 4500))
    expect(judge(delivery(1, true), { status: 500 }, start, 0).nextAttemptAt).toBeUndefined()
  })

  test.each([
    [200, true],
    [204, true],
    [409, true],
    [301, false],
    [404, false],
    [500, false],
    [undefined, false],
  ])('an answer of %s acknowledges: %s', (status, acknowledged) => {
    expect(judge(delivery(1), { status }, start, 0).acknowledged).toBe(acknowledged)
  })

  test.each([
    ['120', 120 * second],
    ['Thu, 01 Jan 2026 00:10:00 GMT', 10 * minute],
    ['2', 5 * second],
    ['soon', 5 * second],
    ['99999999999', 5 * second],
    ['9999999', day],
    ['Thu, 01 Jan 2020 00:00:00 GMT', 5 * second],
  ])('wait as long as the endpoint asks for, a day at most: Retry-After: %s', (retryAfter, pauseMs) => {
    const { nextAttemptAt } = judge(delivery(1), { status: 500, retryAfter }, start, 1)
    expect(nextAttemptAt!.getTime() - start.getTime()).toBe(pauseMs)
  })

  test('leave the whole endpoint alone when it says that it is overwhelmed, five minutes at most', () => {
    const pause = (status: number, retryAfter?: string) => judge(delivery(1), { status, retryAfter }, start, 0).pauseUntil
    expect(pause(429, '30')).toEqual(new Date(start.getTime() + 30 * second))
    expect(pause(503, '9000')).toEqual(new Date(start.getTime() + 5 * minute))
    expect(pause(429)).toBeUndefined()
    expect(pause(500, '30')).toBeUndefined()
  })
})

describe('the answer to a request for approval', () => {
  const answer = (status: number | undefined, body = '', timedOut = false) => decisionOf({ status, body, timedOut })

  test.each([
    [200, '', { kind: 'approve', receiverUserInfo: undefined }],
    [200, 'not JSON', { kind: 'approve', receiverUserInfo: undefined }],
    [200, '{"receiverUserInfo":{"FULL_NAME":"Ada"}}', { kind: 'approve', receiverUserInfo: { FULL_NAME: 'Ada' } }],
    [200, '{"receiverCustomerInfo":{"FULL_NAME":"Ada"}}', { kind: 'approve', receiverUserInfo: { FULL_NAME: 'Ada' } }],
    [202, '', { kind: 'defer' }],
    [403, '{"code":"payment_rejected","details":{"rejectionReason":"no"}}', { kind: 'reject', reason: 'no' }],
    [403, '{"reason":"no"}', { kind: 'reject', reason: 'no' }],
    [403, '[', { kind: 'reject', reason: undefined }],
    [422, '{"requiredFields":["FULL_NAME"]}', { kind: 'incomplete' }],
    [302, '', { kind: 'error' }],
    [409, '', { kind: 'error' }],
    [500, '', { kind: 'error' }],
    [undefined, '', { kind: 'error' }],
  ])('%s %s', (status, body, decision) => {
    expect(answer(status, body)).toEqual(decision)
  })

  test('that does not come is a timeout', () => {
    expect(answer(undefined, '', true)).toEqual({ kind: 'timeout' })
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
