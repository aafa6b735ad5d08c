/** Viewer tokens: what one customer's browser may do, and that nothing of anybody else exists for it, through every door. */
import {
  type GraphQLArgument,
  type GraphQLField,
  type GraphQLOutputType,
  getNamedType,
  isAbstractType,
  isInterfaceType,
  isLeafType,
  isObjectType,
  isRequiredArgument,
} from 'graphql'
import { createClient } from 'graphql-ws'
import { beforeAll, describe, expect, test } from 'vitest'
import { WebSocket } from 'ws'
import { second } from '../src/base/clock.ts'
import { schema } from '../src/graphql/schema.ts'
import { examples } from '../src/rest/examples.ts'
import { endpointOf, urlOf, withIds } from './endpoints.ts'
import {
  balanceOf,
  fund,
  internalAccountOf,
  newCustomer,
  newIbanAccount,
  newPayer,
  newQuote,
  type Payer,
  quoteInput,
} from './people.ts'
import { type Body, type CallOptions, useWorld } from './world.ts'

const world = useWorld()

async function viewerOf(customerId: string, permissions = ['VIEW', 'TRANSACT'], fields: Body = {}): Promise<CallOptions> {
  const { body, status } = await world.rest('POST', '/viewer-tokens', { customerId, permissions, ...fields })
  expect([status, body]).toEqual([201, body])
  return bearer(body['token'])
}

const bearer = (token: string): CallOptions => ({ as: null, headers: { authorization: `Bearer ${token}` } })

async function who(call: CallOptions): Promise<Body> {
  const { body } = await world.graphql('{ viewer { environment permissions expiresAt customer { id } } }', {}, call)
  return body['data']?.viewer ?? body['errors'][0].extensions
}

describe('a viewer token', () => {
  test('is shown once, says whose it is, and is stored as a digest', async () => {
    const customer = await newCustomer(world)
    const { body } = await world.rest('POST', '/viewer-tokens', { customerId: customer['id'] }, { idempotencyKey: 'mint' })
    expect(body).toEqual({
      id: expect.stringMatching(/^ViewerToken:/),
      token: expect.stringMatching(/^viewer_[\w-]{43}$/),
      customerId: customer['id'],
      permissions: ['VIEW'],
      expiresAt: new Date(world.clock.now().getTime() + 900 * second).toISOString(),
      createdAt: world.clock.now().toISOString(),
    })
    const again = await world.rest('POST', '/viewer-tokens', { customerId: customer['id'] }, { idempotencyKey: 'mint' })
    const { token, ...rest } = body
    expect(again.body).toEqual(rest)
    const stored = JSON.stringify(
      await world.database.query(`select v.*, k.reply from viewer_token v cross join idempotency_key k`),
      (_key, value) => (typeof value === 'bigint' ? String(value) : value),
    )
    expect(stored).not.toContain(token)
    expect(await who(bearer(token))).toEqual({
      environment: 'SANDBOX',
      permissions: ['VIEW'],
      expiresAt: body['expiresAt'],
      customer: { id: customer['id'] },
    })
  })

  test('may do no more than the token that makes it, for a minute to an hour', async () => {
    const { id: customerId } = await newCustomer(world)
    const { body: narrow } = await world.rest('POST', '/tokens', { name: 'Narrow', permissions: ['VIEW', 'MANAGE'] })
    const refused = async (fields: Body, as = narrow) =>
      (await world.rest('POST', '/viewer-tokens', { customerId, ...fields }, { as: as as never })).body
    expect(await refused({ permissions: ['VIEW', 'TRANSACT'] })).toMatchObject({ status: 403, details: { field: 'permissions' } })
    expect(await refused({ permissions: ['MANAGE'] })).toMatchObject({ status: 400, details: { field: 'permissions.0' } })
    expect(await refused({ permissions: [] })).toMatchObject({ status: 400 })
    for (const expiresInSeconds of [59, 3601, 60.5, '900']) {
      expect(await refused({ expiresInSeconds })).toMatchObject({ status: 400, details: { field: 'expiresInSeconds' } })
    }
    expect(await refused({ customerId: 'Customer:01890000-0000-7000-8000-000000000000' })).toMatchObject({ status: 404 })
    const call = await viewerOf(customerId)
    expect((await world.rest('POST', '/viewer-tokens', { customerId }, call)).body).toMatchObject({ code: 'FORBIDDEN' })
  })

  test('ends when its time is over, and is forgotten', async () => {
    const { id } = await newCustomer(world)
    const call = await viewerOf(id, ['VIEW'], { expiresInSeconds: 60 })
    world.clock.advance(60 * second - 1)
    expect(await who(call)).toMatchObject({ customer: { id } })
    world.clock.advance(1)
    expect(await who(call)).toEqual({ code: 'UNAUTHORIZED' })
    await world.drain()
    expect(await world.database.query('select 1 from viewer_token where expires_at <= $1', [world.clock.now()])).toEqual([])
  })

  test('is dead at once when it, its maker or its customer is taken away', async () => {
    const { id: customerId } = await newCustomer(world)
    const { body: maker } = await world.rest('POST', '/tokens', { name: 'Maker', permissions: ['VIEW', 'TRANSACT', 'MANAGE'] })
    const made = async (as = world.sandbox) => (await world.rest('POST', '/viewer-tokens', { customerId }, { as })).body
    const [own, makers, customers] = [await made(), await made(maker as never), await made()]
    for (const { token } of [own, makers, customers]) expect(await who(bearer(token))).toMatchObject({ customer: {} })

    expect((await world.rest('DELETE', `/viewer-tokens/${own['id']}`)).status).toBe(204)
    expect(await who(bearer(own['token']))).toEqual({ code: 'UNAUTHORIZED' })
    expect((await world.rest('DELETE', `/viewer-tokens/${own['id']}`)).body).toMatchObject({ code: 'TOKEN_NOT_FOUND' })

    await world.rest('DELETE', `/tokens/${maker['id']}`)
    expect(await who(bearer(makers['token']))).toEqual({ code: 'UNAUTHORIZED' })

    await world.rest('DELETE', `/customers/${customerId}`)
    // As another gateway sees it: what it knows of a token is a moment old at most.
    world.gateway.core.tokens.viewers.clear()
    expect(await who(bearer(customers['token']))).toEqual({ code: 'UNAUTHORIZED' })
    expect((await world.rest('POST', '/viewer-tokens', { customerId })).body).toMatchObject({ code: 'CUSTOMER_DELETED' })
  })

  test.each(['Bearer', 'Bearer viewer_', 'Bearer x y', `Bearer ${'x'.repeat(300)}`, 'Bearer viewer_é', 'Bear er'])(
    'that is none is refused: %j',
    async (authorization) => {
      const { status, body } = await world.rest('GET', '/quotes', undefined, {
        as: null,
        headers: { authorization: Buffer.from(authorization).toString('latin1') },
      })
      expect([status, body['code']]).toEqual([401, 'UNAUTHORIZED'])
    },
  )

  test('moves the money of its customer, if it may', async () => {
    const payer = await newPayer(world)
    const looking = await viewerOf(payer.customer['id'], ['VIEW'])
    expect((await world.rest('POST', '/quotes', quoteInput(payer), looking)).body).toMatchObject({ code: 'FORBIDDEN' })

    const paying = await viewerOf(payer.customer['id'])
    const { body: quote } = await world.rest('POST', '/quotes', quoteInput(payer), paying)
    const { body: executed } = await world.rest('POST', `/quotes/${quote['id']}/execute`, undefined, paying)
    expect(executed).toMatchObject({ status: 'PROCESSING' })
    await world.drain()
    const shown = await world.graphql(
      `{ transactions(type: OUTGOING) { edges { node { status customer { id } quote { id } } } } }`,
      {},
      looking,
    )
    expect(shown.body['data'].transactions.edges).toEqual([
      { node: { status: 'COMPLETED', customer: { id: payer.customer['id'] }, quote: { id: quote['id'] } } },
    ])
    expect(await balanceOf(world, payer)).toBe(900_000)
  })

  test('that pushes money without saying who pushes means its customer', async () => {
    const payer = await newPayer(world)
    const paying = await viewerOf(payer.customer['id'])
    const { body, status } = await world.rest('POST', '/quotes', quoteInput(payer, { source: { currency: 'USD' } }), paying)
    expect([status, body]).toEqual([201, body])
    expect((await world.rest('GET', `/quotes/${body['id']}`, undefined, paying)).body).toEqual(body)
  })

  test('has idempotency keys of its own', async () => {
    const [ada, bob] = [await newPayer(world), await newPayer(world)]
    const hers = await viewerOf(ada.customer['id'])
    const his = await viewerOf(bob.customer['id'])
    const key = { idempotencyKey: 'shared' }
    const { body: quote } = await world.rest('POST', '/quotes', quoteInput(ada), { ...hers, ...key })
    expect((await world.rest('POST', '/quotes', quoteInput(ada), { ...hers, ...key })).body).toEqual(quote)
    expect((await world.rest('POST', '/quotes', quoteInput(ada), { ...his, ...key })).body).toMatchObject({ status: 404 })
    expect((await world.rest('POST', '/quotes', quoteInput(ada), key)).body['id']).not.toBe(quote['id'])
  })

  test('cannot ask for what is the platform’s', async () => {
    const { id } = await newCustomer(world)
    const call = await viewerOf(id)
    const forbidden = ['platform { id }', 'tokens { totalCount }', 'webhookHealth { url }', 'viewerTokens { totalCount }']
    for (const field of forbidden) {
      const { body } = await world.graphql(`{ ${field} }`, {}, call)
      expect([field, body['errors'][0].extensions.code]).toEqual([field, 'FORBIDDEN'])
    }
    const { body } = await world.graphql('{ events { edges { node { webhook { signature } } } } }', {}, call)
    expect(JSON.stringify(body)).not.toContain('v=')
  })

  test('closes what it has open when it is taken away, and when its time is over', async () => {
    const { id } = await newCustomer(world)
    const opened = async (fields: Body) => {
      const { body } = await world.rest('POST', '/viewer-tokens', { customerId: id, ...fields })
      const authorization = `Bearer ${body['token']}`
      const socket = new WebSocket(`${world.gateway.url.replace('http', 'ws')}/graphql`, 'graphql-transport-ws')
      const closed = new Promise<number>((resolve) => socket.once('close', resolve))
      socket.once('open', () => socket.send(JSON.stringify({ type: 'connection_init', payload: { authorization } })))
      await new Promise((resolve) => socket.once('message', resolve))
      const query = encodeURIComponent('subscription { events { id } }')
      const stream = await fetch(`${world.gateway.url}/graphql?query=${query}`, {
        headers: { authorization, accept: 'text/event-stream' },
      })
      expect(stream.status).toBe(200)
      return { token: body, closed, ended: stream.text() }
    }
    const [long, short] = [await opened({}), await opened({ expiresInSeconds: 60 })]
    world.clock.advance(60 * second)
    await world.drain()
    expect(await short.closed).toBe(4403)
    expect(await short.ended).toContain('UNAUTHORIZED')
    await world.rest('DELETE', `/viewer-tokens/${long.token['id']}`)
    await world.drain()
    expect(await long.closed).toBe(4403)
    expect(await long.ended).toContain('UNAUTHORIZED')
  })
})

// ── Nothing of anybody else ──────────────────────────────────────────────────────────────────────────────────────────────────────

describe('of another customer and of the platform', () => {
  let ada: Payer
  let bob: Payer
  let call: CallOptions
  /** One id of each type that is Ada's. */
  const own: Record<string, string> = {}
  /** Of the other platform. */
  const strangers = new Set<string>()
  /** Every id that is not hers. */
  const foreign = new Set<string>()
  /** Bob's account that Ada has paid to. */
  let paid: string
  /** What else would give Bob away. */
  const secrets: string[] = []

  beforeAll(async () => {
    ada = await newPayer(world)
    const { id } = await newCustomer(world, { platformCustomerId: 'bobs-number', fullName: 'Bob Berger' })
    const dollars = await fund(world, (await internalAccountOf(world, id, 'USD'))['id'], 500_000)
    bob = { customer: (await world.rest('GET', `/customers/${id}`)).body, dollars, euros: await newIbanAccount(world, id) }
    await world.rest('PATCH', '/config', { webhookEndpoint: 'http://127.0.0.1:1/' })
    for (const payer of [ada, bob]) {
      const { id: quoteId } = await newQuote(world, payer)
      await world.rest('POST', `/quotes/${quoteId}/execute`)
      await world.rest('POST', '/bank-link/link-tokens', { customerId: payer.customer['id'] })
      await world.rest('POST', '/invitations', { inviterUma: payer.customer['umaAddress'] })
      await world.rest('GET', `/receiver/external-account/${payer.euros['id']}`)
      await world.rest('POST', '/sandbox/uma/receive', {
        senderUmaAddress: '$success.usd@sandbox.uma.money',
        customerId: payer.customer['id'],
        receivingCurrencyCode: 'USD',
        receivingCurrencyAmount: 1_000,
      })
    }
    // They pay each other, as the platform may have them do.
    for (const [from, to] of [
      [ada, bob],
      [bob, ada],
    ] as const) {
      const { id: quoteId } = await newQuote(world, from, {
        destination: { accountId: (await internalAccountOf(world, to.customer['id'], 'EUR'))['id'] },
      })
      await world.rest('POST', `/quotes/${quoteId}/execute`)
    }
    await world.drain()
    call = await viewerOf(ada.customer['id'])

    const her = ada.customer['id'].slice('Customer:'.length)
    const worldId = (await world.rest('GET', '/config')).body['id'].slice('PlatformConfig:'.length)
    for (const [type, table, owner] of [
      ['Customer', 'customer', 'id'],
      ['InternalAccount', 'internal_account', 'customer_id'],
      ['ExternalAccount', 'external_account', 'customer_id'],
      ['Quote', 'quote', 'customer_id'],
      ['Transaction', 'transaction', 'customer_id'],
      ['Webhook', 'event', 'customer_id'],
      ['Lookup', 'lookup', 'customer_id'],
      ['Token', 'api_token', 'null::uuid'],
      ['Invitation', 'invitation', 'inviter_customer_id'],
    ] as const) {
      const id = table === 'event' ? 'uuid' : 'id'
      const rows = await world.database.query<{ id: string; hers: boolean; strangers: boolean }>(
        `select ${id} as id, (${owner} is not distinct from $1::uuid) as hers, world_id <> $2 as strangers from ${table} order by ${id}`,
        [her, worldId],
      )
      for (const row of rows) {
        if (row.hers) own[type] ??= `${type}:${row.id}`
        else foreign.add(`${type}:${row.id}`)
        if (row.strangers) strangers.add(`${type}:${row.id}`)
      }
      expect([type, rows.some(({ hers }) => !hers)]).toEqual([type, true])
    }
    own['InternalAccount'] = ada.dollars['id']
    paid = (await internalAccountOf(world, bob.customer['id'], 'EUR'))['id']
    secrets.push(bob.customer['umaAddress'], 'bobs-number', 'Bob Berger', bob.euros['accountInfo'].iban)
  })

  /** The other end of her own payments is part of them. */
  const otherEnd = /(^|\.)(source|destination)\.(\w+\.)*accountId$/

  function leaksIn(value: unknown, at = ''): string[] {
    if (typeof value === 'string') {
      if (secrets.some((secret) => value.includes(secret))) return [`${at}: ${value}`]
      return foreign.has(value) && !otherEnd.test(at.replace(/\.\d+/g, '')) ? [`${at}: ${value}`] : []
    }
    if (typeof value !== 'object' || value === null) return []
    return Object.entries(value).flatMap(([name, item]) => leaksIn(item, `${at}.${name.replace(/^\w+__/, '')}`))
  }

  const queries = Object.values(schema.getQueryType()!.getFields())

  /** A value for an argument that must be given. */
  function valueFor({ name, type }: GraphQLArgument, returned: string): unknown {
    if (name === 'at') return world.clock.now().toISOString()
    if (name === 'code') return 'nothing'
    if (name === 'ids') return [own['Transaction'], own['InternalAccount']]
    if (getNamedType(type).name === 'ID') return own[returned] ?? own['Customer']
    throw new Error(`no value for ${name}`)
  }

  function argumentsOf(field: GraphQLField<unknown, unknown>): string {
    const given = field.args.flatMap((argument) => {
      if (argument.name === 'first') return ['first: 2']
      if (!isRequiredArgument(argument)) return []
      return [`${argument.name}: ${JSON.stringify(valueFor(argument, getNamedType(field.type).name))}`]
    })
    return given.length > 0 ? `(${given.join(', ')})` : ''
  }

  /** Everything of a type, so many things deep; the steps of a list are none. `only`: of its things this one alone. */
  function selection(of: GraphQLOutputType, depth: number, only?: string): string {
    const type = getNamedType(of)
    if (isAbstractType(type)) {
      const parts = schema.getPossibleTypes(type).map((one) => `... on ${one.name} ${selection(one, depth, only)}`)
      return `{ __typename ${parts.join(' ')} }`
    }
    if (!isObjectType(type)) return ''
    const chosen = Object.values(type.getFields()).flatMap((field) => {
      const named = getNamedType(field.type)
      // Objects of different types may have fields of one name and different types.
      const name = `${type.name}__${field.name}: ${field.name}${argumentsOf(field)}`
      if (isLeafType(named)) return [name]
      const isStep = ['edges', 'node', 'pageInfo'].includes(field.name)
      if (!isStep && only !== undefined && field.name !== only) return []
      if (!isStep && depth === 0) return []
      return [`${name} ${selection(named, isStep ? depth : depth - 1, isStep ? only : undefined)}`]
    })
    return `{ __typename ${chosen.join(' ')} }`
  }

  /** The things below a type that can be asked for: one document each keeps them small. */
  function thingsOf(of: GraphQLOutputType): (string | undefined)[] {
    const type = getNamedType(of)
    if (type.name.endsWith('Connection') && isObjectType(type)) {
      const edge = getNamedType(type.getFields()['edges']!.type)
      return isObjectType(edge) ? thingsOf(edge.getFields()['node']!.type) : []
    }
    const types = isAbstractType(type) ? schema.getPossibleTypes(type) : isObjectType(type) ? [type] : []
    const things = types.flatMap((one) => Object.values(one.getFields()).filter((field) => !isLeafType(getNamedType(field.type))))
    return [undefined, ...new Set(things.map(({ name }) => name))]
  }

  /** Of many types at once. */
  const wide = ['node', 'nodes', 'events']

  test.each(queries.map((field) => [field.name, field] as const))('%s returns nothing', async (name, field) => {
    let answered = 0
    for (const only of thingsOf(field.type)) {
      const query = `{ ${name}${argumentsOf(field)} ${selection(field.type, only === undefined ? 0 : wide.includes(name) ? 1 : 2, only)} }`
      const { body } = await world.graphql(query, {}, call)
      const codes = ((body['errors'] ?? []) as Body[]).map(({ extensions, message }) => extensions?.code ?? message)
      expect(codes.filter((code) => !['FORBIDDEN', 'INVITATION_NOT_FOUND', 'JOB_NOT_FOUND'].includes(code))).toEqual([])
      expect(leaksIn(body['data'])).toEqual([])
      if (body['data']?.[name] ?? undefined) answered += 1
    }
    const platforms = ['platform', 'tokens', 'token', 'viewerTokens', 'webhookDeliveries', 'webhookHealth', 'bulkImportJob']
    const nothing = [...platforms, 'invitation', 'platformInternalAccounts', 'platformExternalAccounts', 'persistedOperations']
    expect([name, answered > 0]).toEqual([name, !nothing.includes(name)])
  })

  const taking = queries.flatMap((field) =>
    field.args
      .filter(({ name, type }) => getNamedType(type).name === 'ID' || /Identifier$|^umaAddress$|^platformCustomerId$/.test(name))
      .map((argument) => [`${field.name}(${argument.name})`, field, argument] as const),
  )

  test.each(taking)('%s takes its ids as ids of nobody', async (_what, field, argument) => {
    const selected = selection(field.type, 0)
    const query = `query ($value: ${argument.type}) { ${field.name}(${argument.name}: $value) ${selected} }`
    const asked = async (id: string) => {
      const value = argument.name === 'ids' ? [id, own['Customer']] : id
      return (await world.graphql(query, { value }, call)).text.replaceAll(id, 'asked')
    }
    for (const id of [...foreign, ...secrets]) {
      // The other end of her own payment: she finds it by that.
      if (id === paid && /AccountId$|accountIdentifier$/i.test(argument.name)) continue
      const nobodys = id
        .replace(/:[0-9a-f-]{36}$/, ':01890000-0000-7000-8000-000000000000')
        .replace(/^\$?bob/i, (text) => `${text}x`)
      const nothing = nobodys === id ? `${id}x` : nobodys
      expect([id, await asked(id)]).toEqual([id, await asked(nothing)])
    }
  })

  test.each(taking)('%s takes the ids of another world as ids of nobody', async (_what, field, argument) => {
    const query = `query ($value: ${argument.type}) { ${field.name}(${argument.name}: $value) ${selection(field.type, 0)} }`
    const asked = async (id: string) => {
      const value = argument.name === 'ids' ? [id] : id
      return (await world.graphql(query, { value }, { as: world.stranger })).text.replaceAll(id, 'asked')
    }
    for (const id of [...Object.values(own), ...foreign].filter((one) => !strangers.has(one))) {
      expect([id, await asked(id)]).toEqual([id, await asked(id.replace(/:.*/, ':01890000-0000-7000-8000-000000000000'))])
    }
  })

  const withForeign = examples.filter((example) => /"[A-Z]\w+:0190b2f4-/.test(JSON.stringify({ ...example, brings: {} })))

  test.each(withForeign.map((example) => [example.of, example] as const))('%s over REST: as nobody’s', async (of, example) => {
    const endpoint = endpointOf(of)
    const ids = [...new Set(JSON.stringify(example).match(/[A-Z]\w+:0190b2f4-[0-9a-f-]{27}/g))]
    const nobodys = new Map(ids.map((id) => [id, id.replace(/:.*/, ':01890000-0000-7000-8000-000000000000')]))
    const ask = (real: ReadonlyMap<string, string>) => {
      const shown = withIds(example, real)
      return world.rest(endpoint.method, urlOf(endpoint, shown), shown.body, call)
    }
    const missing = await ask(nobodys)
    for (const id of ids) {
      const type = id.slice(0, id.indexOf(':'))
      for (const theirs of [...foreign].filter((one) => one.startsWith(`${type}:`))) {
        const { status, text } = await ask(new Map([...nobodys, [id, theirs]]))
        expect([theirs, status, text.replaceAll(theirs, nobodys.get(id)!)]).toEqual([theirs, missing.status, missing.text])
      }
    }
    expect([400, 403, 404, 200]).toContain(missing.status)
    expect(leaksIn(missing.body)).toEqual([])
  })

  test('the lists of REST show nothing', async () => {
    for (const path of [
      '/customers',
      '/customers/internal-accounts',
      '/customers/external-accounts',
      '/quotes',
      '/transactions',
      '/events',
    ]) {
      const { body } = await world.rest('GET', path, undefined, call)
      expect([path, body['data'].length > 0]).toEqual([path, true])
      expect(leaksIn(body)).toEqual([])
    }
  })

  test("her statement shows what another's payment brought, and not the payment", async () => {
    const euros = await internalAccountOf(world, ada.customer['id'], 'EUR')
    const query = `query ($id: ID!) { internalAccount(id: $id) { balance { amount } statement { edges { node { kind amount { amount }
      transaction { id } } } } incomingTransactions { totalCount edges { node { id } } } } }`
    const { body } = await world.graphql(query, { id: euros['id'] }, call)
    const { balance, statement, incomingTransactions } = body['data'].internalAccount
    expect(Number(balance.amount)).toBeGreaterThan(0)
    expect(statement.edges).toEqual([{ node: { kind: 'PAYOUT', amount: balance, transaction: null } }])
    expect(incomingTransactions).toEqual({ totalCount: 0, edges: [] })
    const { body: platforms } = await world.graphql(query, { id: euros['id'] })
    expect(platforms['data'].internalAccount.incomingTransactions.totalCount).toBe(1)
  })

  test('a lookup of somebody else is none', async () => {
    const quote = (lookupId: string) =>
      world.rest('POST', '/quotes', quoteInput(ada, { destination: { destinationType: 'LOOKUP' }, lookupId }), call)
    const { body: mine } = await world.rest('GET', `/receiver/external-account/${ada.euros['id']}`, undefined, call)
    expect((await quote(mine['lookupId'])).status).toBe(201)
    const theirs = await world.rest('GET', `/receiver/external-account/${ada.euros['id']}`)
    expect((await quote(theirs.body['lookupId'])).body).toMatchObject({ code: 'LOOKUP_REQUEST_NOT_FOUND' })
  })

  test('no subscription tells anything, of whoever it is asked', async () => {
    const seen: Body[] = []
    const authorization = call.headers!['authorization']!
    const client = createClient({
      url: `${world.gateway.url.replace('http', 'ws')}/graphql`,
      webSocketImpl: WebSocket,
      retryAttempts: 0,
      connectionParams: { authorization },
    })
    const errors: string[] = []
    const { body } = await world.graphql('{ events(first: 1) { pageInfo { endCursor } } }')
    const after = body['data'].events.pageInfo.endCursor
    for (const field of Object.values(schema.getSubscriptionType()!.getFields())) {
      const named = getNamedType(field.type)
      const selected = isInterfaceType(named)
        ? '{ __typename resourceId ... on PaymentEvent { transaction { id source { __typename } customer { id fullName } } } ... on AccountStatusEvent { account { id customer { id } } } }'
        : selection(named, 0)
      const required = field.args.find(isRequiredArgument)
      const type = field.name.replace(/Updated$/, '').replace(/^./, (first) => first.toUpperCase())
      const ids = field.args.some(({ name }) => name === 'id')
        ? [...foreign].filter((id) => id.startsWith(`${type}:`)).slice(0, 5)
        : []
      const asked = [...(required ? [] : ['']), ...ids.map((id) => `id: "${id}", `)]
      if (field.args.some(({ name }) => name === 'customerId')) asked.push(`customerId: "${bob.customer['id']}", `)
      for (const args of asked) {
        client.subscribe(
          { query: `subscription { ${field.name}(${args}after: "${after}") ${selected} }` },
          {
            next: (result) => seen.push({ args: `${field.name} ${args}`, ...result }),
            error: (error) => errors.push(JSON.stringify(error)),
            complete: () => {},
          },
        )
      }
    }
    for await (const _ of client.iterate({ query: '{ __typename }' })) break
    for (const payer of [ada, bob]) {
      const { id: quoteId } = await newQuote(world, payer)
      await world.rest('POST', `/quotes/${quoteId}/execute`)
    }
    await world.drain()
    for await (const _ of client.iterate({ query: '{ __typename }' })) break
    await client.dispose()
    // Her own events came, and quotes that are not hers are none.
    expect(seen.some(({ data }) => data?.events?.__typename === 'PaymentEvent')).toBe(true)
    const ofOthers = seen.filter(({ args }) => args.includes('id: "') || args.includes('customerId'))
    for (const { errors: refused } of ofOthers) expect(refused[0].extensions.code).toBe('QUOTE_NOT_FOUND')
    expect(seen.flatMap((result) => leaksIn(result['data']))).toEqual([])
    for (const error of errors) expect(error).toContain('QUOTE_NOT_FOUND')
  })
})
