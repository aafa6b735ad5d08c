/** The short way of a JSON POST and the long one: the same answers, the same refusals; and documents that mean harm, on every transport. */

import { getNamedType, isLeafType, isObjectType } from 'graphql'
import { auditServer } from 'graphql-http'
import { createClient } from 'graphql-ws'
import { beforeAll, describe, expect, test } from 'vitest'
import { schema } from '../src/graphql/schema.ts'
import { newPayer, newQuote, type Payer } from './people.ts'
import { type Body, basic, useWorld } from './world.ts'

const world = useWorld()
let payer: Payer

beforeAll(async () => {
  await world.rest('PATCH', '/config', { webhookEndpoint: 'http://127.0.0.1:1/' })
  payer = await newPayer(world)
  await newQuote(world, payer, { immediatelyExecute: true, description: 'A memo', remittanceInformation: 'Invoice 17' })
  await newQuote(world, payer, { source: { customerId: payer.customer['id'], currency: 'USD' } })
  await world.drain()
})

test('GraphQL over HTTP, as its specification says', async () => {
  const results = await auditServer({
    url: () => `${world.gateway.url}/graphql`,
    fetchFn: (input: string | URL, init: RequestInit = {}) =>
      fetch(input, { ...init, headers: { ...(init.headers as object), authorization: basic(world.sandbox) } }),
  })
  expect(results.length).toBeGreaterThan(60)
  expect(results.filter(({ status }) => status !== 'ok').map(({ id, name }) => [id, name])).toEqual([])
})

describe('a document that is asked again and again', () => {
  // First by the reference implementation, then compiled.
  const thrice = async (query: string, variables: Body = {}) => {
    const replies = [1, 2, 3].map(() => undefined)
    const texts: string[] = []
    for (const _once of replies) texts.push((await world.graphql(query, variables)).text)
    expect(new Set(texts).size, texts.join('\n')).toBe(1)
    return JSON.parse(texts[0]!) as Body
  }

  test('answers the same whether it is compiled or not: data, nulls, errors and their places', async () => {
    const whole = await thrice(
      `query ($id: ID!, $skip: Boolean!) { customers(first: 5) { totalCount edges { cursor node { id ...Name transactions(first: 2) { edges {
        node { id status receivedAmount { amount display } quote { id } source { account { __typename ... on InternalAccount { id } } } } } } } } pageInfo { endCursor } }
        node(id: $id) { __typename ... on Customer { fullName } } nobody: transaction(id: "Transaction:x") { id } skipped: platform @skip(if: $skip) { id } }
        fragment Name on Customer { fullName kycStatus }`,
      { id: payer.customer['id'], skip: true },
    )
    expect(whole['data'].node).toEqual({ __typename: 'Customer', fullName: 'Ada Lovelace' })
    expect([whole['data'].nobody, 'skipped' in whole['data']]).toEqual([null, false])

    const refused = await thrice('{ token(id: "Token:00000000-0000-7000-8000-000000000000") { id } }')
    expect(refused['errors'][0]).toMatchObject({ path: ['token'], extensions: { code: 'TOKEN_NOT_FOUND' } })
    const many = await thrice('query ($ids: [ID!]!) { nodes(ids: $ids) { id } }', { ids: Array(101).fill('Customer:x') })
    expect(many['errors'][0].extensions.code).toBe('INVALID_INPUT')
    const untyped = await thrice('query ($first: Int!) { customers(first: $first) { totalCount } }', { first: 'x' })
    expect(untyped['errors']).toHaveLength(1)
    const outOfRange = await thrice('{ customers(first: 101) { totalCount } }')
    expect(outOfRange['errors'][0].extensions).toMatchObject({ code: 'INVALID_INPUT' })
  })

  test('needs credentials and permission every time', async () => {
    const query = '{ platform { umaDomain } }'
    await thrice(query)
    expect((await world.graphql(query, {}, { as: null })).status).toBe(401)
    const { body: token } = await world.rest('POST', '/tokens', { name: 'x', permissions: ['TRANSACT'] })
    const { body } = await world.graphql(query, {}, { as: token as never })
    expect(body['errors'][0].extensions.code).toBe('FORBIDDEN')
  })
})

describe('a list reads what is asked for:', () => {
  const lists = ['customers', 'internalAccounts', 'externalAccounts', 'quotes', 'transactions', 'tokens', 'webhookDeliveries']
  const fieldsOf = (list: string) => {
    const connection = getNamedType(schema.getQueryType()!.getFields()[list]!.type)
    const edge = isObjectType(connection) ? getNamedType(connection.getFields()['edges']!.type) : undefined
    const node = isObjectType(edge) ? getNamedType(edge.getFields()['node']!.type) : undefined
    return isObjectType(node) ? Object.values(node.getFields()) : []
  }
  const selectionOf = (name: string, type: unknown) => {
    const named = getNamedType(type as never)
    const args = name === 'balanceAt' ? '(at: "2026-01-15T12:00:00.000Z")' : ''
    return isLeafType(named) ? name : `${name}${args} { __typename }`
  }

  test.each(lists.flatMap((list) => fieldsOf(list).map(({ name, type }) => [list, name, type] as const)))(
    '%s: %s alone is what it is among all the others',
    async (list, name, type) => {
      const all = fieldsOf(list).map((field) => selectionOf(field.name, field.type))
      const ask = async (selection: string) => {
        const { body } = await world.graphql(`{ ${list}(first: 5) { edges { node { ${selection} } } } }`)
        expect(body['errors']).toBeUndefined()
        return body['data'][list].edges.map(({ node }: Body) => node[name])
      }
      const alone = await ask(selectionOf(name, type))
      expect(alone).toEqual(await ask(all.join(' ')))
      expect(alone.length).toBeGreaterThan(0)
    },
  )

  const linked = (['customer', 'quote'] as const).flatMap((link) => {
    const type = schema.getType(link === 'customer' ? 'Customer' : 'Quote')
    return isObjectType(type) ? Object.values(type.getFields()).map((field) => [link, field] as const) : []
  })

  test.each(linked.map(([link, { name, type }]) => [link, name, type] as const))(
    "a payment's %s: %s alone is what it is among all the others, and what it is by itself",
    async (link, name, type) => {
      const { body: list } = await world.graphql('{ quotes { edges { node { id customer { id } transaction { id } } } } }')
      const { id, customer, transaction } = list['data'].quotes.edges[0].node
      const all = linked.filter(([of]) => of === link).map(([, field]) => selectionOf(field.name, field.type))
      const selection = selectionOf(name, type)
      const { body } = await world.graphql(
        `query ($id: ID!, $by: ID!) { alone: transaction(id: $id) { ${link} { ${selection} } }
          twice: transaction(id: $id) { status ${link} { id } again: ${link} { ...All } }
          itself: ${link}(id: $by) { ${selection} } } fragment All on ${link === 'customer' ? 'Customer' : 'Quote'} { ${all.join(' ')} }`,
        { id: transaction.id, by: link === 'customer' ? customer.id : id },
      )
      expect(body['errors']).toBeUndefined()
      const { alone, twice, itself } = body['data']
      expect(alone[link]).toEqual(itself)
      expect(twice.again[name]).toEqual(itself[name])
      expect(twice[link].id).toBe(link === 'customer' ? customer.id : id)
    },
  )

  test("a payment without a quote, and the platform's own, have none", async () => {
    const own = await world.graphql('{ platformInternalAccounts(first: 1) { edges { node { id } } } }')
    const accountId = own.body['data'].platformInternalAccounts.edges[0].node.id
    await world.rest('POST', `/sandbox/internal-accounts/${accountId}/fund`, { amount: 5 })
    const { body } = await world.graphql('{ transactions(first: 1) { edges { node { id } } } }')
    const { id } = body['data'].transactions.edges[0].node
    const shown = await world.graphql(`{ transaction(id: "${id}") { type customer { id fullName } quote { id } } }`)
    expect(shown.body['data']).toEqual({ transaction: { type: 'INCOMING', customer: null, quote: null } })
  })

  test('the same list asked for in two ways in one document, through fragments and aliases', async () => {
    const { body } = await world.graphql(
      `query ($id: ID!) { a: node(id: $id) { ... on Customer { ...One ...Two } } customers(first: 1) { edges { node { ...One } } } }
       fragment One on Customer { transactions(first: 3) { edges { node { id } } } }
       fragment Two on Customer { transactions(first: 3) { edges { node { status createdAt receivedAmount { amount } } } } }`,
      { id: payer.customer['id'] },
    )
    expect(body['errors']).toBeUndefined()
    expect(body['data'].a.transactions.edges[0].node).toEqual({
      id: expect.stringMatching(/^Transaction:/),
      status: expect.any(String),
      createdAt: expect.any(String),
      receivedAmount: { amount: expect.any(String) },
    })
  })
})

describe('a document that means harm', () => {
  const nested = (depth: number) =>
    `{ customers { edges { node { ${'transactions { edges { node { customer { '.repeat(depth)}id${' } } } }'.repeat(depth)} } } } }`
  const attacks: [name: string, query: string, variables?: Body][] = [
    ['5,000 aliases', `{ ${Array.from({ length: 5000 }, (_, index) => `a${index}: platform { id }`).join(' ')} }`],
    ['20,000 levels', `${'{a'.repeat(20_000)}${'}'.repeat(20_000)}`],
    ['nesting that multiplies', nested(6)],
    ['fragments in a circle', '{ ...A } fragment A on Query { ...B } fragment B on Query { ...A }'],
    ['5,000 directives', `{ platform ${'@skip(if: false) '.repeat(5000)} { id } }`],
    [
      '10,000 ids',
      'query ($ids: [ID!]!) { nodes(ids: $ids) { id } }',
      { ids: Array.from({ length: 10_000 }, (_, n) => `Customer:${n}`) },
    ],
    [
      'a thousand pages at once',
      `{ ${Array.from({ length: 150 }, (_, n) => `p${n}: customers(first: 100) { edges { node { transactions(first: 100) { edges { node { id } } } } } }`).join(' ')} }`,
    ],
    ['NUL', '{ platform\u0000 { id } }'],
    ['a lone surrogate', '{ customers(umaAddress: "\ud800") { totalCount } }'],
  ]

  test.each(attacks)('is refused in few words over HTTP: %s', async (_name, query, variables = {}) => {
    const { status, text } = await world.graphql(query, variables)
    expect([200, 400, 413]).toContain(status)
    expect(text.length).toBeLessThan(2000)
    expect(JSON.parse(text).errors.length).toBeGreaterThan(0)
  })

  test.each([
    ['depth', nested(6), {}],
    [
      'complexity',
      '{ customers(first: 100) { edges { node { transactions(first: 100) { edges { node { id status } } } } } } }',
      {},
    ],
    [
      'complexity',
      'query ($n: Int!) { customers(first: $n) { edges { node { transactions(first: $n) { edges { node { id status } } } } } } }',
      { n: 100 },
    ],
    ['breadth', `{ ${Array.from({ length: 401 }, (_, index) => `a${index}: __typename`).join(' ')} }`, {}],
  ])('is told what it has too much of: %s', async (measure, query, variables) => {
    for (const _time of [1, 2]) {
      const { body } = await world.graphql(query, variables)
      expect(body['errors'][0].extensions).toMatchObject({ code: 'DOCUMENT_TOO_COMPLEX', [measure]: expect.any(Number) })
    }
  })

  test.each(attacks)('and over a socket: %s', async (_name, query, variables = {}) => {
    const client = createClient({
      url: `${world.gateway.url.replace('http', 'ws')}/graphql`,
      connectionParams: { authorization: basic(world.sandbox) },
      retryAttempts: 0,
    })
    const answer = await new Promise<unknown>((resolve) =>
      client.subscribe({ query, variables }, { next: resolve, error: resolve, complete: () => {} }),
    )
    expect(JSON.stringify(answer).length).toBeLessThan(2000)
    await client.dispose()
    expect((await world.graphql('{ platform { id } }')).status).toBe(200)
  })

  test.each(attacks)('and over server-sent events: %s', async (_name, query, variables = {}) => {
    const response = await fetch(`${world.gateway.url}/graphql`, {
      method: 'POST',
      headers: { authorization: basic(world.sandbox), 'content-type': 'application/json', accept: 'text/event-stream' },
      body: JSON.stringify({ query, variables }),
    })
    const text = await response.text()
    expect(text.length).toBeLessThan(2000)
    expect(text).toMatch(/"errors":\[/)
  })

  test.each([
    '{ customers(first: 100) { edges { node { transactions(first: 100) { edges { node { id status } } } } } } }',
    'subscription { events { ... on PaymentEvent { transaction { customer { transactions(first: 100) { edges { node { customer { transactions(first: 100) { edges { node { id status } } } } } } } } } } } }',
  ])('is told over a socket, too, that it has too much of something: %s', async (query) => {
    const client = createClient({
      url: `${world.gateway.url.replace('http', 'ws')}/graphql`,
      connectionParams: { authorization: basic(world.sandbox) },
      retryAttempts: 0,
    })
    const answer = await new Promise<unknown>((resolve) =>
      client.subscribe({ query }, { next: resolve, error: resolve, complete: () => {} }),
    )
    expect(JSON.stringify(answer)).toContain('DOCUMENT_TOO_COMPLEX')
    await client.dispose()
  })

  test('batches, forms, large bodies and prototypes get no further', async () => {
    const post = (body: string, contentType = 'application/json') =>
      fetch(`${world.gateway.url}/graphql`, {
        method: 'POST',
        headers: { authorization: basic(world.sandbox), 'content-type': contentType },
        body,
      })
    expect((await post('[{"query":"{ __typename }"},{"query":"{ __typename }"}]')).status).toBe(400)
    expect((await post('query=mutation{testWebhook{errors{code}}}', 'application/x-www-form-urlencoded')).status).toBe(415)
    expect((await post(JSON.stringify({ query: `{ __typename } ${'#'.repeat(1_000_000)}` }))).status).toBe(413)
    const polluted = await post(
      '{"query":"query ($id: ID!) { node(id: $id) { id } }","variables":{"__proto__":{"id":"Customer:x"}}}',
    )
    expect(((await polluted.json()) as Body)['errors']).toHaveLength(1)
    expect(({} as Body)['id']).toBeUndefined()
  })
})

test('what a stranger sends is not read, whatever it is', async () => {
  for (const query of ['{ platform { id } }', '{ nothing }', '{', 'subscription { events { type } }']) {
    const { status, body } = await world.graphql(query, {}, { as: null })
    expect([status, body['errors'][0].extensions.code]).toEqual([401, 'UNAUTHORIZED'])
  }
})
