/**
 * Every endpoint × every status that openapi.json documents for it, each reply held against it on its way. Successes are the examples of the
 * reference, played from the first to the last.
 */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { type Example, examples, webhookEndpoint } from '../src/rest/examples.ts'
import { type Endpoint, endpointOf, endpoints, urlOf, withIds } from './endpoints.ts'
import { newCustomer, newIbanAccount, newPayer, newUsAccount, quoteInput } from './people.ts'
import { freePorts, type LibraryProvider, openLibraryProvider, providersOf } from './providers.ts'
import { openReceiver, type Receiver } from './receiver.ts'
import { type Body, basic, type CallOptions, type Credentials, useWorld, type World } from './world.ts'

const [silentPort, olderPort] = (await freePorts(2)) as [number, number]
const world = useWorld({ background: true, environment: { UMA_PROVIDERS: providersOf([silentPort, olderPort]) } })
const crowded = useWorld({ environment: { REQUESTS_PER_MINUTE: '1' } })
let receiver: Receiver
/** A provider of UMA addresses that speaks a version which nobody else speaks. */
let older: LibraryProvider

/** What the ids of the examples really are. */
const real = new Map<string, string>()
/** Tokens that may do one thing only. */
const narrow: Credentials[] = []

beforeAll(async () => {
  receiver = await openReceiver()
  older = await openLibraryProvider(olderPort)
  older.answer = () => ({ status: 412, body: JSON.stringify({ supportedMajorVersions: [7] }) })
  // Approvals are deferred to the calls that decide.
  receiver.answer = ({ type, transaction }) => ({
    status: type === 'INCOMING_PAYMENT' && transaction.status === 'PENDING' ? 202 : 200,
  })
  real.set(webhookEndpoint, receiver.url)
  for (const permission of ['VIEW', 'TRANSACT', 'MANAGE']) {
    narrow.push((await world.rest('POST', '/tokens', { name: 'Narrow', permissions: [permission] })).body as Credentials)
  }
})

afterAll(() => {
  receiver.close()
  older.close()
})

interface How extends CallOptions {
  in?: World
}

async function call(endpoint: Endpoint, example: Omit<Example, 'of'>, { in: where = world, ...options }: How = {}) {
  const { method } = endpoint
  const { body, file } = example
  const whole = urlOf(endpoint, example)
  if (file === undefined) return where.rest(method, whole, body, options)
  const { as = where.sandbox, headers = {} } = options
  const form = new FormData()
  form.append('file', new File([file], 'customers.csv'))
  const response = await fetch(`${where.gateway.url}/2025-10-13${whole}`, {
    method,
    headers: { ...headers, ...(as ? { authorization: basic(as) } : {}) },
    body: form,
  })
  return { status: response.status, body: (await response.json()) as Body, headers: response.headers, text: '' }
}

/** As the endpoint's example, of things that nobody has. */
const ofNobody = ({ example }: Endpoint): Example => {
  const nobody = [adasUma, '$success.eur@', '$success.usd@'].map((address) => [address, '$nobody.at.all@'] as const)
  return withIds(example, new Map([...nobody, [webhookEndpoint, receiver.url]]))
}
const adasUma = '$ada.lovelace@'

// ── Success ──────────────────────────────────────────────────────────────────────────────────────────────────────────────────────

describe('the examples', () => {
  // Whatever one shows has happened by then.
  beforeEach(() => world.drain())

  test('are of every endpoint', () => {
    expect([...new Set(examples.map(({ of }) => of))].sort()).toEqual(endpoints.map(({ id }) => id).sort())
  })

  test.each(examples.map((example) => [example.of, example] as const))('%s', async (of, example) => {
    const endpoint = endpointOf(of)
    const { status, body } = await call(endpoint, withIds(example, real))
    expect([status, body]).toEqual([endpoint.statuses.find((one) => one < 300), body])
    for (const [id, place] of Object.entries(example.brings ?? {})) real.set(id, valueAt(body, place))
  })
})

function valueAt(body: Body, place: string): string {
  const value = place.split('.').reduce<unknown>((at, key) => (at as Body)[key], body)
  expect(value, place).toEqual(expect.any(String))
  return value as string
}

// ── What every endpoint refuses alike ────────────────────────────────────────────────────────────────────────────────────────────

const pathOf = ({ path }: Endpoint, value: string) =>
  Object.fromEntries([...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => [name!, value]))

type Way = (endpoint: Endpoint) => Promise<{ status: number; body: Body }>

const ways: Readonly<Record<number, Way>> = {
  400: async (endpoint) => {
    const { example, method, path, operation } = endpoint
    const inQuery = (operation['parameters'] ?? []).filter((one: Body) => one['in'] === 'query')
    const malformed: Omit<Example, 'of'>[] = [
      ...(path.includes('{') ? [{ ...example, path: pathOf(endpoint, '\u0000') }] : []),
      ...(method === 'GET' ? [] : [{ ...example, file: undefined as never, body: ['not an object'] }]),
      ...inQuery.map(({ name }: Body) => ({ ...example, query: { [name]: '\u0000' } })),
    ]
    return firstWith(400, malformed, (one) => call(endpoint, one))
  },
  401: (endpoint) => call(endpoint, endpoint.example, { as: null }),
  403: (endpoint) => firstWith(403, narrow, (as) => call(endpoint, endpoint.example, { as })),
  404: (endpoint) => call(endpoint, ofNobody(endpoint)),
  406: (endpoint) => call(endpoint, endpoint.example, { headers: { accept: 'text/html' } }),
  409: async (endpoint) => {
    // Somebody has used the key for something else.
    const key = `used-${endpoint.id}`
    await world.database.query(
      `insert into idempotency_key (world_id, operation, key, input_hash, reply, created_at)
       select world_id, $1, $2, 'of another input', '{}', now() from api_token where client_id = 'sandbox'`,
      [endpoint.id.replace(/Of(Customer|Platform)$/, ''), key],
    )
    return call(endpoint, ofNobody(endpoint), { idempotencyKey: key })
  },
  413: (endpoint) => call(endpoint, { ...endpoint.example, file: undefined as never, body: { x: 'x'.repeat(300_000) } }),
  414: (endpoint) => call(endpoint, { ...endpoint.example, path: pathOf(endpoint, 'x'.repeat(500)) }),
  415: (endpoint) =>
    call(
      endpoint,
      { ...endpoint.example, file: undefined as never, body: 'text' },
      { headers: { 'content-type': 'text/plain' } },
    ),
  429: async (endpoint) => {
    await crowded.rest('GET', '/config')
    return call(endpoint, endpoint.example, { in: crowded })
  },
  500: async (endpoint) => {
    const { query, transaction, prisma } = world.database
    const broken = () => Promise.reject(new Error('the database is broken'))
    const brokenPrisma = new Proxy({}, { get: () => new Proxy({}, { get: () => broken }) })
    Object.assign(world.database, { query: broken, transaction: broken, prisma: brokenPrisma })
    try {
      return await call(endpoint, withIds(endpoint.example, real))
    } finally {
      Object.assign(world.database, { query, transaction, prisma })
    }
  },
}

async function firstWith<Item>(
  status: number,
  items: readonly Item[],
  ask: (item: Item) => Promise<{ status: number; body: Body }>,
) {
  let last = { status: 0, body: {} as Body }
  for (const item of items) {
    last = await ask(item)
    if (last.status === status) break
  }
  return last
}

// ── What takes more to be refused ────────────────────────────────────────────────────────────────────────────────────────────────

/** A customer in production, where nobody carries money. */
async function inProduction() {
  const as = world.production
  const customer = await newCustomer(world, {}, { as })
  const balances = await world.rest('GET', `/customers/internal-accounts?customerId=${customer['id']}&currency=USD`, undefined, {
    as,
  })
  return {
    as,
    customer,
    dollars: balances.body['data'][0],
    euros: await newIbanAccount(world, customer['id'], '100', { as }),
    bank: await newUsAccount(world, customer['id'], '100', { as }),
  }
}

async function deletedCustomer() {
  const customer = await newCustomer(world)
  await world.rest('DELETE', `/customers/${customer['id']}`)
  return customer
}

/** What is answered while a part of the core throws. */
async function whileBroken<Part extends object>(part: Part, name: keyof Part, id: string, example = endpointOf(id).example) {
  const whole = part[name]
  const broken = () => {
    throw new Error('broken')
  }
  Object.assign(part, { [name]: broken })
  try {
    return await call(endpointOf(id), example)
  } finally {
    Object.assign(part, { [name]: whole })
  }
}

const particular: Readonly<Record<string, () => Promise<{ status: number; body: Body }>>> = {
  'completeBankLink 400': () =>
    call(endpointOf('completeBankLink'), withIds({ ...endpointOf('completeBankLink').example, body: [] }, real)),
  // A pair whose rate is not remembered.
  'listExchangeRates 500': () =>
    whileBroken(world.gateway.core.rates, 'terms', 'listExchangeRates', {
      of: 'listExchangeRates',
      query: { sourceCurrency: 'MXN', destinationCurrency: ['BRL'] },
    }),
  'listUmaProviders 500': () => whileBroken(world.gateway.core.rails.SANDBOX!, 'providers', 'listUmaProviders'),
  'completeBankLink 409': () => call(endpointOf('completeBankLink'), withIds(endpointOf('completeBankLink').example, real)),
  'redeliverWebhook 409': async () => {
    const { body } = await world.rest('GET', '/webhooks/deliveries?type=INCOMING_PAYMENT')
    const asked = await firstWith(409, body['data'] as Body[], ({ id }) =>
      world.rest('POST', `/webhooks/deliveries/${id}/redeliver`),
    )
    return asked
  },
  'updateCustomer 410': async () =>
    world.rest('PATCH', `/customers/${(await deletedCustomer())['id']}`, { fullName: 'Somebody Else' }),
  'deleteCustomer 410': async () => world.rest('DELETE', `/customers/${(await deletedCustomer())['id']}`),
  'createViewerToken 410': async () => world.rest('POST', '/viewer-tokens', { customerId: (await deletedCustomer())['id'] }),
  'createLinkToken 410': async () =>
    world.rest('POST', '/bank-link/link-tokens', { customerId: (await deletedCustomer())['id'] }),
  'createCustomerExternalAccount 410': async () => {
    const { body } = endpointOf('createCustomerExternalAccount').example as { body: Body }
    return world.rest('POST', '/customers/external-accounts', { ...body, customerId: (await deletedCustomer())['id'] })
  },
  'createQuote 410': async () => {
    const payer = await newPayer(world)
    const { currency, accountInfo } = (endpointOf('createCustomerExternalAccount').example as { body: Body }).body
    const customerId = (await deletedCustomer())['id']
    const destination = { externalAccountDetails: { customerId, currency, accountInfo } }
    return world.rest('POST', '/quotes', quoteInput(payer, { destination }))
  },
  'createLinkToken 501': async () => {
    const { as, customer } = await inProduction()
    return world.rest('POST', '/bank-link/link-tokens', { customerId: customer['id'] }, { as })
  },
  'lookUpUmaAddress 412': () => world.rest('GET', `/receiver/uma/$somebody@localhost:${olderPort}`),
  'lookUpUmaAddress 424': () => world.rest('GET', `/receiver/uma/$somebody@localhost:${silentPort}`),
  'createQuote 412': () => quoteToUma(olderPort),
  'createQuote 424': () => quoteToUma(silentPort),
  'lookUpUmaAddress 501': () => world.rest('GET', '/receiver/uma/$somebody@bank.example', undefined, { as: world.production }),
  'createQuote 501': async () => {
    const { as, customer, dollars, euros } = await inProduction()
    return world.rest('POST', '/quotes', quoteInput({ customer, dollars, euros }), { as })
  },
  'transferOut 501': async () => {
    const { as, dollars, bank } = await inProduction()
    const body = { source: { accountId: dollars['id'] }, destination: { accountId: bank['id'] }, amount: 1_000 }
    return world.rest('POST', '/transfer-out', body, { as })
  },
  'transferIn 501': async () => {
    const { as, dollars, bank } = await inProduction()
    const body = { source: { accountId: bank['id'] }, destination: { accountId: dollars['id'] }, amount: 1_000 }
    return world.rest('POST', '/transfer-in', body, { as })
  },
}

async function quoteToUma(port: number) {
  const destination = { umaAddress: `$somebody@localhost:${port}`, currency: 'EUR' }
  return world.rest('POST', '/quotes', quoteInput(await newPayer(world), { destination }))
}

const refusals = endpoints.flatMap((endpoint) =>
  endpoint.statuses.filter((status) => status >= 400).map((status) => [endpoint.id, status, endpoint] as const),
)

test.each(refusals)('%s refuses with %i', async (id, status, endpoint) => {
  const way = particular[`${id} ${status}`] ?? (() => ways[status]!(endpoint))
  const { status: answered, body } = await way()
  expect([answered, body]).toEqual([status, body])
  expect(body).toMatchObject({ status, code: expect.any(String), message: expect.any(String) })
})

// ── Other worlds ─────────────────────────────────────────────────────────────────────────────────────────────────────────────────

/** Whoever has the code or the link token may use it, whichever platform they are of. */
const capabilities = ['getInvitation', 'claimInvitation', 'cancelInvitation', 'completeBankLink']

const withId = examples.filter((example) => /"[A-Z]\w+:0190b2f4-/.test(JSON.stringify({ ...example, brings: {} })))

test.each(withId.filter(({ of }) => !capabilities.includes(of)).map((example) => [example.of, example] as const))(
  '%s answers the id of another world as one that nobody has, byte for byte',
  async (of, example) => {
    await world.rest('PATCH', '/config', { webhookEndpoint: receiver.url }, { as: world.stranger })
    const nobodys = new Map(
      [...real].map(([shown, id]) => [shown, id.replace(/:[0-9a-f-]{36}$/, ':01890000-0000-7000-8000-000000000000')]),
    )
    const theirs = await call(endpointOf(of), withIds(example, real), { as: world.stranger })
    const missing = await call(endpointOf(of), withIds(example, nobodys), { as: world.stranger })
    const hidden = [...real].reduce((text, [shown, id]) => text.replaceAll(id, nobodys.get(shown)!), theirs.text)
    expect([theirs.status, hidden]).toEqual([missing.status, missing.text])
  },
)
