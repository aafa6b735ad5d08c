import { execFileSync } from 'node:child_process'
import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { day, minute, second } from '../src/base/clock.ts'
import { fund, newCustomer, newPayer } from './people.ts'
import { openReceiver, type Receiver } from './receiver.ts'
import { type Body, type Credentials, useWorld } from './world.ts'

const world = useWorld({ webhookTimeouts: { approvalMs: 150, otherMs: 150 } })

let receiver: Receiver

beforeAll(async () => {
  receiver = await openReceiver()
})

afterAll(() => receiver.close())

beforeEach(async () => {
  receiver.answer = () => ({ status: 200 })
  expect((await world.rest('PATCH', '/config', { webhookEndpoint: receiver.url })).status).toBe(200)
  await world.drain()
  // What the last test left behind.
  while ((await health())['pending'] > 0) await pass(31 * minute, 31 * minute)
  receiver.received = []
})

const health = async (as: Credentials = world.sandbox) => (await world.rest('GET', '/webhooks/health', undefined, { as })).body
const delivery = async (id: string) => (await world.rest('GET', `/webhooks/deliveries/${id}`)).body

/** A balance that is moved so often, each time with two events: of the account, and of a payment of its own. */
async function moveBalance(times: number): Promise<string> {
  const { dollars } = await newPayer(world, { balance: 0 })
  for (let amount = 1; amount <= times; amount += 1) await fund(world, dollars['id'], amount)
  return dollars['id']
}

/** The cursor after everything that has happened. */
async function endOfLog(): Promise<string> {
  for (let cursor = ''; ; ) {
    const { body } = await world.rest('GET', `/events?limit=100${cursor && `&cursor=${cursor}`}`)
    if (!body['hasMore']) return body['nextCursor']
    cursor = body['nextCursor']
  }
}

/** Lets the time go by in steps, doing what is due after each. */
async function pass(total: number, step: number): Promise<void> {
  for (let passed = 0; passed < total; passed += step) {
    world.clock.advance(Math.min(step, total - passed))
    await world.drain()
  }
}

describe('a webhook that is not acknowledged', () => {
  test('is sent again for seven days, at most half an hour apart; then it is given up, and can be redelivered', async () => {
    const at: number[] = []
    const start = world.clock.now().getTime()
    receiver.answer = ({ type }) => {
      if (type !== 'ACCOUNT_STATUS') return { status: 200 }
      at.push(world.clock.now().getTime() - start)
      return { status: 500, body: 'no' }
    }
    await moveBalance(1)
    await world.drain()
    const id = receiver.received.find(({ body }) => body['type'] === 'ACCOUNT_STATUS')!.body['webhookId']
    for (;;) {
      const { nextAttemptAt } = await delivery(id)
      if (nextAttemptAt === undefined) break
      const pause = Date.parse(nextAttemptAt) - world.clock.now().getTime()
      if (at.length < 10) await pass(pause, pause - 1)
      else await pass(pause, pause)
    }
    const pauses = at.slice(1).map((time, index) => time - at[index]!)
    expect(at[0]).toBe(0)
    expect(pauses[0]).toBeLessThanOrEqual(10 * second)
    // Each pause is twice the one before, up to half an hour, and less by up to a tenth.
    for (const [index, pause] of pauses.entries()) {
      const planned = Math.min(5 * second * 2 ** index, 30 * minute)
      expect(pause).toBeGreaterThanOrEqual(planned * 0.9)
      expect(pause).toBeLessThanOrEqual(planned)
    }
    expect(at.at(-1)).toBeGreaterThan(7 * day - 31 * minute)
    expect(at.at(-1)).toBeLessThanOrEqual(7 * day)
    const dead = await delivery(id)
    expect(dead).toMatchObject({ status: 'FAILED', attempts: at.length })
    expect(dead).not.toHaveProperty('nextAttemptAt')
    expect(dead['log']).toHaveLength(at.length)
    expect(dead['log'][0]).toEqual({
      attemptedAt: new Date(start).toISOString(),
      url: receiver.url,
      durationMs: expect.any(Number),
      responseStatus: 500,
      responseBody: 'no',
    })

    receiver.answer = () => ({ status: 200 })
    receiver.received = []
    const again = await world.rest('POST', `/webhooks/deliveries/${id}/redeliver`)
    expect(again).toMatchObject({ status: 202, body: { id, status: 'PENDING' } })
    await world.drain()
    expect(receiver.received.map(({ raw }) => raw)).toEqual([dead['body']])
    const done = await delivery(id)
    expect(done).toMatchObject({ status: 'DELIVERED', attempts: 1 })
    expect(done['log']).toHaveLength(at.length + 1)
  })

  test('waits as long as the answer asks for', async () => {
    receiver.answer = ({ type }) =>
      type === 'ACCOUNT_STATUS' ? { status: 500, headers: { 'retry-after': '600' } } : { status: 200 }
    await moveBalance(1)
    await world.drain()
    await pass(595 * second, 35 * second)
    const sent = () => receiver.received.filter(({ body }) => body['type'] === 'ACCOUNT_STATUS').length
    expect(sent()).toBe(1)
    await pass(10 * second, 5 * second)
    expect(sent()).toBe(2)
  })

  test('is not followed elsewhere, nor read beyond what is kept', async () => {
    const elsewhere = await openReceiver()
    receiver.answer = ({ type }) =>
      type === 'ACCOUNT_STATUS'
        ? { status: 307, headers: { location: elsewhere.url }, body: 'x'.repeat(1_000_000) }
        : { status: 200 }
    await moveBalance(1)
    await world.drain()
    const { body } = receiver.received.find(({ body: one }) => one['type'] === 'ACCOUNT_STATUS')!
    const [attempt] = (await delivery(body['webhookId']))['log']
    expect(attempt).toMatchObject({ responseStatus: 307, responseBody: 'x'.repeat(4096) })
    expect(elsewhere.received).toEqual([])
    elsewhere.close()
  })

  test('by an endpoint that stays silent has no answer', async () => {
    receiver.answer = () => 'never'
    await moveBalance(1)
    await world.drain()
    const { body } = await world.rest('GET', '/webhooks/deliveries?limit=1')
    expect((await delivery(body['data'][0].id))['log'][0]).toMatchObject({ error: 'no answer within 150 ms' })
    expect(body['data'][0]).toMatchObject({ status: 'PENDING', attempts: 1 })
  })
})

describe('of one thing, webhooks', () => {
  test('come in the order in which it happened, whatever has to be sent again; others do not wait', async () => {
    let failures = 7
    receiver.answer = ({ newBalance }) => (newBalance?.amount === 3 && failures-- > 0 ? { status: 503 } : { status: 200 })
    const account = await moveBalance(5)
    const other = await moveBalance(3)
    const acknowledged: Body[] = []
    const { answer } = receiver
    receiver.answer = async (body) => {
      const reply = await answer(body)
      if (reply !== 'never' && reply.status === 200) acknowledged.push(body)
      return reply
    }
    await world.drain()
    const told = (id: string) =>
      acknowledged.filter(({ accountId }) => accountId === id).map(({ newBalance }) => newBalance.amount)
    expect(told(account)).toEqual([1])
    expect(told(other)).toEqual([1])
    await pass(2 * 60 * minute, 5 * second)
    expect(told(account)).toEqual([1, 3, 6, 10, 15])
    expect(told(other)).toEqual([1, 3, 6])
  })

  test('are numbered from one on without a gap, over REST too, by cursor', async () => {
    const account = await moveBalance(4)
    await world.drain()
    const { body } = await world.rest('GET', `/events?resourceId=${account}`)
    expect(body['data'].map(({ sequence }: Body) => sequence)).toEqual([1, 2, 3, 4])
    expect(body['hasMore']).toBe(false)
    const first = await world.rest('GET', `/events?resourceId=${account}&limit=3&types=ACCOUNT_STATUS,TEST`)
    expect(first.body['hasMore']).toBe(true)
    const rest = await world.rest('GET', `/events?resourceId=${account}&cursor=${first.body['nextCursor']}`)
    expect(rest.body['data'].map(({ sequence }: Body) => sequence)).toEqual([4])
    // Where it ends one goes on later.
    await fund(world, account, 7)
    await world.drain()
    const later = await world.rest('GET', `/events?resourceId=${account}&cursor=${rest.body['nextCursor']}`)
    expect(later.body['data']).toEqual([
      {
        cursor: expect.any(String),
        resourceId: account,
        sequence: 5,
        customerId: expect.stringMatching(/^Customer:/),
        event: receiver.received.findLast(({ body: { accountId } }) => accountId === account)!.body,
      },
    ])
    expect((await world.rest('GET', '/events?cursor=nonsense')).status).toBe(400)
    expect((await world.rest('GET', '/events?types=NONSENSE')).status).toBe(400)
    const foreign = await world.rest('GET', `/events?resourceId=${account}`, undefined, { as: world.stranger })
    expect(foreign.body['data']).toEqual([])
  })
})

describe('an endpoint that is dead', () => {
  test('is left alone after five failures, tried with one webhook at a time, and gets everything when it is back', async () => {
    receiver.answer = () => ({ status: 500 })
    await moveBalance(30)
    await world.drain()
    const burst = receiver.received.length
    expect(burst).toBeGreaterThanOrEqual(5)
    expect(burst).toBeLessThanOrEqual(20)
    expect(await health()).toMatchObject({
      state: 'PAUSED',
      url: receiver.url,
      lastError: 'answered 500',
      pausedUntil: expect.any(String),
    })
    receiver.received = []
    await pass(10 * minute, 5 * second)
    // One a minute, instead of thirty resources' schedules.
    expect(receiver.received.length).toBeLessThanOrEqual(16)
    expect((await health())['failures']).toBeGreaterThan(burst)
    receiver.answer = () => ({ status: 200 })
    await pass(60 * minute, 30 * second)
    expect(await health()).toMatchObject({ state: 'HEALTHY', failures: 0, pending: 0 })
    const { body } = await world.rest('GET', '/webhooks/deliveries?status=PENDING')
    expect(body['totalCount']).toBe(0)
  })

  test('is tried at once when somebody sends a TEST, or sets it anew', async () => {
    receiver.answer = () => ({ status: 500 })
    await moveBalance(10)
    await world.drain()
    expect((await health())['state']).toBe('PAUSED')
    receiver.answer = () => ({ status: 200 })
    await world.rest('PATCH', '/config', { webhookEndpoint: receiver.url })
    await world.drain()
    expect((await health())['state']).toBe('HEALTHY')
  })

  test('hurts nobody else', async () => {
    const other = await openReceiver()
    const config = { webhookEndpoint: other.url }
    await world.rest('PATCH', '/config', config, { as: world.stranger })
    receiver.answer = () => 'never'
    await moveBalance(10)
    const customer = await newCustomer(world, { fullName: 'Ada 002' }, { as: world.stranger })
    await world.drain()
    expect(other.received.map(({ body }) => body['type']).toSorted()).toEqual(['KYC_STATUS', 'TEST'])
    expect(other.received.find(({ body }) => body['type'] === 'KYC_STATUS')!.body).toEqual({
      type: 'KYC_STATUS',
      webhookId: expect.any(String),
      timestamp: expect.any(String),
      customerId: customer['id'],
      kycStatus: 'REJECTED',
      platformCustomerId: customer['platformCustomerId'],
    })
    other.close()
  })

  test('that asks for patience gets it for everything', async () => {
    receiver.answer = () => ({ status: 429, headers: { 'retry-after': '120' } })
    await moveBalance(1)
    await world.drain()
    const refused = receiver.received.length
    await moveBalance(3)
    await pass(115 * second, 5 * second)
    expect(receiver.received).toHaveLength(refused)
    receiver.answer = () => ({ status: 200 })
    await pass(60 * second, 5 * second)
    expect((await health())['pending']).toBe(0)
  })
})

describe('redelivery', () => {
  test('since a cursor sends everything once more, in order, but no TEST and no request for approval', async () => {
    await moveBalance(1)
    await world.drain()
    const after = await endOfLog()
    const account = await moveBalance(3)
    await world.rest('POST', '/sandbox/uma/receive', {
      senderUmaAddress: '$success.usd@sandbox.uma.localhost',
      customerId: (await newCustomer(world))['id'],
      receivingCurrencyCode: 'USD',
      receivingCurrencyAmount: 500,
    })
    await world.rest('PATCH', '/config', { webhookEndpoint: receiver.url })
    await world.drain()
    const [asked] = receiver.received.filter(({ body }) => body['transaction']?.status === 'PENDING')
    receiver.received = []
    const { status, body } = await world.rest('POST', '/webhooks/redeliver', { after })
    await world.drain()
    expect([status, body]).toEqual([202, { redelivered: receiver.received.length }])
    const told = receiver.received
      .filter(({ body: { accountId } }) => accountId === account)
      .map((one) => one.body['newBalance'].amount)
    expect(told).toEqual([1, 3, 6])
    expect(receiver.statuses()).toEqual(['COMPLETED', 'COMPLETED', 'COMPLETED', 'COMPLETED'])
    expect(receiver.received.map(({ body: one }) => one['type'])).not.toContain('TEST')
    const once = await world.rest('POST', `/webhooks/deliveries/${asked!.body['webhookId']}/redeliver`)
    expect(once).toMatchObject({ status: 409, body: { code: 'CONFLICT' } })
    expect((await world.rest('POST', '/webhooks/redeliver', { after: 'x' })).status).toBe(400)
  })

  test('is not possible for another world, without an endpoint, or without the permission', async () => {
    await moveBalance(1)
    await world.drain()
    const { body } = await world.rest('GET', '/webhooks/deliveries?limit=1')
    const { id } = body['data'][0]
    const missing = `Webhook:${crypto.randomUUID()}`
    const get = (webhookId: string, as: Credentials) => world.rest('GET', `/webhooks/deliveries/${webhookId}`, undefined, { as })
    const foreign = await get(id, world.stranger)
    expect(foreign).toMatchObject({ status: 404, body: { code: 'WEBHOOK_NOT_FOUND' } })
    expect(foreign.text.replace(id, missing)).toBe((await get(missing, world.stranger)).text)
    const redeliver = (webhookId: string, as: Credentials) =>
      world.rest('POST', `/webhooks/deliveries/${webhookId}/redeliver`, {}, { as })
    expect(await redeliver(id, world.production)).toMatchObject({ status: 400, body: { code: 'WEBHOOK_ENDPOINT_NOT_SET' } })
    expect(await redeliver(missing, world.sandbox)).toMatchObject({ status: 404, body: { code: 'WEBHOOK_NOT_FOUND' } })
    const { body: token } = await world.rest('POST', '/tokens', { name: 'reader', permissions: ['VIEW'] })
    expect(await redeliver(id, token as never)).toMatchObject({ status: 403, body: { code: 'FORBIDDEN' } })
  })

  test('and the log are in the graph too', async () => {
    const account = await moveBalance(2)
    await world.drain()
    const log = await world.graphql(
      `query ($id: ID!, $after: String) { events(first: 1, resourceId: $id, types: [ACCOUNT_STATUS], after: $after) {
        totalCount pageInfo { hasNextPage endCursor } edges { cursor node { cursor sequence } } } }`,
      { id: account },
    )
    expect(log.body['data'].events).toMatchObject({
      totalCount: 2,
      pageInfo: { hasNextPage: true },
      edges: [{ node: { sequence: 1 } }],
    })
    expect(log.body['data'].events.edges[0].cursor).toBe(log.body['data'].events.edges[0].node.cursor)
    const query = `{
      webhookDeliveries(first: 2, type: ACCOUNT_STATUS) { totalCount edges { node {
        id type status attemptCount attempts { responseStatus durationMs url } event { id cursor sequence resourceId webhook { body signature } }
      } } }
      webhookHealth { state failures pending url lastSuccessAt }
    }`
    const { body } = await world.graphql(query)
    const [{ node }] = body['data'].webhookDeliveries.edges
    expect(node).toMatchObject({
      type: 'ACCOUNT_STATUS',
      status: 'DELIVERED',
      attemptCount: 1,
      attempts: [{ responseStatus: 200 }],
    })
    const sent = receiver.received.find(({ body: { webhookId } }) => webhookId === node.id)!
    expect(node.event.webhook.body).toBe(sent.raw)
    expect(body['data'].webhookHealth).toMatchObject({ state: 'HEALTHY', failures: 0, pending: 0, url: receiver.url })
    const mutation = `mutation ($id: ID!, $after: String!) {
      redeliverWebhook(input: { webhookId: $id }) { delivery { status } errors { code } }
      redeliverWebhooks(input: { after: $after }) { redelivered { count } errors { code } }
    }`
    const again = await world.graphql(mutation, { id: node.id, after: node.event.cursor })
    expect(again.body['data']).toMatchObject({ redeliverWebhook: { delivery: { status: 'PENDING' }, errors: [] } })
    expect(again.body['data'].redeliverWebhooks.redelivered.count).toBe(1)
    const refused = await world.graphql(mutation, { id: `Webhook:${crypto.randomUUID()}`, after: 'x' })
    expect(refused.body['data']).toEqual({
      redeliverWebhook: { delivery: null, errors: [{ code: 'WEBHOOK_NOT_FOUND' }] },
      redeliverWebhooks: { redelivered: null, errors: [{ code: 'INVALID_INPUT' }] },
    })
  })
})

describe('POST /webhooks/test', () => {
  const run = async (as?: Credentials) => {
    const asked = world.rest('POST', '/webhooks/test', undefined, as ? { as } : {})
    let answered = false
    void asked.then(() => {
      answered = true
    })
    while (!answered) {
      await world.drain()
      await new Promise((resolve) => setTimeout(resolve, 5))
    }
    return asked
  }

  test('sends a TEST and says what the endpoint answered', async () => {
    receiver.answer = () => ({ status: 418, body: 'teapot' })
    expect(await run()).toMatchObject({ status: 200, body: { url: receiver.url, response_status: 418, response_body: 'teapot' } })
    expect(receiver.received.map(({ body }) => body['type'])).toEqual(['TEST'])
    // And never again.
    await pass(2 * minute, 10 * second)
    expect(receiver.received).toHaveLength(1)
  })

  test('says so when there is none, or nobody answers there', async () => {
    expect(await run(world.production)).toMatchObject({ status: 400, body: { code: 'WEBHOOK_ENDPOINT_NOT_SET' } })
    await world.rest('PATCH', '/config', { webhookEndpoint: 'http://127.0.0.1:1/' })
    await world.drain()
    expect(await run()).toMatchObject({
      status: 400,
      body: { code: 'WEBHOOK_DELIVERY_ERROR', details: { url: 'http://127.0.0.1:1/' } },
    })
  })
})

describe('signing keys', () => {
  const keys = async () => (await world.rest('GET', '/webhooks/keys')).body
  const versionOf = () => JSON.parse(String(receiver.received.at(-1)!.headers['x-service-signature'])).v

  test('are rotated with an overlap: published first, signing later, kept afterwards', async () => {
    const { status, body } = await world.rest('POST', '/webhooks/keys', { overlapSeconds: 3600 })
    expect([status, body['status']]).toEqual([201, 'PENDING'])
    await moveBalance(1)
    await world.drain()
    expect(versionOf()).toBe(String(Number(body['version']) - 1))
    world.clock.advance(3600 * second)
    await new Promise((resolve) => setTimeout(resolve, 850)) // what is remembered of keys is forgotten by real time
    await moveBalance(1)
    await world.drain()
    expect(versionOf()).toBe(body['version'])
    const { data, keys: set } = await keys()
    expect(data.slice(0, 2).map((key: Body) => key['status'])).toEqual(['ACTIVE', 'RETIRED'])
    expect(set[0]).toEqual({
      kty: 'EC',
      crv: 'P-256',
      x: expect.any(String),
      y: expect.any(String),
      kid: body['version'],
      use: 'sig',
      alg: 'ES256',
    })
    const graph = await world.graphql(
      'mutation { rotateWebhookKey(input: { overlapSeconds: 0 }) { key { version status } errors { code } } }',
    )
    expect(graph.body['data'].rotateWebhookKey.key).toEqual({ version: String(Number(body['version']) + 1), status: 'ACTIVE' })
    expect((await world.rest('POST', '/webhooks/keys', { overlapSeconds: -1 })).status).toBe(400)
  })

  test('verify with openssl; one flipped bit does not', async () => {
    await moveBalance(1)
    await world.drain()
    const { raw, headers } = receiver.received.at(-1)!
    const { v, s } = JSON.parse(String(headers['x-service-signature']))
    const { data } = await keys()
    const folder = mkdtempSync(join(tmpdir(), 'signature-'))
    const flipped = Buffer.from(raw)
    flipped[flipped.length >> 1]! ^= 1
    writeFileSync(join(folder, 'key.pem'), data.find(({ version }: Body) => version === v).publicKey)
    writeFileSync(join(folder, 'signature'), Buffer.from(s, 'base64'))
    writeFileSync(join(folder, 'body'), raw)
    writeFileSync(join(folder, 'flipped'), flipped)
    const verify = (file: string) =>
      execFileSync('openssl', ['dgst', '-sha256', '-verify', 'key.pem', '-signature', 'signature', file], {
        cwd: folder,
        encoding: 'utf8',
        stdio: ['ignore', 'pipe', 'ignore'],
      })
    expect(verify('body')).toContain('Verified OK')
    expect(() => verify('flipped')).toThrow()
  })
})
