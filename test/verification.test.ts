/** What happens to a customer's verification besides the hosted page: the operator's decisions, links whose time is over, and what money waits for. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { sandboxRails } from '../src/rails/sandbox.ts'
import { fund, internalAccountOf, newCustomer, newPayer, newUsAccount, quoteInput } from './people.ts'
import { openReceiver, type Receiver } from './receiver.ts'
import { type Body, useWorld } from './world.ts'

const operatorToken = 'operator-token-for-tests'
const needed = new Map<string, readonly string[]>()
const world = useWorld({
  environment: { OPERATOR_TOKEN: operatorToken },
  sandboxRails: {
    ...sandboxRails({ now: () => new Date(), observe: () => {}, pinned: () => null } as never, ['sandbox.uma.localhost']),
    customerFields: (currency) => needed.get(currency) ?? [],
  },
})
const closed = useWorld()
let receiver: Receiver

beforeAll(async () => {
  receiver = await openReceiver()
  await world.rest('PATCH', '/config', { webhookEndpoint: receiver.url })
})

afterAll(() => receiver.close())

async function operator(
  method: string,
  path: string,
  body?: Body,
  token = operatorToken,
): Promise<{ status: number; body: Body }> {
  const response = await fetch(`${world.gateway.url}/operator${path}`, {
    method,
    headers: { authorization: `Bearer ${token}`, ...(body ? { 'content-type': 'application/json' } : {}) },
    ...(body ? { body: JSON.stringify(body) } : {}),
  })
  return { status: response.status, body: (await response.json()) as Body }
}

async function underReview(): Promise<Body> {
  const customer = await newCustomer(world)
  await world.database.query(`update customer set kyc_status = 'PENDING_REVIEW' where id = $1`, [customer['id'].slice(9)])
  return customer
}

const statusOf = async ({ id }: Body) => (await world.rest('GET', `/customers/${id}`)).body['kycStatus']

function toldOf({ id }: Body): string[] {
  return receiver.received.flatMap(({ body }) =>
    body['type'] === 'KYC_STATUS' && body['customerId'] === id ? [body['kycStatus']] : [],
  )
}

describe('the operator', () => {
  test('sees who waits, and decides: the platform is told, and money moves or does not', async () => {
    const [good, bad] = [await underReview(), await underReview()]
    const { body: reviews } = await operator('GET', '/reviews')
    expect(reviews['data'].map(({ id }: Body) => id)).toEqual(expect.arrayContaining([good['id'], bad['id']]))
    expect(reviews['data'][0]).toMatchObject({ platform: 'Demo', environment: 'SANDBOX', fullName: 'Ada Lovelace' })

    expect(await operator('POST', `/customers/${good['id']}/decision`, { decision: 'APPROVE' })).toMatchObject({
      status: 200,
      body: { id: good['id'], kycStatus: 'MANUALLY_APPROVED' },
    })
    expect(
      await operator('POST', `/customers/${bad['id']}/decision`, { decision: 'REJECT', reason: 'a forged passport' }),
    ).toMatchObject({
      body: { kycStatus: 'MANUALLY_REJECTED' },
    })
    await world.drain()
    expect([toldOf(good), toldOf(bad)]).toEqual([['MANUALLY_APPROVED'], ['MANUALLY_REJECTED']])
    const pay = async (customer: Body) => {
      const dollars = await internalAccountOf(world, customer['id'], 'USD')
      await fund(world, dollars['id'], 10_000)
      const bank = await newUsAccount(world, customer['id'])
      const body = { source: { accountId: dollars['id'] }, destination: { accountId: bank['id'] }, amount: 100 }
      return world.rest('POST', '/transfer-out', body)
    }
    expect((await pay(good)).status).toBe(201)
    expect(await pay(bad)).toMatchObject({ status: 403, body: { code: 'USER_NOT_READY' } })
    expect((await operator('GET', '/reviews')).body['data'].map(({ id }: Body) => id)).not.toContain(good['id'])
  })

  test('may take a decision back, and cannot take it twice', async () => {
    const customer = await newCustomer(world)
    const decide = (decision: string) => operator('POST', `/customers/${customer['id']}/decision`, { decision })
    expect((await decide('REJECT')).status).toBe(200)
    expect(await decide('REJECT')).toMatchObject({ status: 409, body: { code: 'CONFLICT' } })
    expect((await decide('APPROVE')).body['kycStatus']).toBe('MANUALLY_APPROVED')
  })

  test('is asked for the token, and told what is wrong', async () => {
    const customer = await newCustomer(world)
    const path = `/customers/${customer['id']}/decision`
    for (const token of ['', 'wrong', `${operatorToken}x`]) {
      expect(await operator('POST', path, { decision: 'REJECT' }, token)).toMatchObject({
        status: 401,
        body: { code: 'UNAUTHORIZED' },
      })
    }
    expect(await statusOf(customer)).toBe('APPROVED')
    expect(await operator('POST', path, { decision: 'MAYBE' })).toMatchObject({
      status: 400,
      body: { code: 'INVALID_INPUT', details: { field: 'decision' } },
    })
    for (const id of ['Customer:00000000-0000-4000-8000-000000000000', 'x', '%00', 'Quote:1']) {
      expect((await operator('POST', `/customers/${id}/decision`, { decision: 'REJECT' })).status).toBe(404)
    }
    await world.rest('DELETE', `/customers/${customer['id']}`)
    expect(await operator('POST', path, { decision: 'REJECT' })).toMatchObject({
      status: 410,
      body: { code: 'CUSTOMER_DELETED' },
    })
  })

  test('has no door where no token is set', async () => {
    const response = await fetch(`${closed.gateway.url}/operator/reviews`, { headers: { authorization: 'Bearer undefined' } })
    expect(response.status).toBe(404)
  })
})

describe('a KYC link that nobody uses in time', () => {
  const linkFor = async (platformCustomerId: string) =>
    (await world.rest('GET', `/customers/kyc-link?platformCustomerId=${platformCustomerId}`)).body

  test('leaves the verification EXPIRED, which is told; a new link opens it again', async () => {
    const { customerId, kycUrl } = await linkFor('late-1')
    world.clock.advance(86_399_999)
    await world.drain()
    expect(await statusOf({ id: customerId })).toBe('NOT_STARTED')
    world.clock.advance(1)
    await world.drain()
    expect(await statusOf({ id: customerId })).toBe('EXPIRED')
    expect(toldOf({ id: customerId })).toEqual(['EXPIRED'])
    expect((await fetch(kycUrl)).status).toBe(410)
    const again = await linkFor('late-1')
    expect(again['customerId']).toBe(customerId)
    expect((await fetch(again['kycUrl'])).status).toBe(200)
  })

  test('changes nothing while a later one is open', async () => {
    const { customerId } = await linkFor('late-2')
    world.clock.advance(3_600_000)
    await linkFor('late-2')
    world.clock.advance(86_400_000 - 3_600_000)
    await world.drain()
    expect(await statusOf({ id: customerId })).toBe('NOT_STARTED')
    world.clock.advance(3_600_000)
    await world.drain()
    expect(await statusOf({ id: customerId })).toBe('EXPIRED')
  })
})

describe('what the providers of a currency must know of a customer', () => {
  test('is shown in the configuration, and asked for when money moves: by quote, by transfer and by UMA', async () => {
    const payer = await newPayer(world)
    const bank = await newUsAccount(world, payer.customer['id'])
    const euros = await newCustomer(world)
    needed.set('USD', ['BIRTH_DATE', 'ADDRESS'])
    const { body: config } = await world.rest('GET', '/config')
    const dollars = config['supportedCurrencies'].find(({ currencyCode }: Body) => currencyCode === 'USD')
    expect(dollars['providerRequiredCustomerFields']).toEqual(['BIRTH_DATE', 'ADDRESS'])

    const refused = {
      status: 400,
      body: { code: 'MISSING_MANDATORY_USER_INFO', details: { requiredFields: ['BIRTH_DATE', 'ADDRESS'] } },
    }
    const transfer = { source: { accountId: payer.dollars['id'] }, destination: { accountId: bank['id'] }, amount: 100 }
    const receive = {
      senderUmaAddress: '$success.usd@sandbox.uma.localhost',
      customerId: euros['id'],
      receivingCurrencyCode: 'USD',
      receivingCurrencyAmount: 2_500,
    }
    expect(await world.rest('POST', '/quotes', quoteInput(payer))).toMatchObject(refused)
    expect(await world.rest('POST', '/transfer-out', transfer)).toMatchObject(refused)
    expect(await world.rest('POST', '/sandbox/uma/receive', receive)).toMatchObject(refused)

    const address = { line1: '1 Main', city: 'Town', state: 'CA', postalCode: '90001', country: 'US' }
    for (const { id } of [payer.customer, euros]) {
      expect((await world.rest('PATCH', `/customers/${id}`, { birthDate: '1980-01-01', address })).status).toBe(200)
    }
    expect((await world.rest('POST', '/quotes', quoteInput(payer))).status).toBe(201)
    expect((await world.rest('POST', '/transfer-out', transfer)).status).toBe(201)
    expect((await world.rest('POST', '/sandbox/uma/receive', receive)).status).toBe(200)
    needed.clear()
    await world.drain()
  })
})

test('what a pay-by-link invitation has promised is locked on the sending side, until it is paid', async () => {
  const payer = await newPayer(world)
  const inviteeUma = '$success.eur@sandbox.uma.localhost'
  const { body: invitation } = await world.rest('POST', '/invitations', {
    inviterUma: payer.customer['umaAddress'],
    amountToSend: 5_000,
  })
  const quote = (lockedCurrencySide: string) =>
    world.rest('POST', '/quotes', {
      source: { accountId: payer.dollars['id'] },
      destination: { umaAddress: inviteeUma, currency: 'EUR' },
      lockedCurrencySide,
      lockedCurrencyAmount: 5_000,
    })
  // Nobody has claimed it: this is any payment.
  expect((await quote('RECEIVING')).status).toBe(201)
  expect((await world.rest('POST', `/invitations/${invitation['code']}/claim`, { inviteeUma })).status).toBe(200)
  world.clock.advance(1_000)
  expect(await quote('RECEIVING')).toMatchObject({
    status: 400,
    body: { code: 'INVALID_INPUT', details: { field: 'lockedCurrencySide' } },
  })
  const { body: promised } = await quote('SENDING')
  expect((await world.rest('POST', `/quotes/${promised['id']}/execute`)).status).toBe(200)
  await world.drain()
  expect((await quote('RECEIVING')).status).toBe(201)
})
