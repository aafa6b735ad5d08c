/** Two gateways pay each other by UMA address, over HTTP. */
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest'
import { fund, internalAccountOf, newCustomer } from './people.ts'
import { freePorts, providersOf } from './providers.ts'
import { openReceiver, type Receiver } from './receiver.ts'
import { type Body, useWorld, type World } from './world.ts'

const [portOfNorth, portOfSouth] = (await freePorts(2)) as [number, number]
const options = {
  background: true,
  startsAt: new Date(),
}
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
    await vi.waitFor(() => expect(to.receiver.statuses()).toEqual(['PENDING', 'COMPLETED']), { timeout: 5_000 })
    await vi.waitFor(() => expect(from.receiver.statuses()).toContain('COMPLETED'), { timeout: 5_000 })
  })
})
