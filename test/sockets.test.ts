import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { setImmediate } from 'node:timers/promises'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { afterEach, describe, expect, test } from 'vitest'
import { WebSocket } from 'ws'
import { closeCodes } from '../src/graphql/sockets.ts'
import { fund, newCustomer, newPayer } from './people.ts'
import { type Body, basic, type Credentials, useWorld } from './world.ts'

setFlagsFromString('--expose-gc')
const collectGarbage = runInNewContext('gc') as () => void

const world = useWorld()
const open: Socket[] = []

afterEach(() => {
  for (const { socket } of open.splice(0)) socket.terminate()
})

/** A socket that speaks the protocol word by word. */
class Socket {
  readonly socket: WebSocket
  readonly messages: Body[] = []
  readonly closed: Promise<{ code: number; reason: string }>
  #heard: (() => void)[] = []

  constructor(protocol: string | string[] = 'graphql-transport-ws', path = '/graphql') {
    this.socket = new WebSocket(`${world.gateway.url.replace('http', 'ws')}${path}`, protocol)
    this.closed = new Promise((resolve) => {
      this.socket.once('close', (code, reason) => resolve({ code, reason: String(reason) }))
    })
    this.socket.on('error', () => {})
    this.socket.on('message', (data) => {
      this.messages.push(JSON.parse(String(data)))
      for (const heard of this.#heard.splice(0)) heard()
    })
    open.push(this)
  }

  async say(...messages: (Body | string)[]): Promise<this> {
    if (this.socket.readyState === WebSocket.CONNECTING) await once(this.socket, 'open')
    for (const message of messages) this.socket.send(typeof message === 'string' ? message : JSON.stringify(message))
    return this
  }

  async hear(matches: (message: Body) => boolean): Promise<Body> {
    for (;;) {
      const found = this.messages.find(matches)
      if (found) return found
      await new Promise<void>((resolve) => this.#heard.push(resolve))
    }
  }
}

const init = (as: Credentials = world.sandbox) => ({ type: 'connection_init', payload: { authorization: basic(as) } })
const subscribe = (id: string, query = 'subscription { events { id } }', variables: Body = {}) => ({
  id,
  type: 'subscribe',
  payload: { query, variables },
})

async function greeted(as?: Credentials): Promise<Socket> {
  const socket = await new Socket().say(init(as))
  await socket.hear(({ type }) => type === 'connection_ack')
  return socket
}

/** A socket whose subscriptions have begun: what was said after them is answered. */
async function live(...messages: Body[]): Promise<Socket> {
  const socket = await greeted()
  await socket.say(...messages, subscribe('then', '{ __typename }'))
  await socket.hear(({ id, type }) => id === 'then' && type === 'next')
  return socket
}

describe('the protocol', () => {
  test.each([
    ['4400 for what is not JSON', 4400, ['nonsense']],
    ['4400 for a message of an unknown type', 4400, ['{"type":"start"}']],
    ['4400 for a subscribe without an id', 4400, ['{"type":"subscribe","payload":{"query":"{ __typename }"}}']],
    ['4400 for a subscribe without a query', 4400, ['{"id":"1","type":"subscribe","payload":{}}']],
    ['4400 for no object at all', 4400, ['null']],
    ['4401 for a subscribe before the acknowledgement', 4401, [subscribe('1')]],
    ['4403 for wrong credentials', 4403, [{ type: 'connection_init', payload: { authorization: 'Basic eDp5' } }]],
    ['4403 for no credentials', 4403, [{ type: 'connection_init' }]],
    ['4403 for credentials that are no text', 4403, [{ type: 'connection_init', payload: { authorization: 5 } }]],
  ])('closes with %s', async (_what, code, messages) => {
    const socket = await new Socket().say(...messages)
    expect(await socket.closed).toMatchObject({ code })
  })

  test('closes with 4406 for a subprotocol it does not speak', async () => {
    expect(await new Socket([]).closed).toMatchObject({ code: 4406 })
  })

  test('closes with 4408 when nobody says who they are', async () => {
    expect(await new Socket().closed).toMatchObject({ code: 4408 })
  })

  test('closes with 4409 for an id that is in use', async () => {
    const socket = await live(subscribe('same'))
    await socket.say(subscribe('same'))
    expect(await socket.closed).toEqual({ code: 4409, reason: 'Subscriber for same already exists' })
  })

  test('closes with 4429 for a second greeting', async () => {
    const socket = await greeted()
    await socket.say(init())
    expect(await socket.closed).toMatchObject({ code: 4429 })
  })

  test('answers a ping with its payload, before and after the greeting', async () => {
    const socket = await new Socket().say({ type: 'ping', payload: { n: 1 } })
    expect(await socket.hear(({ type }) => type === 'pong')).toEqual({ type: 'pong', payload: { n: 1 } })
    await socket.say(init(), { type: 'pong' }, { type: 'ping' })
    expect(await socket.hear(({ type, payload }) => type === 'pong' && !payload)).toEqual({ type: 'pong' })
  })

  test('a syntax error, a document that is not valid and one too long are answers, and the socket stays', async () => {
    const socket = await live(
      subscribe('syntax', '{ nonsense'),
      subscribe('invalid', '{ nonsense }'),
      subscribe('long', `{ ${'__typename '.repeat(3000)} }`),
      subscribe('two', 'subscription { events { id } transactionUpdated(id: "x") { id } }'),
      subscribe('cursor', 'subscription { events(after: "x") { id } }'),
    )
    for (const id of ['syntax', 'invalid', 'long', 'two']) {
      expect(await socket.hear((message) => message['id'] === id)).toMatchObject({
        type: 'error',
        payload: [{ message: expect.any(String) }],
      })
    }
    expect(await socket.hear(({ id }) => id === 'cursor')).toMatchObject({
      type: 'next',
      payload: { errors: [{ extensions: { code: 'INVALID_INPUT' } }] },
    })
    expect(await socket.hear(({ id, type }) => id === 'cursor' && type === 'complete')).toBeDefined()
    expect(socket.socket.readyState).toBe(WebSocket.OPEN)
  })

  test('says nothing more of a subscription that the client has completed', async () => {
    const payer = await newPayer(world)
    await world.drain()
    const variables = { customerId: payer.customer['id'] }
    const query = 'subscription ($customerId: ID!) { events(customerId: $customerId) { id } }'
    const socket = await live(subscribe('stays', query, variables), subscribe('goes', query, variables))
    await socket.say({ id: 'goes', type: 'complete' }, subscribe('done', '{ __typename }'))
    await socket.hear(({ id, type }) => id === 'done' && type === 'complete')
    await fund(world, payer.dollars['id'], 5)
    await world.drain()
    await socket.hear(({ id, type }) => id === 'stays' && type === 'next')
    expect(socket.messages.filter(({ id }) => id === 'goes')).toEqual([])
    // The id may be used again.
    await socket.say(subscribe('goes', query, variables), subscribe('last', '{ __typename }'))
    await socket.hear(({ id }) => id === 'last')
    expect(socket.socket.readyState).toBe(WebSocket.OPEN)
  })

  test('carries a hundred subscriptions and refuses one more, without closing', async () => {
    const socket = await live(...Array.from({ length: 101 }, (_, index) => subscribe(`s${index}`)))
    expect(await socket.hear(({ id }) => id === 's100')).toMatchObject({
      type: 'error',
      payload: [{ message: expect.stringContaining('100') }],
    })
    expect(socket.messages.filter(({ type }) => type === 'error')).toHaveLength(1)
  })

  test('is not spoken elsewhere', async () => {
    const socket = new WebSocket(`${world.gateway.url.replace('http', 'ws')}/elsewhere`, 'graphql-transport-ws')
    await expect(new Promise((_resolve, reject) => socket.once('error', reject))).rejects.toThrow('404')
  })
})

describe('a token that is revoked', () => {
  test('closes its sockets, and nobody else’s', async () => {
    const { body: token } = await world.rest('POST', '/tokens', { name: 'short-lived', permissions: ['VIEW'] })
    const [gone, stays] = [await greeted(token as Credentials), await greeted()]
    await world.rest('DELETE', `/tokens/${token['id']}`)
    await world.drain()
    expect(await gone.closed).toEqual({ code: closeCodes.forbidden, reason: 'The token is no longer valid' })
    expect(stays.socket.readyState).toBe(WebSocket.OPEN)
    expect(await (await new Socket().say(init(token as Credentials))).closed).toMatchObject({ code: 4403 })
  })
})

describe('subscribers who ask the same', () => {
  test('share one execution of each event, wherever they began', async () => {
    const payer = await newPayer(world)
    await fund(world, payer.dollars['id'], 5)
    await world.drain()
    const { body } = await world.rest('GET', `/events?customerId=${payer.customer['id']}`)
    const query =
      'subscription ($id: ID!, $after: String) { events(customerId: $id, after: $after) { id createdAt ... on AccountStatusEvent { account { id } } } }'
    const cursors = [undefined, body['data'][0].cursor, body['data'][1].cursor]
    const sockets = await Promise.all(
      cursors.map((after) => live(subscribe('mine', query, { id: payer.customer['id'], ...(after ? { after } : {}) }))),
    )
    const { query: run } = world.database
    let reads = 0
    world.database.query = ((text: string, parameters: never) => {
      if (text.includes('internal_account t join ledger_account')) reads += 1
      return run(text, parameters)
    }) as typeof run
    await fund(world, payer.dollars['id'], 6)
    reads = 0
    await world.drain()
    world.database.query = run
    const last = (socket: Socket) => socket.messages.filter(({ id, type }) => id === 'mine' && type === 'next').at(-1)!['payload']
    const [first, ...others] = sockets.map(last)
    for (const other of others) expect(other).toEqual(first)
    // One look at the account for three subscribers.
    expect(reads).toBe(1)
  })
})

describe('two hundred sockets that never read', () => {
  const worldId = async () => {
    const [row] = await world.database.query<{ id: string }>(
      `select w.id from world w join api_token t on t.world_id = w.id where t.client_id = 'sandbox'`,
    )
    return row!.id
  }

  test('while ten thousand events go by cost little, are closed with their last cursor, and see no other platform', async () => {
    const customer = await newCustomer(world)
    await world.drain()
    const child: ChildProcess = fork(new URL('fixtures/silent-sockets.ts', import.meta.url), [
      world.gateway.url,
      basic(world.sandbox),
      '200',
    ])
    await once(child, 'message')
    const attentive = await live(subscribe('all', 'subscription { events { sequence resourceId } }'))
    // What a buffer held outside the heap is given back a turn after its owner is collected.
    const held = async () => {
      const readings: number[] = []
      for (let turn = 0; turn < 4; turn += 1) {
        collectGarbage()
        await setImmediate()
        const { heapUsed, external } = process.memoryUsage()
        readings.push((heapUsed + external) / 1_048_576)
      }
      return Math.min(...readings)
    }
    const events = 10_000
    await world.database.query(
      `insert into event (uuid, world_id, type, resource_id, customer_id, payload, created_at)
       select gen_random_uuid(), $1::uuid, 'KYC_STATUS', $2::text, $3::uuid, jsonb_build_object('customerId', $2::text, 'note', repeat('x', 300)), now()
       from generate_series(1, $4::int)`,
      [await worldId(), customer['id'], customer['id'].slice('Customer:'.length), events],
    )
    const strangers = await newCustomer(world, { fullName: 'Ada 002' }, { as: world.stranger })
    expect(strangers['kycStatus']).toBe('REJECTED')
    const before = await held()
    await world.drain()
    await attentive.hear(
      ({ payload }) => payload?.data?.events?.resourceId === customer['id'] && payload.data.events.sequence === events,
    )
    expect((await held()) - before).toBeLessThan(50)

    // Whoever reads all of it has seen each of them once, in order.
    const seen = attentive.messages.filter(({ id, type }) => id === 'all' && type === 'next')
    expect(seen.map(({ payload }) => payload.data.events.sequence)).toEqual(
      Array.from({ length: events }, (_, index) => index + 1),
    )

    child.send('read')
    const [closings] = (await once(child, 'message')) as [{ code: number; reason: string; resources: string[]; last: string }[]]
    for (const { code, reason, resources, last } of closings) {
      expect(code).toBe(closeCodes.slowSubscriber)
      expect(reason).toBe(`SLOW_SUBSCRIBER ${last}`)
      expect(resources).toEqual([customer['id']])
    }
    expect(closings).toHaveLength(200)
    child.kill()
  }, 120_000)
})
