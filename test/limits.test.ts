/** What one client may take from all the others: requests, attempts to sign in, time, and room. */
import { connect } from 'node:net'
import { setTimeout } from 'node:timers/promises'
import { createClient } from 'graphql-ws'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { basic, useWorld } from './world.ts'

const budget = 40
const world = useWorld({
  environment: { REQUESTS_PER_MINUTE: String(budget), TRUSTED_PROXIES: '1' },
  patience: { headersMs: 200, requestMs: 400, silenceMs: 300 },
})

/** Credentials with a budget of their own. */
async function newToken() {
  const { body } = await world.rest('POST', '/tokens', { name: 'Test', permissions: ['VIEW', 'MANAGE'] }, { as: world.stranger })
  return { id: body['id'] as string, clientId: body['clientId'], clientSecret: body['clientSecret'] }
}

describe('a token', () => {
  test('has a budget by the minute, hears how much is left, and when to come back', async () => {
    const as = await newToken()
    const first = await world.rest('GET', '/config', undefined, { as })
    expect(first.headers.get('ratelimit-limit')).toBe(String(budget))
    expect(first.headers.get('ratelimit-remaining')).toBe(String(budget - 1))
    expect(Number(first.headers.get('ratelimit-reset'))).toBeGreaterThan(0)
    const rest = await Promise.all(Array.from({ length: budget }, () => world.rest('GET', '/config', undefined, { as })))
    const refused = rest.filter(({ status }) => status === 429)
    expect(refused).toHaveLength(1)
    const [{ body, headers }] = refused as [(typeof refused)[0]]
    expect(body).toMatchObject({ status: 429, code: 'RATE_LIMITED', details: { retryAfterSeconds: expect.any(Number) } })
    expect(Number(headers.get('retry-after'))).toBe(body['details'].retryAfterSeconds)
    expect(headers.get('ratelimit-remaining')).toBe('0')

    // Through every door, and of nobody else.
    const graphql = await world.graphql('{ platform { id } }', {}, { as })
    expect([graphql.status, graphql.body['errors'][0].extensions.code]).toEqual([429, 'RATE_LIMITED'])
    expect(graphql.headers.get('retry-after')).toMatch(/^\d+$/)
    const client = createClient({
      url: `${world.gateway.url.replace('http', 'ws')}/graphql`,
      connectionParams: { authorization: basic(as) },
    })
    const errors = await new Promise((resolve) =>
      client.subscribe({ query: '{ platform { id } }' }, { next: resolve, error: resolve, complete: () => {} }),
    )
    expect(errors).toMatchObject([{ extensions: { code: 'RATE_LIMITED' } }])
    await client.dispose()
    expect((await world.rest('GET', '/config', undefined, { as: await newToken() })).status).toBe(200)
  })
})

describe('signing in', () => {
  const attempt = (clientSecret: string, address: string) =>
    world.rest('GET', '/config', undefined, {
      as: { clientId: 'production', clientSecret },
      headers: { 'x-forwarded-for': `spoofed, ${address}` },
    })

  test('is refused for a while to an address that failed too often, with the right secret too; to that address only', async () => {
    for (let failures = 0; failures < 20; failures += 1) expect((await attempt('wrong', '203.0.113.7')).status).toBe(401)
    const damped = await attempt('production-secret', '203.0.113.7')
    expect([damped.status, damped.body['code']]).toEqual([429, 'RATE_LIMITED'])
    expect(damped.headers.get('retry-after')).toMatch(/^\d+$/)
    expect((await attempt('production-secret', '203.0.113.8')).status).toBe(200)
  })

  test('by ever new names is refused too, and those with the right secret still come in', async () => {
    const { admission } = world.gateway.core
    const identify = (name: string) =>
      admission.identify(basic({ clientId: name, clientSecret: 'x' }), '203.0.113.9').catch(({ code }) => code)
    const codes: string[] = []
    for (let count = 0; count < 1001; count += 1) codes.push(await identify(`nobody-${count}`))
    expect([codes.at(0), codes.at(999), codes.at(1000)]).toEqual(['UNAUTHORIZED', 'UNAUTHORIZED', 'RATE_LIMITED'])
    expect(await admission.identify(basic(world.production), '203.0.113.9')).toMatchObject({ environment: 'PRODUCTION' })
  })
})

describe('a client', () => {
  let socket: ReturnType<typeof connect>
  let heard: Promise<string>

  beforeEach(() => {
    const url = new URL(world.gateway.url)
    socket = connect(Number(url.port), url.hostname)
    socket.on('error', () => {})
    heard = new Promise((resolve) => {
      let text = ''
      socket.on('data', (chunk) => {
        text += chunk
      })
      socket.once('close', () => resolve(text))
    })
  })

  afterEach(() => socket.destroy())

  test('that takes too long for its headers is cut off, with a word', async () => {
    socket.write('GET /healthz HTTP/1.1\r\nhost: gateway\r\n')
    expect(await heard).toMatch(/^HTTP\/1\.1 408 .*"code":"INVALID_REQUEST_FORMAT"/s)
  })

  test.each(['/2025-10-13/quotes', '/graphql'])('that falls silent within its body is cut off: %s', async (path) => {
    socket.write(
      `POST ${path} HTTP/1.1\r\nhost: gateway\r\nauthorization: ${basic(world.sandbox)}\r\ncontent-type: application/json\r\ncontent-length: 100\r\n\r\n{`,
    )
    expect(await heard).not.toMatch(/HTTP\/1\.1 2/)
  })

  test('that waits for an answer is not silent, however long it takes', async () => {
    const { query } = world.database
    world.database.query = (async (...asked: Parameters<typeof query>) => {
      await setTimeout(700)
      return query(...asked)
    }) as typeof query
    try {
      for (const reply of [
        await world.rest('GET', '/customers'),
        await world.graphql('{ customers { edges { node { id } } } }'),
      ]) {
        expect(reply.status).toBe(200)
      }
    } finally {
      world.database.query = query
    }
  })

  test('that goes away within its body leaves nothing behind', async () => {
    socket.write(
      `POST /graphql HTTP/1.1\r\nhost: gateway\r\nauthorization: ${basic(world.sandbox)}\r\ncontent-type: application/json\r\ncontent-length: 100\r\n\r\n{`,
    )
    socket.destroy()
    expect((await fetch(`${world.gateway.url}/readyz`)).status).toBe(200)
  })

  test('whose body never ends is refused before it has', async () => {
    socket.write(
      `POST /graphql HTTP/1.1\r\nhost: gateway\r\nauthorization: ${basic(world.sandbox)}\r\ncontent-type: application/json\r\ntransfer-encoding: chunked\r\n\r\n`,
    )
    const chunk = 'x'.repeat(65_536)
    for (let sent = 0; sent < 6; sent += 1) socket.write(`${chunk.length.toString(16)}\r\n${chunk}\r\n`)
    expect(await heard).toMatch(/^HTTP\/1\.1 413 /)
  })

  test('with headers larger than they may be, or no HTTP at all, is told', async () => {
    socket.write(`GET /healthz HTTP/1.1\r\nhost: gateway\r\nx-large: ${'x'.repeat(20_000)}\r\n\r\n`)
    expect(await heard).toMatch(/^HTTP\/1\.1 431 .*"status":431,"code":"INVALID_REQUEST_FORMAT"/s)
    const url = new URL(world.gateway.url)
    const other = connect(Number(url.port), url.hostname)
    const text = new Promise<string>((resolve) => other.once('data', (chunk) => resolve(String(chunk))))
    other.write('HELO gateway\r\n\r\n')
    expect(await text).toMatch(/^HTTP\/1\.1 400 .*"code":"INVALID_REQUEST_FORMAT"/s)
    other.destroy()
  })
})

describe('large replies', () => {
  test('are compressed for those who take it, and vary by encoding', async () => {
    const url = `${world.gateway.url}/openapi.json`
    const ask = (encoding: string) => fetch(url, { headers: { 'accept-encoding': encoding } })
    const plain = await ask('identity')
    expect(plain.headers.get('content-encoding')).toBeNull()
    const text = await plain.text()
    for (const encoding of ['gzip', 'br']) {
      const compressed = await ask(encoding)
      expect([compressed.headers.get('content-encoding'), compressed.headers.get('vary')]).toEqual([
        encoding,
        expect.stringMatching(/accept-encoding/i),
      ])
      expect(await compressed.text()).toBe(text)
    }
    const small = await fetch(`${world.gateway.url}/2025-10-13/config`, {
      headers: { authorization: basic(world.sandbox), 'accept-encoding': 'gzip' },
    })
    expect(small.headers.get('content-encoding')).toBeNull()
  })
})

test('a document that cannot be run counts once, too', async () => {
  const as = await newToken()
  const remaining = async (query: string) => Number((await world.graphql(query, {}, { as })).headers.get('ratelimit-remaining'))
  expect([await remaining('{ platform { id } }'), await remaining('{ nothing }'), await remaining('{')]).toEqual([
    budget - 1,
    budget - 2,
    budget - 3,
  ])
})
