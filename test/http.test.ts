import { describe, expect, test } from 'vitest'
import { newCustomer, newPayer, newQuote } from './people.ts'
import { basic, useWorld } from './world.ts'

const friend = 'https://app.example'

const world = useWorld({ environment: { CORS_ORIGINS: `${friend}, https://other.example` } })

const call = (method: string, path: string, headers: Record<string, string> = {}) =>
  fetch(`${world.gateway.url}/2025-10-13${path}`, { method, headers: { authorization: basic(world.sandbox), ...headers } })

describe('a path', () => {
  test('says which methods it takes, to OPTIONS and to any other', async () => {
    for (const [path, allow] of [
      ['/customers', 'GET, HEAD, OPTIONS, POST'],
      ['/customers/x', 'DELETE, GET, HEAD, OPTIONS, PATCH'],
      ['/quotes/x/execute', 'OPTIONS, POST'],
      ['/config', 'GET, HEAD, OPTIONS, PATCH'],
    ] as const) {
      const options = await call('OPTIONS', path)
      expect([options.status, options.headers.get('allow')]).toEqual([204, allow])
      const put = await call('PUT', path)
      expect([put.status, put.headers.get('allow')]).toEqual([405, allow])
      expect(await put.json()).toMatchObject({ status: 405, code: 'METHOD_NOT_ALLOWED', message: expect.any(String) })
    }
    for (const method of ['GET', 'OPTIONS', 'PUT']) {
      const nowhere = await call(method, '/nowhere')
      expect([nowhere.status, nowhere.headers.get('allow')]).toEqual([404, null])
    }
  })

  test('answers HEAD as GET, without the body', async () => {
    const [head, get] = [await call('HEAD', '/config'), await call('GET', '/config')]
    expect([head.status, await head.text()]).toEqual([200, ''])
    expect(head.headers.get('content-length')).toBe(String(Buffer.byteLength(await get.text())))
    expect((await call('HEAD', `/customers/Customer:${crypto.randomUUID()}`)).status).toBe(404)
  })

  test('answers JSON, and refuses whoever takes none', async () => {
    for (const accept of ['*/*', 'application/json', 'text/html, application/*;q=0.5', 'text/html,*/*;q=0.1', '']) {
      expect((await call('GET', '/config', { accept })).status).toBe(200)
    }
    for (const accept of ['text/html', 'application/xml', 'application/json;q=0']) {
      const refused = await call('GET', '/config', { accept })
      expect([refused.status, (await refused.json()).code]).toEqual([406, 'NOT_ACCEPTABLE'])
    }
    const form = await fetch(`${world.gateway.url}/2025-10-13/customers`, {
      method: 'POST',
      headers: { authorization: basic(world.sandbox), 'content-type': 'text/plain' },
      body: 'x',
    })
    expect([form.status, (await form.json()).code]).toEqual([415, 'INVALID_REQUEST_FORMAT'])
  })
})

describe('what was created', () => {
  test('is found where Location says', async () => {
    const payer = await newPayer(world)
    const creations: [string, object][] = [
      ['/customers', { platformCustomerId: 'x', customerType: 'INDIVIDUAL' }],
      ['/tokens', { name: 'x', permissions: ['VIEW'] }],
      ['/invitations', { inviterUma: payer.customer['umaAddress'] }],
      [
        '/quotes',
        {
          source: { accountId: payer.dollars['id'] },
          destination: { accountId: payer.euros['id'] },
          lockedCurrencySide: 'SENDING',
          lockedCurrencyAmount: 5000,
        },
      ],
    ]
    for (const [path, body] of creations) {
      const { status, headers } = await world.rest('POST', path, body)
      expect(status).toBe(201)
      const found = await fetch(new URL(headers.get('location')!, world.gateway.url), {
        headers: { authorization: basic(world.sandbox) },
      })
      expect([path, found.status]).toEqual([path, 200])
    }
  })

  test('has a validator, and is not sent again while it has not changed', async () => {
    const payer = await newPayer(world)
    const quote = await newQuote(world, payer)
    const path = `/quotes/${quote['id']}`
    const first = await call('GET', path)
    const etag = first.headers.get('etag')!
    expect(etag).toMatch(/^W\/"[\w-]{27}"$/)
    for (const tags of [etag, etag.slice(2), `"other", ${etag}`, '*']) {
      const again = await call('GET', path, { 'if-none-match': tags })
      expect([again.status, await again.text(), again.headers.get('etag')]).toEqual([304, '', etag])
    }
    await world.rest('POST', `${path}/execute`)
    const changed = await call('GET', path, { 'if-none-match': etag })
    expect([changed.status, (await changed.json()).status]).toEqual([200, 'PROCESSING'])
    expect((await call('GET', '/customers')).headers.get('etag')).toBeNull()
    expect((await newCustomer(world))['id']).toMatch(/^Customer:/)
  })
})

describe('a page of another origin', () => {
  const doors = ['/2025-10-13/config', '/graphql']

  test('that is configured may ask first, and read the answers of every door', async () => {
    for (const door of doors) {
      const url = `${world.gateway.url}${door}`
      const asked = await fetch(url, {
        method: 'OPTIONS',
        headers: { origin: friend, 'access-control-request-method': 'POST', 'access-control-request-headers': 'authorization' },
      })
      expect([asked.status, asked.headers.get('access-control-allow-origin')]).toEqual([204, friend])
      expect(asked.headers.get('access-control-allow-headers')).toContain('authorization')
      const refused = await fetch(url, { method: 'POST', headers: { origin: friend } })
      expect(refused.headers.get('access-control-allow-origin')).toBe(friend)
      expect(refused.headers.get('vary')).toContain('Origin')
      expect(refused.headers.get('access-control-allow-credentials')).toBeNull()
    }
    const answered = await call('GET', '/config', { origin: friend })
    expect([answered.status, answered.headers.get('access-control-allow-origin')]).toEqual([200, friend])
    const graph = await world.graphql('{ __typename }', {}, { headers: { origin: friend } })
    expect(graph.headers.get('access-control-allow-origin')).toBe(friend)
  })

  test('that is not is told nothing', async () => {
    for (const door of doors) {
      const headers = { origin: 'https://stranger.example', 'access-control-request-method': 'POST' }
      const asked = await fetch(`${world.gateway.url}${door}`, { method: 'OPTIONS', headers })
      expect(asked.headers.get('access-control-allow-origin')).toBeNull()
    }
  })
})

test('a HEAD asks for nothing that a GET would make', async () => {
  for (const path of ['/customers/kyc-link?platformCustomerId=x', '/receiver/uma/$success.eur@sandbox.uma.localhost']) {
    expect((await world.rest('HEAD', path)).status).toBeGreaterThanOrEqual(400)
  }
  expect((await world.rest('HEAD', '/receiver/uma/$a@b.example')).headers.get('allow')).toBe('GET, OPTIONS')
  const [row] = await world.database.query<{ links: bigint }>('select count(*) as links from kyc_link')
  expect(row!.links).toBe(0n)
})
