import { type Client, createClient } from 'graphql-ws'
import { afterEach, describe, expect, test } from 'vitest'
import { WebSocket } from 'ws'
import { fund, newCustomer, newPayer, newQuote } from './people.ts'
import { type Body, basic, type Credentials, useWorld } from './world.ts'

const world = useWorld()
const clients: Client[] = []

afterEach(async () => {
  for (const client of clients.splice(0)) await client.dispose()
})

function connect(as: Credentials | null = world.sandbox): Client {
  const client = createClient({
    url: `${world.gateway.url.replace('http', 'ws')}/graphql`,
    webSocketImpl: WebSocket,
    retryAttempts: 0,
    connectionParams: as ? { authorization: basic(as) } : {},
  })
  clients.push(client)
  return client
}

const events = `subscription ($types: [EventType!], $customerId: ID, $after: String) { events(types: $types, customerId: $customerId, after: $after) {
  __typename id type cursor createdAt
  ... on PaymentEvent { transaction { id status } }
  ... on AccountStatusEvent { account { id balance { amount } } oldBalance { amount } newBalance { amount display } }
} }`

/** The next `count` events of a subscription; `whenLive` is called once it has begun. */
async function collect(client: Client, variables: Body, count: number, whenLive: () => Promise<unknown>): Promise<Body[]> {
  const seen: Body[] = []
  const subscription = client.iterate<Body>({ query: events, variables })
  const first = subscription.next()
  // A query on the same socket is answered after the subscription before it has begun.
  for await (const _ of client.iterate({ query: '{ __typename }' })) break
  await whenLive()
  for (let next = await first; ; next = await subscription.next()) {
    if (next.value?.errors) throw new Error(JSON.stringify(next.value.errors))
    seen.push(next.value!.data!['events'])
    if (seen.length === count) break
  }
  await subscription.return?.()
  return seen
}

describe('events', () => {
  test('tell a payment as it happens, in order, with balances before and after', async () => {
    const payer = await newPayer(world)
    await world.drain()
    const seen = await collect(connect(), { customerId: payer.customer['id'] }, 3, async () => {
      const quote = await newQuote(world, payer)
      await world.rest('POST', `/quotes/${quote['id']}/execute`)
      await world.drain()
    })
    expect(seen.map(({ type }) => type)).toEqual(['ACCOUNT_STATUS', 'OUTGOING_PAYMENT', 'OUTGOING_PAYMENT'])
    expect(seen[0]).toMatchObject({
      __typename: 'AccountStatusEvent',
      oldBalance: { amount: '1000000' },
      newBalance: { amount: '900000', display: '9000.00' },
      account: { id: payer.dollars['id'] },
    })
    expect(seen.slice(1).map(({ transaction }) => transaction.status)).toEqual(['PROCESSING', 'COMPLETED'])
    expect(new Set(seen.map(({ id }) => id)).size).toBe(3)
    expect(seen[0]!['id']).toMatch(/^Webhook:/)
  })

  test('resume after a cursor: what was missed, then what happens, no gap and no repeat', async () => {
    const payer = await newPayer(world)
    await world.drain()
    const variables = { customerId: payer.customer['id'], types: ['ACCOUNT_STATUS'] }
    const [first] = await collect(connect(), variables, 1, async () => {
      await fund(world, payer.dollars['id'], 1)
      await world.drain()
    })
    for (const amount of [2, 3, 4]) await fund(world, payer.dollars['id'], amount)
    await world.drain()
    const seen = await collect(connect(), { ...variables, after: first!['cursor'] }, 5, async () => {
      for (const amount of [5, 6]) await fund(world, payer.dollars['id'], amount)
      await world.drain()
    })
    const moved = seen.map(({ oldBalance, newBalance }) => Number(newBalance.amount) - Number(oldBalance.amount))
    expect(moved).toEqual([2, 3, 4, 5, 6])
  })

  test('show each event with things as they are then, not as the first event found them', async () => {
    const payer = await newPayer(world)
    await world.drain()
    const client = connect()
    const variables = { customerId: payer.customer['id'], types: ['ACCOUNT_STATUS'] }
    const subscription = client.iterate<Body>({ query: events, variables })
    const balances: string[] = []
    let next = subscription.next()
    for await (const _ of client.iterate({ query: '{ __typename }' })) break
    for (const amount of [1, 2]) {
      await fund(world, payer.dollars['id'], amount)
      await world.drain()
      balances.push((await next).value!.data!['events'].account.balance.amount)
      next = subscription.next()
    }
    void subscription.return?.()
    expect(balances).toEqual(['1000001', '1000003'])
  })

  test('never come from another world', async () => {
    const client = connect(world.stranger)
    const seen = await collect(client, {}, 1, async () => {
      await newPayer(world)
      const own = await newCustomer(world, {}, { as: world.stranger })
      const { body } = await world.rest('GET', `/customers/internal-accounts?customerId=${own['id']}`, undefined, {
        as: world.stranger,
      })
      await world.rest('POST', `/sandbox/internal-accounts/${body['data'][0].id}/fund`, { amount: 77 }, { as: world.stranger })
      await world.drain()
    })
    expect(seen[0]).toMatchObject({ newBalance: { amount: '77' } })
  })

  test('refuse a cursor this service did not write, and an id of another type', async () => {
    const refused = async (variables: Body) => {
      const { value } = await connect().iterate({ query: events, variables }).next()
      return value?.errors?.[0]?.extensions?.['code']
    }
    expect(await refused({ after: 'nonsense' })).toBe('INVALID_INPUT')
    expect(await refused({ customerId: 'Quote:x' })).toBe('INVALID_INPUT')
  })
})

describe('one payment', () => {
  test('is followed by transactionUpdated', async () => {
    const payer = await newPayer(world, { ending: '004' })
    const quote = await newQuote(world, payer)
    await world.drain()
    const query = 'subscription ($id: ID!) { transactionUpdated(id: $id) { status refund { reference } } }'
    const client = connect()
    const subscription = client.iterate<Body>({ query, variables: { id: quote['transactionId'] } })
    const first = subscription.next()
    for await (const _ of client.iterate({ query: '{ __typename }' })) break
    await world.rest('POST', `/quotes/${quote['id']}/execute`)
    await world.drain()
    expect((await first).value!.data!['transactionUpdated']).toEqual({ status: 'PROCESSING', refund: null })
    expect((await subscription.next()).value!.data!['transactionUpdated']).toMatchObject({
      status: 'REJECTED',
      refund: { reference: expect.any(String) },
    })
    await subscription.return?.()
  })
})

describe('the socket', () => {
  const raw = (protocol = 'graphql-transport-ws') => new WebSocket(`${world.gateway.url.replace('http', 'ws')}/graphql`, protocol)
  const closed = (socket: WebSocket) => new Promise<number>((resolve) => socket.once('close', (code) => resolve(code)))
  const opened = (socket: WebSocket) => new Promise((resolve) => socket.once('open', resolve))
  const message = (socket: WebSocket) =>
    new Promise<Body>((resolve) => socket.once('message', (data) => resolve(JSON.parse(String(data)))))

  test('closes with 4403 for wrong credentials, and for none', async () => {
    for (const payload of [{}, { authorization: 'Basic eDp5' }, { authorization: 5 }]) {
      const socket = raw()
      await opened(socket)
      socket.send(JSON.stringify({ type: 'connection_init', payload }))
      expect(await closed(socket)).toBe(4403)
    }
  })

  test('survives a syntax error', async () => {
    const socket = raw()
    await opened(socket)
    socket.send(JSON.stringify({ type: 'connection_init', payload: { authorization: basic(world.sandbox) } }))
    expect((await message(socket))['type']).toBe('connection_ack')
    socket.send(JSON.stringify({ id: '1', type: 'subscribe', payload: { query: '{ nonsense' } }))
    expect(await message(socket)).toMatchObject({ id: '1', type: 'error' })
    socket.send(JSON.stringify({ id: '2', type: 'subscribe', payload: { query: '{ __typename }' } }))
    expect(await message(socket)).toMatchObject({ id: '2', type: 'next', payload: { data: { __typename: 'Query' } } })
    socket.close()
  })

  test('carries a hundred subscriptions and refuses one more, without closing', async () => {
    const socket = raw()
    await opened(socket)
    const received: Body[] = []
    socket.on('message', (data) => received.push(JSON.parse(String(data))))
    const answered = async (id: string) => {
      while (!received.some((one) => one['id'] === id)) await new Promise((resolve) => setImmediate(resolve))
      return received.find((one) => one['id'] === id)!
    }
    const subscribe = (id: string) =>
      socket.send(JSON.stringify({ id, type: 'subscribe', payload: { query: 'subscription { events { id } }' } }))
    const query = (id: string) => socket.send(JSON.stringify({ id, type: 'subscribe', payload: { query: '{ __typename }' } }))
    socket.send(JSON.stringify({ type: 'connection_init', payload: { authorization: basic(world.sandbox) } }))
    while (received.length === 0) await new Promise((resolve) => setImmediate(resolve))
    for (let index = 0; index < 101; index += 1) subscribe(`s${index}`)
    expect(await answered('s100')).toMatchObject({ type: 'error', payload: [{ message: expect.stringContaining('100') }] })
    query('q')
    expect((await answered('q'))['payload'].data).toEqual({ __typename: 'Query' })
    expect(received.filter(({ type }) => type === 'error')).toHaveLength(1)
    socket.close()
  })

  test('is not opened elsewhere', async () => {
    const socket = new WebSocket(`${world.gateway.url.replace('http', 'ws')}/elsewhere`, 'graphql-transport-ws')
    await expect(new Promise((_resolve, reject) => socket.once('error', reject))).rejects.toThrow('404')
  })
})
