/** Two gateways pay each other by UMA address, over HTTP. */
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest'
import { createPlatform } from '../src/core/platform/create-platform.ts'
import { fund, internalAccountOf, newCustomer } from './people.ts'
import { freePorts, providersOf } from './providers.ts'
import { openReceiver, type Receiver } from './receiver.ts'
import { type Body, useWorld, type World } from './world.ts'

const [portOfNorth, portOfSouth] = (await freePorts(2)) as [number, number]
const options = { background: true, startsAt: new Date(), webhookTimeouts: { approvalMs: 1_500, otherMs: 2_000 } }
const blocked = { name: 'Blocked', domain: 'blocked.example', environment: 'SANDBOX', allowed: false }
const north = useWorld({
  ...options,
  environment: { PORT: String(portOfNorth), UMA_PROVIDERS: providersOf([portOfSouth], [blocked]) },
})
const south = useWorld({ ...options, environment: { PORT: String(portOfSouth), UMA_PROVIDERS: providersOf([portOfNorth]) } })

interface Side {
  world: World
  receiver: Receiver
  customer: Body
}

const sides = {} as { north: Side; south: Side }

async function settleIn(world: World, port: number): Promise<Side> {
  const receiver = await openReceiver()
  const config = { umaDomain: `localhost:${port}`, webhookEndpoint: receiver.url }
  expect((await world.rest('PATCH', '/config', config)).status).toBe(200)
  const customer = await newCustomer(world, { nationality: 'FR', birthDate: '1980-02-03' })
  await fund(world, (await internalAccountOf(world, customer['id'], 'USD'))['id'], 1_000_000)
  return { world, receiver, customer }
}

beforeAll(async () => {
  sides.north = await settleIn(north, portOfNorth)
  sides.south = await settleIn(south, portOfSouth)
})

beforeEach(() => {
  for (const { receiver } of Object.values(sides)) {
    receiver.received = []
    receiver.answer = () => ({ status: 200 })
  }
})

afterAll(() => {
  for (const { receiver } of Object.values(sides)) receiver.close()
})

async function balanceOf({ world, customer }: Side, currency: string): Promise<number> {
  return (await internalAccountOf(world, customer['id'], currency))['balance'].amount
}

async function quoteTo(from: Side, to: Side, fields: Body = {}): Promise<Body> {
  const lookup = await from.world.rest('GET', `/receiver/uma/${encodeURIComponent(to.customer['umaAddress'])}`)
  expect(lookup.status, lookup.text).toBe(200)
  const account = await internalAccountOf(from.world, from.customer['id'], 'USD')
  const { status, body } = await from.world.rest('POST', '/quotes', {
    lookupId: lookup.body['lookupId'],
    source: { accountId: account['id'] },
    destination: { umaAddress: to.customer['umaAddress'], currency: 'EUR' },
    lockedCurrencySide: 'RECEIVING',
    lockedCurrencyAmount: 5_000,
    description: 'Dinner',
    ...fields,
  })
  expect(status, JSON.stringify(body)).toBe(201)
  return body
}

async function pay(from: Side, to: Side): Promise<Body> {
  const quote = await quoteTo(from, to)
  expect((await from.world.rest('POST', `/quotes/${quote['id']}/execute`)).status).toBe(200)
  return quote
}

const stateOf = async ({ world }: Side, id: string) => (await world.rest('GET', `/transactions/${id}`)).body

async function ended(side: Side, id: string): Promise<Body> {
  return vi.waitFor(
    async () => {
      const payment = await stateOf(side, id)
      expect(['COMPLETED', 'FAILED', 'REJECTED']).toContain(payment['status'])
      return payment
    },
    { timeout: 20_000, interval: 30 },
  )
}

/** By the webhooks of a payment, its statuses. */
function toldOf({ receiver }: Side, id: string): string[] {
  return receiver.received.flatMap(({ body }) => (body['transaction']?.id === id ? [body['transaction'].status] : []))
}

async function incomingAt(side: Side): Promise<Body> {
  const { body } = await side.world.rest('GET', '/transactions?type=INCOMING&limit=1&sortOrder=desc')
  return body['data'][0]
}

describe.each([
  ['north', 'south'],
  ['south', 'north'],
] as const)('from %s to %s', (payer, payee) => {
  test('a payment is looked up, quoted, approved, settled and told on both sides', async () => {
    const [from, to] = [sides[payer], sides[payee]]
    const before = { dollars: await balanceOf(from, 'USD'), euros: await balanceOf(to, 'EUR') }
    const quote = await pay(from, to)
    const payment = await ended(from, quote['transactionId'])
    expect(payment).toMatchObject({
      status: 'COMPLETED',
      type: 'OUTGOING',
      senderUmaAddress: from.customer['umaAddress'],
      receiverUmaAddress: to.customer['umaAddress'],
      receivedAmount: { amount: 5_000, currency: { code: 'EUR' } },
    })
    expect(await balanceOf(from, 'USD')).toBe(before.dollars - quote['totalSendingAmount'])
    await vi.waitFor(async () => expect(await balanceOf(to, 'EUR')).toBe(before.euros + 5_000), { timeout: 5_000 })
    const incoming = await incomingAt(to)
    expect(incoming).toMatchObject({
      status: 'COMPLETED',
      senderUmaAddress: from.customer['umaAddress'],
      receiverUmaAddress: to.customer['umaAddress'],
      counterpartyInformation: { FULL_NAME: 'Ada Lovelace' },
    })
    await vi.waitFor(() => expect(toldOf(to, incoming['id'])).toEqual(['PENDING', 'COMPLETED']), { timeout: 5_000 })
    await vi.waitFor(() => expect(toldOf(from, payment['id'])).toEqual(['PROCESSING', 'COMPLETED']), { timeout: 5_000 })
  })
})

describe('a payment that the other side does not take', () => {
  async function notTaken(expected: Body, atTheOther: Body): Promise<void> {
    const { north: from, south: to } = sides
    const before = { dollars: await balanceOf(from, 'USD'), euros: await balanceOf(to, 'EUR') }
    const quote = await pay(from, to)
    expect(await ended(from, quote['transactionId'])).toMatchObject({ ...expected, refund: { reference: expect.any(String) } })
    expect(await incomingAt(to)).toMatchObject(atTheOther)
    expect(await balanceOf(from, 'USD')).toBe(before.dollars)
    expect(await balanceOf(to, 'EUR')).toBe(before.euros)
  }

  test('because its platform refuses: REJECTED on both sides, and the money is back', async () => {
    sides.south.receiver.answer = (body) => ({ status: body['transaction']?.status === 'PENDING' ? 403 : 200 })
    await notTaken({ status: 'REJECTED' }, { status: 'REJECTED' })
  })

  test('because its platform does not answer: FAILED', async () => {
    sides.south.receiver.answer = (body) => (body['transaction']?.status === 'PENDING' ? 'never' : { status: 200 })
    await notTaken(
      { status: 'FAILED', failureReason: 'PAY_REQUEST_FAILED' },
      { status: 'FAILED', failureReason: 'PAYMENT_APPROVAL_TIMED_OUT' },
    )
  })

  test('because its platform puts the decision off, and lets its time go by: FAILED', async () => {
    sides.south.receiver.answer = (body) => {
      if (body['transaction']?.status !== 'PENDING') return { status: 200 }
      setTimeout(() => south.clock.advance(6_000), 100)
      return { status: 202 }
    }
    await notTaken(
      { status: 'FAILED', failureReason: 'PAY_REQUEST_FAILED' },
      { status: 'FAILED', failureReason: 'PAYMENT_APPROVAL_TIMED_OUT' },
    )
  })
})

describe('what the two sides tell each other of the people', () => {
  async function requireOfCounterparties(world: World, fields: Body[]): Promise<void> {
    const { body: config } = await world.rest('GET', '/config')
    const supportedCurrencies = config['supportedCurrencies'].map((one: Body) => ({ ...one, requiredCounterpartyFields: fields }))
    expect((await world.rest('PATCH', '/config', { supportedCurrencies })).status).toBe(200)
  }

  test('is what each platform requires: said before, with the payment, and asked of the receiver’s platform where it is not known', async () => {
    const { north: from, south: to } = sides
    await requireOfCounterparties(from.world, [
      { name: 'NATIONALITY', mandatory: true },
      { name: 'PHONE_NUMBER', mandatory: true },
    ])
    await requireOfCounterparties(to.world, [{ name: 'BIRTH_DATE', mandatory: true }])
    to.receiver.answer = (body) => ({
      status: 200,
      body: body['requestedReceiverUserInfoFields']
        ? JSON.stringify({ receiverUserInfo: { PHONE_NUMBER: '+4915112345678' } })
        : '',
    })
    const lookup = await from.world.rest('GET', `/receiver/uma/${to.customer['umaAddress']}`)
    expect(lookup.body['requiredPayerDataFields']).toEqual([{ name: 'BIRTH_DATE', mandatory: true }])

    const quote = await pay(from, to)
    const payment = await ended(from, quote['transactionId'])
    expect(payment).toMatchObject({
      status: 'COMPLETED',
      counterpartyInformation: { NATIONALITY: 'FR', PHONE_NUMBER: '+4915112345678' },
    })
    const incoming = await incomingAt(to)
    expect(incoming['counterpartyInformation']).toEqual({ FULL_NAME: 'Ada Lovelace', BIRTH_DATE: '1980-02-03' })
    const asked = to.receiver.received.find(({ body }) => body['transaction']?.id === incoming['id'])!
    expect(asked.body['requestedReceiverUserInfoFields']).toEqual([{ name: 'PHONE_NUMBER', mandatory: true }])
  })

  test('is refused beforehand where it is not known of the payer', async () => {
    const { north: from, south: to } = sides
    const nobody = await newCustomer(from.world)
    const account = await internalAccountOf(from.world, nobody['id'], 'USD')
    expect(
      await from.world.rest('POST', '/quotes', {
        source: { accountId: account['id'] },
        destination: { umaAddress: to.customer['umaAddress'], currency: 'EUR' },
        lockedCurrencySide: 'RECEIVING',
        lockedCurrencyAmount: 5_000,
      }),
    ).toMatchObject({ status: 400, body: { code: 'MISSING_MANDATORY_USER_INFO', details: { requiredFields: ['BIRTH_DATE'] } } })
  })

  test('and where the receiver’s platform does not say it, the payment fails', async () => {
    const { north: from, south: to } = sides
    const quote = await pay(from, to)
    expect(await ended(from, quote['transactionId'])).toMatchObject({ status: 'FAILED', failureReason: 'PAY_REQUEST_FAILED' })
    expect(await incomingAt(to)).toMatchObject({ status: 'FAILED', failureReason: 'MISSING_MANDATORY_PAYEE_DATA' })
    await requireOfCounterparties(from.world, [])
    await requireOfCounterparties(to.world, [])
  })
})

test('twenty payments at once, ten each way, arrive once each', async () => {
  const { north: one, south: other } = sides
  const before = [await balanceOf(one, 'EUR'), await balanceOf(other, 'EUR')] as const
  const times = Array.from({ length: 10 }, (_, index) => index)
  const quotes = await Promise.all(times.flatMap(() => [pay(one, other), pay(other, one)]))
  const payments = await Promise.all(
    quotes.map(({ transactionId }, index) => ended(index % 2 === 0 ? one : other, transactionId)),
  )
  expect(payments.map(({ status }) => status)).toEqual(payments.map(() => 'COMPLETED'))
  await vi.waitFor(
    async () =>
      expect([await balanceOf(one, 'EUR'), await balanceOf(other, 'EUR')]).toEqual(before.map((amount) => amount + 50_000)),
    { timeout: 10_000 },
  )
})

test('a provider that signs with a key other than the one it shows is not believed', async () => {
  const { north: from, south: to } = sides
  const keys = await south.database.query<{ key: string }>('select signing_private_key as key from uma_key')
  const store = (key: string) =>
    south.database.query('update uma_key set signing_private_key = $1', [south.database.vault.seal(key)])
  await store('11'.repeat(32))
  expect(await from.world.rest('GET', `/receiver/uma/${to.customer['umaAddress']}`)).toMatchObject({
    status: 424,
    body: { code: 'LNURLP_REQUEST_FAILED', details: { reason: 'INVALID_SIGNATURE' } },
  })
  await store(keys[0]!.key)
  expect((await from.world.rest('GET', `/receiver/uma/${to.customer['umaAddress']}`)).status).toBe(200)
})

test('an incoming payment goes on to the account that the customer wants such payments on', async () => {
  const { north: from, south: to } = sides
  const { status } = await to.world.rest('POST', '/customers/external-accounts', {
    customerId: to.customer['id'],
    currency: 'EUR',
    defaultUmaDepositAccount: true,
    accountInfo: {
      accountType: 'IBAN',
      iban: 'DE89370400440532013000',
      bankName: 'Bank',
      beneficiary: { beneficiaryType: 'INDIVIDUAL', fullName: 'Ada Lovelace' },
    },
  })
  expect(status).toBe(201)
  const before = await balanceOf(to, 'EUR')
  const quote = await pay(from, to)
  expect((await ended(from, quote['transactionId']))['status']).toBe('COMPLETED')
  const incoming = await ended(to, (await incomingAt(to))['id'])
  expect(incoming).toMatchObject({ status: 'COMPLETED', destination: { accountId: expect.stringMatching(/^ExternalAccount:/) } })
  expect(await balanceOf(to, 'EUR')).toBe(before)
})

describe('who can be paid', () => {
  const lookUp = (address: string) => north.rest('GET', `/receiver/uma/${encodeURIComponent(address)}`)

  test('nobody that the other provider does not know', async () => {
    expect(await lookUp(`$nobody@localhost:${portOfSouth}`)).toMatchObject({ status: 404, body: { code: 'UMA_NOT_FOUND' } })
  })

  test('nobody who has been deleted, or may not move money yet', async () => {
    const gone = await newCustomer(south)
    await south.rest('DELETE', `/customers/${gone['id']}`)
    expect(await lookUp(gone['umaAddress'])).toMatchObject({ status: 404, body: { code: 'UMA_NOT_FOUND' } })
    const suspect = await newCustomer(south)
    await south.database.query(`update customer set kyc_status = 'PENDING_REVIEW' where id = $1`, [suspect['id'].slice(9)])
    expect(await lookUp(suspect['umaAddress'])).toMatchObject({ status: 403, body: { code: 'USER_NOT_READY' } })
  })

  test('nobody at a provider that is not allowed, or that nobody has listed', async () => {
    expect(await lookUp('$bob@blocked.example')).toMatchObject({ status: 403, body: { code: 'COUNTERPARTY_NOT_ALLOWED' } })
    expect(await lookUp('$bob@elsewhere.example')).toMatchObject({ status: 404, body: { code: 'UMA_NOT_FOUND' } })
    const { body } = await north.rest('GET', '/uma-providers')
    expect(body['data'].map((one: Body) => [one['domain'], one['allowListStatus']])).toContainEqual(['blocked.example', false])
    const allowed = await north.rest('GET', '/uma-providers?hasBlockedProviders=false')
    expect(allowed.body['data'].map((one: Body) => one['domain'])).not.toContain('blocked.example')
  })

  test('an address is the same in upper case', async () => {
    const { status, body } = await lookUp(sides.south.customer['umaAddress'].toUpperCase())
    expect({ status, address: body['receiverUmaAddress'] }).toEqual({ status: 200, address: sides.south.customer['umaAddress'] })
  })
})

test('a domain is one platform’s, and in production a public one', async () => {
  const { body: config } = await south.rest('GET', '/config', undefined, { as: south.stranger })
  const taken = { umaDomain: config['umaDomain'] }
  expect(await south.rest('PATCH', '/config', taken)).toMatchObject({
    status: 400,
    body: { code: 'INVALID_INPUT', details: { field: 'umaDomain' } },
  })
  for (const umaDomain of ['localhost:4000', 'a.localhost', 'uma.example:8080', 'Uma.Example', 'uma', '']) {
    const refused = { status: 400, body: { code: 'INVALID_INPUT', details: { field: 'umaDomain' } } }
    expect(await south.rest('PATCH', '/config', { umaDomain }, { as: south.production }), umaDomain).toMatchObject(refused)
  }
  expect((await south.rest('PATCH', '/config', { umaDomain: 'uma.example' }, { as: south.production })).status).toBe(200)
  // Two platforms of one name are two platforms.
  const again = await createPlatform(south.gateway.core.commit, { name: 'Stranger' }, new Date())
  expect(again).toBeDefined()
})

test('on another domain everybody keeps their name, and the old one is answered no more', async () => {
  const { customer } = sides.south
  const name = customer['umaAddress'].split('@')[0]
  const moved = `127.0.0.1:${portOfSouth}`
  expect((await south.rest('PATCH', '/config', { umaDomain: moved })).status).toBe(200)
  // Somebody new is quicker under the name that is on its way.
  const quick = await newCustomer(south, { umaAddress: `${name}@${moved}` })
  south.clock.advance(3_000)
  await vi.waitFor(
    async () => {
      const { body } = await south.rest('GET', `/customers/${customer['id']}`)
      expect(body['umaAddress']).toMatch(new RegExp(`^\\${name}\\.[a-z0-9]{6}@127\\.0\\.0\\.1:${portOfSouth}$`))
    },
    { timeout: 10_000 },
  )
  expect(await north.rest('GET', `/receiver/uma/${customer['umaAddress']}`)).toMatchObject({ status: 404 })
  expect((await south.rest('GET', `/customers/${quick['id']}`)).body['umaAddress']).toBe(`${name}@${moved}`)
})
