import { verify } from 'node:crypto'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { fund, newPayer, newQuote } from './people.ts'
import { openReceiver, type Receiver } from './receiver.ts'
import { type Body, useWorld } from './world.ts'

const world = useWorld()

/** The platform's own server. */
let receiver: Receiver

beforeAll(async () => {
  receiver = await openReceiver()
})

afterAll(() => receiver.close())

const answerWith = (status: (body: Body) => number) => {
  receiver.answer = (body) => ({ status: status(body), body: 'thanks', headers: { location: 'http://127.0.0.1:1/' } })
}

beforeEach(async () => {
  answerWith(() => 200)
  expect((await world.rest('PATCH', '/config', { webhookEndpoint: receiver.url })).status).toBe(200)
  receiver.received = []
  await world.drain()
})

describe('webhooks', () => {
  test('begin with a TEST when the endpoint is set', () => {
    expect(receiver.received.map(({ body }) => body)).toEqual([
      { type: 'TEST', webhookId: expect.stringMatching(/^Webhook:/), timestamp: expect.any(String), test: true },
    ])
  })

  test('tell a payment with the documented payloads', async () => {
    const payer = await newPayer(world)
    const quote = await newQuote(world, payer)
    await world.drain()
    receiver.received = []
    await world.rest('POST', `/quotes/${quote['id']}/execute`)
    await world.drain()
    const bodies = receiver.received.map(({ body }) => body)
    expect(bodies.map(({ type }) => type).toSorted()).toEqual(['ACCOUNT_STATUS', 'OUTGOING_PAYMENT', 'OUTGOING_PAYMENT'])
    const balance = bodies.find(({ type }) => type === 'ACCOUNT_STATUS')
    expect(balance).toEqual({
      type: 'ACCOUNT_STATUS',
      webhookId: expect.any(String),
      timestamp: '2026-01-15T12:00:00.000Z',
      accountId: payer.dollars['id'],
      oldBalance: { amount: 1_000_000, currency: expect.objectContaining({ code: 'USD' }) },
      newBalance: { amount: 900_000, currency: expect.objectContaining({ code: 'USD' }) },
      customerId: payer.customer['id'],
      platformCustomerId: payer.customer['platformCustomerId'],
    })
    const completed = bodies.find(({ transaction }) => transaction?.status === 'COMPLETED')
    const { body: transaction } = await world.rest('GET', `/transactions/${quote['transactionId']}`)
    expect(completed!['transaction']).toEqual(transaction)
  })

  test('carry a signature that the published key verifies, over the exact bytes', async () => {
    await fund(world, (await newPayer(world)).dollars['id'], 5)
    await world.drain()
    const { body } = await world.rest('GET', '/webhooks/keys')
    const graph = await world.graphql('{ platform { webhookKeys { version publicKey status signsFrom } } }')
    expect(graph.body['data'].platform.webhookKeys).toEqual(body['data'])
    expect(receiver.received.length).toBeGreaterThan(2)
    for (const { raw, headers } of receiver.received) {
      const signature = headers['x-service-signature'] as string
      const { v, s } = JSON.parse(signature!)
      const key = body['data'].find(({ version }: Body) => version === v)
      const signed = Buffer.from(s, 'base64')
      expect(verify('sha256', Buffer.from(raw), key.publicKey, signed)).toBe(true)
      const flipped = Buffer.from(raw)
      flipped[10]! ^= 1
      expect(verify('sha256', flipped, key.publicKey, signed)).toBe(false)
    }
  })

  test('are sent again with the same id and body until acknowledged, by the schedule', async () => {
    const payer = await newPayer(world, { balance: 0 })
    receiver.received = []
    let failures = 3
    answerWith(() => (failures-- > 0 ? 500 : 204))
    await fund(world, payer.dollars['id'], 5)
    // Two events: the first three attempts fail, whichever they are of.
    for (let seconds = 0; seconds <= 60; seconds += 1) {
      await world.drain()
      world.clock.advance(1000)
    }
    expect(receiver.received).toHaveLength(5)
    expect(new Set(receiver.received.map(({ raw }) => raw)).size).toBe(2)
    const attempts = await world.database.query<{ status: string; attempts: number; tried: bigint }>(
      `select d.status::text, d.attempts, (select count(*) from webhook_attempt a where a.delivery_id = d.id) as tried
       from webhook_delivery d where d.attempts > 1`,
    )
    for (const { status, attempts: counted, tried } of attempts) expect([status, counted]).toEqual(['DELIVERED', Number(tried)])
  })

  test.each([
    [409, 'DELIVERED'],
    [302, 'PENDING'],
  ])('an answer of %s leaves the delivery %s', async (status, left) => {
    const payer = await newPayer(world, { balance: 0 })
    receiver.received = []
    answerWith(() => status)
    await fund(world, payer.dollars['id'], 5)
    await world.drain()
    expect(receiver.received).toHaveLength(2)
    const ids = receiver.received.map(({ body }) => body['webhookId'].slice('Webhook:'.length))
    const rows = await world.database.query<{ status: string }>(
      'select status::text from webhook_delivery where id = any($1::uuid[])',
      [ids],
    )
    expect(rows.map((row) => row.status)).toEqual([left, left])
  })

  test('to an endpoint nobody answers at are kept, with what went wrong', async () => {
    await world.rest('PATCH', '/config', { webhookEndpoint: 'http://127.0.0.1:1/hook' })
    await world.drain()
    const [last] = await world.database.query<{ status: string; error: string }>(
      `select d.status::text, a.error from webhook_delivery d join webhook_attempt a on a.delivery_id = d.id order by a.id desc limit 1`,
    )
    expect(last).toMatchObject({ status: 'FAILED', error: expect.stringContaining('ECONNREFUSED') })
  })

  test('endpoints must be https and public, unless local ones are allowed to a sandbox', async () => {
    const set = (webhookEndpoint: string, as = world.sandbox) => world.rest('PATCH', '/config', { webhookEndpoint }, { as })
    for (const url of ['http://example.com/hook', 'https://10.0.0.1/', 'nonsense', 'https://user:pw@example.com/']) {
      expect(await set(url)).toMatchObject({
        status: 400,
        body: { code: 'INVALID_INPUT', details: { field: 'webhookEndpoint' } },
      })
    }
    expect((await set(receiver.url, world.production)).status).toBe(400)
    expect((await set('https://example.com/hook', world.production)).status).toBe(200)
  })
})
