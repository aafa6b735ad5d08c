import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { endpointFault, isPublicAddress } from '../../src/base/address.ts'
import { decodePlace, decodePosition, encodePlace, encodePosition } from '../../src/base/cursor.ts'
import { derivedUuid, newId, toId, uuidOf } from '../../src/base/ids.ts'
import { isoText } from '../../src/base/instant.ts'
import { canonicalJson, parseJson, stringifyJson } from '../../src/base/json.ts'
import { ceil, displayAmount, floor, parseDecimal, ratio, round, toDecimal } from '../../src/base/money.ts'

describe('JSON', () => {
  test('keeps every 64-bit integer exact, both ways', () => {
    fc.assert(
      fc.property(fc.bigInt(-(2n ** 63n), 2n ** 63n - 1n), (amount) => {
        expect(stringifyJson({ amount })).toBe(`{"amount":${amount}}`)
        const { amount: read } = parseJson(`{"amount":${amount}}`) as { amount: number | bigint }
        expect(BigInt(read)).toBe(amount)
      }),
    )
  })

  test('reads long digits inside texts and fractions as what they are', () => {
    expect(parseJson('{"a":"12345678901234567890","b":0.1234567890123456789,"c":1e30}')).toEqual({
      a: '12345678901234567890',
      b: 0.12345678901234568,
      c: 1e30,
    })
  })

  test('is canonical whatever the order of keys', () => {
    expect(canonicalJson({ b: [{ d: 1n, c: 2 }], a: null })).toBe(canonicalJson({ a: null, b: [{ c: 2, d: 1n }] }))
    expect(canonicalJson({ a: [1, 2] })).not.toBe(canonicalJson({ a: [2, 1] }))
  })
})

describe('money', () => {
  test('rounds as named, also below zero', () => {
    expect([floor(ratio(-7n, 2n)), ceil(ratio(-7n, 2n)), round(ratio(-7n, 2n))]).toEqual([-4n, -3n, -3n])
    expect([floor(ratio(7n, 2n)), ceil(ratio(7n, 2n)), round(ratio(7n, 2n))]).toEqual([3n, 4n, 4n])
  })

  test('shows amounts in whole units', () => {
    expect(displayAmount(123_456n, 2)).toBe('1234.56')
    expect(displayAmount(-5n, 2)).toBe('-0.05')
    expect(displayAmount(5n, 0)).toBe('5')
    expect(displayAmount(1n, 8)).toBe('0.00000001')
  })

  test('reads the decimals it writes', () => {
    fc.assert(
      fc.property(fc.bigInt(0n, 10n ** 20n), fc.integer({ min: 0, max: 12 }), (units, places) => {
        const value = ratio(units, 10n ** BigInt(places))
        expect(parseDecimal(toDecimal(value, places))).toEqual(value)
      }),
    )
    expect(() => parseDecimal('1e5')).toThrow()
    expect(() => parseDecimal('-1')).toThrow()
  })
})

describe('ids', () => {
  test('read back as their uuid, of their type only', () => {
    const uuid = newId()
    expect(uuidOf('Quote', toId('Quote', uuid))).toBe(uuid)
    expect(uuidOf('Quote', toId('Quote', uuid).toUpperCase())).toBeUndefined()
    expect(uuidOf('Quote', `Quote:${uuid.toUpperCase()}`)).toBe(uuid)
    expect(uuidOf('Quote', toId('Customer', uuid))).toBeUndefined()
    expect(uuidOf('Quote', `Quote:${uuid}x`)).toBeUndefined()
  })

  test('derived from parts are uuids, the same for the same parts and no others', () => {
    expect(derivedUuid('a', 'b')).toBe(derivedUuid('a', 'b'))
    expect(derivedUuid('a', 'b')).not.toBe(derivedUuid('ab'))
    expect(uuidOf('Quote', `Quote:${derivedUuid('a')}`)).toBeDefined()
  })
})

describe('cursors', () => {
  test('read back, and refuse what this service did not write', () => {
    const place = { createdAt: new Date(1_795_254_998_662), id: newId() }
    expect(decodePlace(encodePlace(place))).toEqual(place)
    expect(decodePosition(encodePosition(42n))).toBe(42n)
    for (const bad of ['', 'x', encodePosition(1n), Buffer.from('1.2').toString('base64url'), '💥']) {
      expect(() => decodePlace(bad)).toThrow('cursor')
    }
    expect(() => decodePosition(encodePlace(place))).toThrow('cursor')
  })
})

describe('addresses', () => {
  test.each([
    '127.0.0.1',
    '10.0.0.1',
    '169.254.169.254',
    '192.168.1.1',
    '100.64.0.1',
    '0.0.0.0',
    '::1',
    '::',
    '::ffff:127.0.0.1',
    '::7f00:1',
    'fd00:ec2::254',
    'fe80::1',
    '64:ff9b::7f00:1',
    '2002:7f00:1::',
    '224.0.0.1',
    'not an address',
  ])('%s is not public', (address) => {
    expect(isPublicAddress(address)).toBe(false)
  })

  test.each(['93.184.216.34', '2606:2800:220:1:248:1893:25c8:1946', '::ffff:93.184.216.34'])('%s is public', (address) => {
    expect(isPublicAddress(address)).toBe(true)
  })

  test.each([
    'http://example.com/hook',
    'ftp://example.com',
    'https://user:secret@example.com/hook',
    'https://127.0.0.1/hook',
    'https://2130706433/hook',
    'https://0177.0.0.1/hook',
    'https://127.1/hook',
    'https://[::1]/hook',
    'https://[::ffff:127.0.0.1]/hook',
    'https://localhost/hook',
    'https://10.0.0.8/hook',
    '/hook',
    '',
  ])('an endpoint at %s is refused', (url) => {
    expect(endpointFault(url, false)).toBeDefined()
  })

  test('a local endpoint is for worlds that may', () => {
    expect(endpointFault('http://localhost:3000/hook', true)).toBeUndefined()
    expect(endpointFault('http://10.0.0.8/hook', true)).toBeDefined()
    expect(endpointFault('https://example.com/hook', false)).toBeUndefined()
  })
})

test('an instant as text is what JavaScript makes of it', () => {
  fc.assert(
    fc.property(fc.date({ min: new Date('1970-01-01'), max: new Date('2200-01-01'), noInvalidDate: true }), (instant) => {
      expect(isoText(instant)).toBe(instant.toISOString())
    }),
  )
})
