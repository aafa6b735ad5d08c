/** Documents that are registered once and then named by their hash; worlds that run nothing else. */
import { createHash } from 'node:crypto'
import { createClient } from 'graphql-ws'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { WebSocket } from 'ws'
import { second } from '../src/base/clock.ts'
import { newPayer, type Payer } from './people.ts'
import { type Body, basic, type CallOptions, type Credentials, useWorld } from './world.ts'

const world = useWorld()
let payer: Payer
/** May look and pay, and not MANAGE. */
let narrow: Credentials
let viewer: CallOptions

beforeAll(async () => {
  payer = await newPayer(world)
  const { body } = await world.rest('POST', '/tokens', { name: 'Narrow', permissions: ['VIEW', 'TRANSACT'] })
  narrow = body as Credentials
  const minted = await world.rest('POST', '/viewer-tokens', { customerId: payer.customer['id'] })
  viewer = { as: null, headers: { authorization: `Bearer ${minted.body['token']}` } }
})

const hashOf = (document: string) => createHash('sha256').update(document).digest('hex')

const registerDocument = `mutation ($input: RegisterOperationInput!) {
  registerOperation(input: $input) { operation { hash document maxAgeSeconds createdAt } errors { code field message } } }`

async function register(document: string, fields: Body = {}): Promise<string> {
  const { body } = await world.graphql(registerDocument, { input: { document, ...fields } })
  expect(body['data'].registerOperation.errors).toEqual([])
  expect(body['data'].registerOperation.operation).toMatchObject({ hash: hashOf(document), document })
  return hashOf(document)
}

async function post(body: Body, { as = narrow, headers = {} }: CallOptions = {}) {
  const response = await fetch(`${world.gateway.url}/graphql`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...(as ? { authorization: basic(as) } : {}), ...headers },
    body: JSON.stringify(body),
  })
  return { status: response.status, body: (await response.json()) as Body }
}

async function get(parameters: Record<string, string>, headers: Record<string, string> = {}) {
  const response = await fetch(`${world.gateway.url}/graphql?${new URLSearchParams(parameters)}`, {
    headers: { authorization: basic(narrow), ...headers },
  })
  const text = await response.text()
  return { status: response.status, headers: response.headers, body: text === '' ? undefined : (JSON.parse(text) as Body) }
}

const byId = 'query One($id: ID!) { customer(id: $id) { fullName } }'

describe('a registered operation', () => {
  test('runs by its hash, said in either way, with variables', async () => {
    const hash = await register(byId)
    const variables = { id: payer.customer['id'] }
    const answer = { data: { customer: { fullName: 'Ada Lovelace' } } }
    for (const named of [
      { documentId: `sha256:${hash}` },
      { documentId: hash.toUpperCase() },
      { extensions: { persistedQuery: { version: 1, sha256Hash: hash } } },
    ]) {
      expect(await post({ ...named, variables })).toMatchObject({ status: 200, body: answer })
      expect(await post({ ...named, variables }, viewer)).toMatchObject({ status: 200, body: answer })
    }
  })

  test('is the same when it is registered again, and listed once', async () => {
    const document = 'query Again { viewer { environment } }'
    await register(document, { maxAgeSeconds: 5 })
    const { body } = await world.graphql(registerDocument, { input: { document, maxAgeSeconds: 7 } })
    expect(body['data'].registerOperation.operation.maxAgeSeconds).toBe(5)
    const { body: listed } = await world.graphql('{ persistedOperations { edges { node { hash } } } }')
    const hashes = listed['data'].persistedOperations.edges.map(({ node }: Body) => node.hash)
    expect(hashes.filter((hash: string) => hash === hashOf(document))).toHaveLength(1)
  })

  test('runs no more once it is taken away', async () => {
    const hash = await register('query Gone { viewer { permissions } }')
    expect((await post({ documentId: hash })).body['data']).toBeDefined()
    const take =
      'mutation ($hash: String!) { unregisterOperation(input: { hash: $hash }) { operation { hash } errors { code field } } }'
    const { body } = await world.graphql(take, { hash })
    expect(body['data'].unregisterOperation).toEqual({ operation: { hash }, errors: [] })
    expect((await post({ documentId: hash })).body['errors'][0].extensions).toEqual({ code: 'PERSISTED_QUERY_NOT_FOUND' })
    const again = await world.graphql(take, { hash })
    expect(again.body['data'].unregisterOperation.errors).toEqual([{ code: 'NOT_FOUND', field: 'hash' }])
  })

  test('of another world is none, and an unknown hash neither', async () => {
    const hash = await register('query Ours { viewer { environment } }')
    const unknown = { errors: [{ message: 'PersistedQueryNotFound', extensions: { code: 'PERSISTED_QUERY_NOT_FOUND' } }] }
    expect((await post({ documentId: hash }, { as: world.stranger })).body).toEqual(unknown)
    expect((await post({ documentId: hash }, { as: world.production })).body).toEqual(unknown)
    for (const documentId of ['', 'x', '0'.repeat(64), "' or 1 = 1", `${hash} `]) {
      expect((await post({ documentId })).body).toEqual(unknown)
    }
  })

  test.each([
    ['what is no GraphQL', '{', /Syntax Error/],
    ['what the schema does not have', '{ nope }', /Cannot query field "nope"/],
    ['two operations', 'query a { __typename } query b { __typename }', /one operation, not 2/],
    ['what no database keeps', '# \u0000\n{ __typename }', /document/],
    ['none', 'fragment F on Customer { id }', /one operation, not 0/],
    ['a document of too many tokens', `{ ${'a: __typename '.repeat(1000)} }`, /too many|Document contains more/i],
  ])('cannot be %s', async (_what, document, message) => {
    const { body } = await world.graphql(registerDocument, { input: { document } })
    expect(body['data'].registerOperation).toMatchObject({
      operation: null,
      errors: [{ code: 'INVALID_INPUT', field: 'document' }],
    })
    expect(body['data'].registerOperation.errors[0].message).toMatch(message)
  })

  test('is registered by whoever may MANAGE', async () => {
    const { body } = await world.graphql(registerDocument, { input: { document: byId } }, { as: narrow })
    expect(body['data'].registerOperation.errors).toMatchObject([{ code: 'FORBIDDEN' }])
  })
})

describe('over GET', () => {
  test('a query says how long it may be kept, and whether it has changed', async () => {
    const rates = await register('query Rates { viewer { environment } }', { maxAgeSeconds: 60 })
    const kept = await get({ documentId: rates })
    expect([kept.status, kept.headers.get('cache-control'), kept.headers.get('vary')]).toEqual([
      200,
      'private, max-age=60',
      'authorization, accept',
    ])

    const name = await register(byId)
    const asked = { documentId: name, variables: JSON.stringify({ id: payer.customer['id'] }) }
    const first = await get(asked)
    expect(first.headers.get('cache-control')).toBe('private, no-cache')
    const etag = first.headers.get('etag')!
    expect(await get(asked, { 'if-none-match': etag })).toMatchObject({ status: 304, body: undefined })
    await world.rest('PATCH', `/customers/${payer.customer['id']}`, { fullName: 'Ada King' })
    const changed = await get(asked, { 'if-none-match': etag })
    expect(changed).toMatchObject({ status: 200, body: { data: { customer: { fullName: 'Ada King' } } } })
    await world.rest('PATCH', `/customers/${payer.customer['id']}`, { fullName: 'Ada Lovelace' })
  })

  test('what was refused is not kept, nor what was not registered', async () => {
    const hash = await register('query Forbidden($hash: ID!) { token(id: $hash) { id } }', { maxAgeSeconds: 60 })
    const refused = await get({ documentId: hash, variables: '{"hash":"Token:x"}' })
    expect([refused.body!['errors'].length, refused.headers.get('cache-control')]).toEqual([1, null])
    expect((await get({ query: '{ __typename }' })).headers.get('etag')).toBeNull()
  })

  test('a mutation is not run', async () => {
    const hash = await register('mutation Made { testWebhook { answer { url } } }')
    const { status, headers } = await get({ documentId: hash })
    expect([status, headers.get('allow')]).toEqual([405, 'POST'])
  })

  test.each([
    ['INVALID_REQUEST_FORMAT', { documentId: 'x', variables: '{' }],
    ['BAD_REQUEST', { documentId: 'x', variables: '[]' }],
    ['BAD_REQUEST', { documentId: 'x', extensions: '5' }],
    ['BAD_REQUEST', { variables: '{}' }],
  ])('nonsense is said to be %s: %j', async (code, parameters) => {
    const { body } = await get(parameters as unknown as Record<string, string>)
    expect(body).toEqual({ errors: [{ message: expect.any(String), extensions: expect.objectContaining({ code }) }] })
  })
})

describe('a world that runs registered operations only', () => {
  const subscription = 'subscription Events { events { id } }'
  const unregistered = '{ viewer { permissions environment } }'
  const policy = async (graphqlDocuments: string) => {
    const { status } = await world.rest('PATCH', '/config', { graphqlDocuments })
    expect(status).toBe(200)
  }

  beforeAll(async () => {
    await register(byId)
    await register(subscription)
    await policy('REGISTERED')
  })
  afterAll(() => policy('ANY'))

  const refused = { code: 'DOCUMENT_NOT_REGISTERED' }
  const introspection = '{ __schema { types { name } } }'

  test.each([unregistered, introspection, 'subscription { events { id } }', `${byId} `])(
    'refuses %s by POST and GET',
    async (query) => {
      for (const call of [{}, viewer]) expect((await post({ query }, call)).body['errors'][0].extensions).toEqual(refused)
      expect((await get({ query })).body!['errors'][0].extensions).toEqual(refused)
    },
  )

  test('runs what is registered, by its hash or in full', async () => {
    const variables = { id: payer.customer['id'] }
    for (const asked of [{ query: byId }, { documentId: hashOf(byId) }]) {
      expect((await post({ ...asked, variables }, viewer)).body['data'].customer).toEqual({ fullName: 'Ada Lovelace' })
    }
  })

  test('lets whoever may MANAGE ask what they like', async () => {
    expect((await world.graphql(introspection)).body['data'].__schema.types.length).toBeGreaterThan(100)
  })

  test('holds over server-sent events', async () => {
    const stream = (query: string) =>
      fetch(`${world.gateway.url}/graphql?query=${encodeURIComponent(query)}`, {
        headers: { authorization: basic(narrow), accept: 'text/event-stream' },
      })
    // As whatever else is wrong with a document: a stream of one answer.
    const unknown = await stream('subscription { events { id } }')
    expect([unknown.status, await unknown.text()]).toEqual([200, expect.stringContaining('"code":"DOCUMENT_NOT_REGISTERED"')])
    const open = await stream(subscription)
    expect([open.status, open.headers.get('content-type')]).toEqual([200, 'text/event-stream; charset=utf-8'])
    await open.body!.cancel()
  })

  test('holds on sockets, where an empty text and a hash name a document', async () => {
    const client = createClient({
      url: `${world.gateway.url.replace('http', 'ws')}/graphql`,
      webSocketImpl: WebSocket,
      retryAttempts: 0,
      connectionParams: { authorization: basic(narrow) },
    })
    const ask = async (payload: Body) => {
      try {
        for await (const result of client.iterate(payload as never)) return result as unknown as Body
      } catch (errors) {
        return { errors } as Body
      }
      return {}
    }
    for (const query of [unregistered, introspection, 'subscription { events { id } }']) {
      expect((await ask({ query }))['errors'][0].extensions).toEqual(refused)
    }
    const extensions = { persistedQuery: { version: 1, sha256Hash: hashOf(byId) } }
    const named = await ask({ query: '', extensions, variables: { id: payer.customer['id'] } })
    expect(named['data'].customer).toEqual({ fullName: 'Ada Lovelace' })
    expect((await ask({ query: '', extensions: { persistedQuery: { sha256Hash: 'x' } } }))['errors'][0].extensions.code).toBe(
      'PERSISTED_QUERY_NOT_FOUND',
    )

    const followed = client.iterate({ query: '', extensions: { persistedQuery: { sha256Hash: hashOf(subscription) } } })
    const next = followed.next()
    await ask({ query: '', extensions, variables: { id: 'Customer:x' } })
    world.clock.advance(second)
    await world.rest('POST', `/sandbox/internal-accounts/${payer.dollars['id']}/fund`, { amount: 1 })
    await world.drain()
    expect((await next).value!.data!['events']).toMatchObject({ id: expect.stringMatching(/^Webhook:/) })
    await client.dispose()
  })
})
