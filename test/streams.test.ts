import { request } from 'node:http'
import { afterEach, describe, expect, test } from 'vitest'
import { fund, newPayer } from './people.ts'
import { type Body, basic, type Credentials, useWorld } from './world.ts'

const world = useWorld()
const open: AbortController[] = []

afterEach(() => {
  for (const controller of open.splice(0)) controller.abort()
})

interface Stream {
  status: number
  type: string
  /** The next event of the stream; undefined when it is over. */
  next(): Promise<{ event: string; id: string | undefined; data: Body | undefined } | undefined>
}

const url = () => `${world.gateway.url}/graphql`

async function stream(body: Body, headers: Record<string, string> = {}, as: Credentials | null = world.sandbox): Promise<Stream> {
  const response = await fetch(url(), {
    method: 'POST',
    headers: { ...common(as), 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
    signal: opened(),
  })
  return read(response)
}

function opened(): AbortSignal {
  const controller = new AbortController()
  open.push(controller)
  return controller.signal
}

function common(as: Credentials | null): Record<string, string> {
  return { accept: 'text/event-stream', ...(as ? { authorization: basic(as) } : {}) }
}

function read(response: Response): Stream {
  const chunks = response.body!.pipeThrough(new TextDecoderStream()).getReader()
  let text = ''
  return {
    status: response.status,
    type: response.headers.get('content-type') ?? '',
    async next() {
      for (;;) {
        const end = text.indexOf('\n\n')
        if (end < 0) {
          const { value, done } = await chunks.read()
          if (done) return undefined
          text += value
          continue
        }
        const lines = text.slice(0, end).split('\n')
        text = text.slice(end + 2)
        const field = (name: string) =>
          lines
            .find((line) => line.startsWith(`${name}:`))
            ?.slice(name.length + 1)
            .trim()
        const data = field('data')
        if (field('event') === undefined) continue
        return { event: field('event')!, id: field('id'), data: data ? JSON.parse(data) : undefined }
      }
    },
  }
}

const query =
  'subscription ($id: ID!, $after: String) { events(customerId: $id, after: $after, types: [ACCOUNT_STATUS]) { ... on AccountStatusEvent { newBalance { amount } } } }'

const amountOf = (result: { data: Body | undefined } | undefined) => Number(result?.data?.['data'].events.newBalance.amount)

describe('a subscription as a stream of server-sent events', () => {
  test('tells what happens, each result with its cursor as id, and resumes after the last one seen', async () => {
    const payer = await newPayer(world, { balance: 0 })
    await world.drain()
    const asked = { query, variables: { id: payer.customer['id'] } }
    const first = await stream(asked)
    expect([first.status, first.type]).toEqual([200, 'text/event-stream; charset=utf-8'])
    await fund(world, payer.dollars['id'], 1)
    await world.drain()
    const seen = await first.next()
    expect(seen).toMatchObject({ event: 'next', id: seen!.data!['extensions'].cursor })
    expect(amountOf(seen)).toBe(1)
    for (const amount of [1, 1]) await fund(world, payer.dollars['id'], amount)
    await world.drain()
    for (const again of [
      await stream(asked, { 'last-event-id': seen!.id! }),
      await stream({ query, variables: { ...asked.variables, after: seen!.id } }),
    ]) {
      expect([amountOf(await again.next()), amountOf(await again.next())]).toEqual([2, 3])
    }
    expect([amountOf(await first.next()), amountOf(await first.next())]).toEqual([2, 3])
  })

  test('can be asked for with GET, as browsers do; a mutation cannot', async () => {
    const payer = await newPayer(world, { balance: 0 })
    await world.drain()
    const get = (text: string, variables: Body) =>
      fetch(`${url()}?${new URLSearchParams({ query: text, variables: JSON.stringify(variables) })}`, {
        headers: common(world.sandbox),
        signal: opened(),
      }).then(read)
    const following = await get(query, { id: payer.customer['id'] })
    await fund(world, payer.dollars['id'], 7)
    await world.drain()
    expect(amountOf(await following.next())).toBe(7)
    expect((await get('mutation { testWebhook { errors { code } } }', {})).status).toBe(400)
  })

  test('other operations are answered with one result, faults of the document with its errors', async () => {
    const answered = await stream({ query: '{ __typename }' })
    expect(await answered.next()).toMatchObject({ event: 'next', data: { data: { __typename: 'Query' } } })
    expect(await answered.next()).toMatchObject({ event: 'complete' })
    expect(await answered.next()).toBeUndefined()
    for (const text of ['{ nonsense', '{ nonsense }', 'subscription { events(after: "x") { id } }']) {
      const refused = await stream({ query: text })
      expect((await refused.next())!.data!['errors'][0].message).toEqual(expect.any(String))
      expect((await refused.next())!.event).toBe('complete')
    }
  })

  test('is refused without credentials, and for a body that is none', async () => {
    expect((await stream({ query }, {}, null)).status).toBe(401)
    expect((await stream({})).status).toBe(400)
    expect((await stream({ query, variables: { id: 'x' } }, { 'last-event-id': 'nonsense' })).status).toBe(200)
    const raw = await fetch(url(), {
      method: 'POST',
      headers: { ...common(world.sandbox), 'content-type': 'application/json' },
      body: '{',
    })
    expect(raw.status).toBe(400)
    const long = await fetch(url(), {
      method: 'POST',
      headers: { ...common(world.sandbox), 'content-type': 'application/json' },
      body: JSON.stringify({ query, variables: { id: 'x'.repeat(300_000) } }),
    })
    expect(long.status).toBe(400)
  })

  test('needs a stream to be asked for', async () => {
    const { body } = await world.graphql('subscription { events { id } }')
    expect(body['errors'][0].extensions.code).toBe('INVALID_REQUEST_FORMAT')
  })

  test('ends with the token', async () => {
    const { body: token } = await world.rest('POST', '/tokens', { name: 'short-lived', permissions: ['VIEW'] })
    const following = await stream({ query: 'subscription { events { id } }' }, {}, token as Credentials)
    await world.rest('DELETE', `/tokens/${token['id']}`)
    await world.drain()
    expect((await following.next())!.data!['errors'][0].extensions.code).toBe('UNAUTHORIZED')
    expect((await following.next())!.event).toBe('complete')
    expect(await following.next()).toBeUndefined()
  })

  test('that nobody reads is ended, with the cursor to resume from', async () => {
    const payer = await newPayer(world, { balance: 0 })
    await world.drain()
    const [worldRow] = await world.database.query<{ id: string }>(
      `select world_id as id from api_token where client_id = 'sandbox'`,
    )
    const asked = request(url(), { method: 'POST', headers: { ...common(world.sandbox), 'content-type': 'application/json' } })
    const response = new Promise<import('node:http').IncomingMessage>((resolve) => asked.once('response', resolve))
    asked.end(JSON.stringify({ query: 'subscription { events { webhook { body } } }' }))
    const silent = await response
    silent.pause()
    await world.database.query(
      `insert into event (uuid, world_id, type, resource_id, customer_id, payload, created_at)
       select gen_random_uuid(), $1::uuid, 'KYC_STATUS', $2::text, $3::uuid, jsonb_build_object('customerId', $2::text, 'note', repeat('x', 5000)), now()
       from generate_series(1, 4000)`,
      [worldRow!.id, payer.customer['id'], payer.customer['id'].slice('Customer:'.length)],
    )
    await world.drain()
    let text = ''
    for await (const chunk of silent) text += String(chunk)
    const events = text.trim().split('\n\n')
    expect(events.at(-1)).toBe('event: complete\ndata:')
    const { errors } = JSON.parse(/data: (.*)/.exec(events.at(-2)!)![1]!)
    const lastSeen = /id: (\S+)/.exec(events.at(-3)!)![1]
    expect(errors[0].extensions).toEqual({ code: 'SLOW_SUBSCRIBER', cursor: lastSeen })
  })
})
