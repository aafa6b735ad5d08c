import type { lookup } from 'node:dns'
import type { AddressInfo } from 'node:net'
import { createServer, type Server } from 'node:net'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { endpointFault } from '../../src/base/address.ts'
import { createPoster } from '../../src/base/outgoing.ts'

/** Listens on every loopback address and counts who comes. */
let canaries: Server[]
let port: number
let connections = 0

beforeAll(async () => {
  const listen = (host: string, at: number) =>
    new Promise<Server>((resolve, reject) => {
      const server = createServer((socket) => {
        connections += 1
        socket.destroy()
      })
      server.once('error', reject)
      server.listen(at, host, () => resolve(server))
    })
  const first = await listen('0.0.0.0', 0)
  port = (first.address() as AddressInfo).port
  // Where there is no IPv6 nothing can be reached by it either.
  canaries = [
    first,
    ...(await listen('::1', port).then(
      (server) => [server],
      () => [],
    )),
  ]
})

afterAll(() => {
  for (const canary of canaries) canary.close()
})

const options = { allowLocal: false, timeoutMs: 2000 }

/** Written straight, in other number systems, short, with dots and in letters that only look it. */
const ipv4 = [
  '127.0.0.1',
  '127.1',
  '127.0.1',
  '127.0.0.2',
  '127.255.255.254',
  '127.0.0.1.',
  '2130706433',
  '0x7f000001',
  '0x7f.1',
  '0x7f.0.0.1',
  '0x7f.0x0.0x0.0x1',
  '017700000001',
  '0177.1',
  '0177.0.0.01',
  '0177.0x0.0.1',
  '%31%32%37.0.0.1',
  '１２７.0.0.1',
  '127。0。0。1',
  '①②⑦.0.0.1',
  '0.0.0.0',
  '0',
  '0x0',
  '00000',
]

const ipv6 = [
  '[::1]',
  '[0:0:0:0:0:0:0:1]',
  '[0000:0000:0000:0000:0000:0000:0000:0001]',
  '[::]',
  '[::ffff:127.0.0.1]',
  '[::ffff:7f00:1]',
  '[0:0:0:0:0:ffff:127.0.0.1]',
  '[::127.0.0.1]',
  '[::7f00:1]',
  '[::ffff:0:127.0.0.1]',
  '[64:ff9b::127.0.0.1]',
  '[64:ff9b::7f00:1]',
  '[64:ff9b:1::7f00:1]',
  '[2002:7f00:1::]',
  '[2001:0:7f00:1::]',
  '[fe80::1]',
  '[fc00::1]',
  '[fd00::1]',
  '[fec0::1]',
  '[ff02::1]',
  '[100::1]',
  '[2001:db8::1]',
]

const elsewhere = [
  '10.0.0.1',
  '172.16.0.1',
  '172.31.255.255',
  '192.168.0.1',
  '169.254.169.254',
  '0xa9fea9fe',
  '100.64.0.1',
  '192.0.0.1',
  '192.0.2.1',
  '198.18.0.1',
  '198.51.100.1',
  '203.0.113.1',
  '224.0.0.1',
  '240.0.0.1',
  '255.255.255.255',
]

const names = ['localhost', 'LOCALHOST', 'localhost.', 'hook.localhost', 'loc%61lhost', 'ⓛⓞⓒⓐⓛⓗⓞⓢⓣ']

const disguised = ['user:secret@127.0.0.1', 'user@localhost', 'example.com@127.0.0.1', 'example.com:443@[::1]']

const hosts = [...ipv4, ...ipv6, ...elsewhere, ...names, ...disguised]

describe('an address that is not public', () => {
  test('there are more than sixty ways to write one here', () => {
    expect(hosts.length).toBeGreaterThan(60)
  })

  test.each(hosts)('is refused as an endpoint, and nobody connects to it: %s', async (host) => {
    const poster = createPoster()
    for (const scheme of ['http', 'https']) {
      const url = `${scheme}://${host}:${port}/`
      expect(endpointFault(url, false)).toEqual(expect.any(String))
      await expect(poster.post(url, '{}', {}, options)).rejects.toThrow()
    }
    await poster.close()
    expect(connections).toBe(0)
  })

  test.each([
    'file:///etc/passwd',
    'gopher://127.0.0.1/',
    'ftp://127.0.0.1/',
    'data:text/plain,x',
    'unix:/run/x',
    '//127.0.0.1/',
    '',
  ])('nor is anything reached by another scheme: %s', async (url) => {
    const poster = createPoster()
    expect(endpointFault(url, true)).toEqual(expect.any(String))
    await expect(poster.post(url, '{}', {}, options)).rejects.toThrow()
    await poster.close()
    expect(connections).toBe(0)
  })

  const resolving = (answers: readonly string[][]) => {
    let asked = 0
    return ((_name: string, _options: unknown, callback: (error: null, found: object[]) => void) => {
      const answer = answers[Math.min(asked, answers.length - 1)]!
      asked += 1
      callback(
        null,
        answer.map((address) => ({ address, family: address.includes(':') ? 6 : 4 })),
      )
    }) as unknown as typeof lookup
  }

  test.each([
    ['a name that is one of ours', [['127.0.0.1']]],
    ['a name with a public address and one of ours', [['93.184.216.34', '127.0.0.1']]],
    ['a name with the address of ours first', [['127.0.0.1', '93.184.216.34']]],
    ['a mapped one', [['::ffff:127.0.0.1']]],
    ['a compatible one', [['::127.0.0.1']]],
    ['a translated one', [['64:ff9b::7f00:1']]],
    ['a private one', [['192.168.1.1']]],
    ['the address of cloud metadata', [['169.254.169.254']]],
    ['none at all', [[]]],
  ])('is refused behind a name: %s', async (_what, answers) => {
    const poster = createPoster(resolving(answers))
    await expect(poster.post(`http://rebinding.example:${port}/`, '{}', {}, options)).rejects.toThrow()
    await poster.close()
    expect(connections).toBe(0)
  })

  test('is refused when a name changes to it: the address that was judged is the one that is connected to', async () => {
    const poster = createPoster(resolving([['192.0.2.77'], ['127.0.0.1']]))
    for (let time = 0; time < 3; time += 1) {
      await expect(poster.post(`http://rebinding.example:${port}/`, '{}', {}, options)).rejects.toThrow()
    }
    await poster.close()
    expect(connections).toBe(0)
  })

  test('is opened to a sandbox that may use local ones: loopback, and no other', async () => {
    expect(endpointFault(`http://127.0.0.1:${port}/`, true)).toBeUndefined()
    expect(endpointFault(`http://localhost:${port}/`, true)).toBeUndefined()
    for (const host of elsewhere) {
      const poster = createPoster()
      expect(endpointFault(`http://${host}/`, true)).toEqual(expect.any(String))
      await expect(poster.post(`http://${host}:${port}/`, '{}', {}, { ...options, allowLocal: true })).rejects.toThrow()
      await poster.close()
    }
    expect(connections).toBe(0)
    const poster = createPoster()
    await expect(poster.post(`http://127.0.0.1:${port}/`, '{}', {}, { ...options, allowLocal: true })).rejects.toThrow()
    await poster.close()
    expect(connections).toBe(1)
  })
})
