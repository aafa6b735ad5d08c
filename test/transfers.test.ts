import { describe, expect, test } from 'vitest'
import { balanceOf, internalAccountOf, newCustomer, newPayer, newUsAccount, type Payer, paymentOf, toldOf } from './people.ts'
import { type Body, useWorld } from './world.ts'

const world = useWorld()

const times = (count: number) => Array.from({ length: count }, (_, index) => index)

interface Parties extends Payer {
  outside: Body
}

async function parties(ending = '100', balance = 1_000_000): Promise<Parties> {
  const payer = await newPayer(world, { balance })
  return { ...payer, outside: await newUsAccount(world, payer.customer['id'], ending) }
}

const out = ({ dollars, outside }: Parties, amount?: number | bigint) => ({
  source: { accountId: dollars['id'] },
  destination: { accountId: outside['id'] },
  ...(amount === undefined ? {} : { amount }),
})

const into = ({ dollars, outside }: Parties, amount: number) => ({
  source: { accountId: outside['id'] },
  destination: { accountId: dollars['id'] },
  amount,
})

describe('a transfer out', () => {
  test('is CREATED, debits at once, and completes through the rail', async () => {
    const all = await parties()
    const { status, body } = await world.rest('POST', '/transfer-out', { ...out(all, 12_345), description: 'payout' })
    expect(status).toBe(201)
    expect(body).toEqual({
      id: expect.stringMatching(/^Transaction:/),
      status: 'CREATED',
      direction: 'DEBIT',
      type: 'OUTGOING',
      source: { sourceType: 'ACCOUNT', accountId: all.dollars['id'], currency: 'USD' },
      destination: { destinationType: 'ACCOUNT', accountId: all.outside['id'], currency: 'USD' },
      customerId: all.customer['id'],
      platformCustomerId: all.customer['platformCustomerId'],
      sentAmount: { amount: 12_345, currency: expect.objectContaining({ code: 'USD', decimals: 2 }) },
      receivedAmount: { amount: 12_345, currency: expect.objectContaining({ code: 'USD' }) },
      fees: 0,
      createdAt: '2026-01-15T12:00:00.000Z',
      updatedAt: '2026-01-15T12:00:00.000Z',
      description: 'payout',
    })
    expect(await balanceOf(world, all)).toBe(987_655)
    expect(await paymentOf(world, body)).toMatchObject({
      status: 'PROCESSING',
      reconciliationInstructions: { reference: expect.stringMatching(/^REF-/) },
    })
    await world.drain()
    expect(await paymentOf(world, body)).toMatchObject({ status: 'COMPLETED', settledAt: '2026-01-15T12:00:00.000Z' })
    expect(await toldOf(world, body)).toEqual(['COMPLETED'])
  })

  test('without an amount takes the whole balance', async () => {
    const all = await parties()
    const { body } = await world.rest('POST', '/transfer-out', out(all))
    expect(body['sentAmount'].amount).toBe(1_000_000)
    expect(await balanceOf(world, all)).toBe(0)
    const empty = await world.rest('POST', '/transfer-out', out(all))
    expect(empty.body).toMatchObject({ status: 400, code: 'INSUFFICIENT_BALANCE', details: { field: 'source.accountId' } })
  })

  test('without an amount, beside others: each takes what is left, never more', async () => {
    const all = await parties()
    const replies = await Promise.all(
      times(20).map((index) => world.rest('POST', '/transfer-out', index % 2 === 0 ? out(all, 1_000) : out(all))),
    )
    const moved = replies.filter(({ status }) => status === 201).map(({ body }) => body['sentAmount'].amount as number)
    expect(moved.reduce((sum, amount) => sum + amount, 0)).toBe(1_000_000)
    expect(new Set(replies.filter(({ status }) => status !== 201).map(({ body }) => body['code']))).toEqual(
      new Set(['INSUFFICIENT_BALANCE']),
    )
    expect(await balanceOf(world, all)).toBe(0)
  })

  test.each([
    ['002', 'FAILED', 'OFFRAMP_FAILED'],
    ['003', 'FAILED', 'OFFRAMP_FAILED'],
    ['004', 'REJECTED', undefined],
  ])('to an account that ends in %s is %s and its money returned', async (ending, status, failureReason) => {
    const all = await parties(ending)
    const { body } = await world.rest('POST', '/transfer-out', out(all, 1_000))
    await world.drain()
    const payment = await paymentOf(world, body)
    expect(payment).toMatchObject({ status, refund: { initiatedAt: expect.any(String), settledAt: expect.any(String) } })
    expect(payment['failureReason']).toBe(failureReason)
    expect(await balanceOf(world, all)).toBe(1_000_000)
  })

  test('to an account that ends in 005 stays under way for thirty seconds, then fails', async () => {
    const all = await parties('005')
    const { body } = await world.rest('POST', '/transfer-out', out(all, 1_000))
    await world.drain()
    world.clock.advance(29_999)
    await world.drain()
    expect((await paymentOf(world, body))['status']).toBe('PROCESSING')
    world.clock.advance(1)
    await world.drain()
    expect(await paymentOf(world, body)).toMatchObject({ status: 'FAILED', failureReason: 'TIMEOUT' })
    expect(await balanceOf(world, all)).toBe(1_000_000)
  })

  test('can be of the platform, which has no customer', async () => {
    const { body: accounts } = await world.rest('GET', '/platform/internal-accounts?currency=USD')
    const dollars = accounts['data'][0]
    await world.rest('POST', `/sandbox/internal-accounts/${dollars.id}/fund`, { amount: 5_000 })
    const all = await parties()
    const { body } = await world.rest('POST', '/transfer-out', out({ ...all, dollars }, 5_000))
    expect(body).not.toHaveProperty('customerId')
    await world.drain()
    expect((await paymentOf(world, body))['status']).toBe('COMPLETED')
  })
})

describe('a transfer in', () => {
  test('is CREATED, then PENDING until the rail has collected it, then credits the balance', async () => {
    const all = await parties('100', 0)
    const { status, body } = await world.rest('POST', '/transfer-in', into(all, 5_000))
    expect(status).toBe(201)
    expect(body).toMatchObject({ status: 'CREATED', type: 'INCOMING', customerId: all.customer['id'] })
    expect(body).not.toHaveProperty('reconciliationInstructions')
    expect((await paymentOf(world, body))['status']).toBe('PENDING')
    expect(await balanceOf(world, all)).toBe(0)
    await world.drain()
    expect(await paymentOf(world, body)).toMatchObject({
      status: 'COMPLETED',
      receivedAmount: { amount: 5_000 },
      settledAt: expect.any(String),
    })
    expect(await balanceOf(world, all)).toBe(5_000)
    // Never PENDING: that would ask for approval.
    expect(await toldOf(world, body)).toEqual(['COMPLETED'])
  })

  test.each([
    ['002', 'FAILED', 'PAY_REQUEST_FAILED'],
    ['003', 'FAILED', 'PAY_REQUEST_FAILED'],
    ['004', 'REJECTED', undefined],
  ])('from an account that ends in %s is %s, and nothing was credited', async (ending, status, failureReason) => {
    const all = await parties(ending, 0)
    const { body } = await world.rest('POST', '/transfer-in', into(all, 5_000))
    await world.drain()
    const payment = await paymentOf(world, body)
    expect([payment['status'], payment['failureReason'], payment['refund']]).toEqual([status, failureReason, undefined])
    expect(await balanceOf(world, all)).toBe(0)
  })

  test('from an account that ends in 005 is PENDING for thirty seconds, then fails', async () => {
    const all = await parties('005', 0)
    const { body } = await world.rest('POST', '/transfer-in', into(all, 5_000))
    await world.drain()
    world.clock.advance(29_999)
    await world.drain()
    expect((await paymentOf(world, body))['status']).toBe('PENDING')
    world.clock.advance(1)
    await world.drain()
    expect(await paymentOf(world, body)).toMatchObject({ status: 'FAILED', failureReason: 'TIMEOUT' })
  })
})

describe('retrying', () => {
  test('a transfer with its key is answered with the same bytes and moves nothing again, through both doors', async () => {
    const all = await parties()
    for (const [path, input] of [
      ['/transfer-out', out(all, 1_000)],
      ['/transfer-in', into(all, 1_000)],
    ] as const) {
      const idempotencyKey = `retry${path}`
      const replies = await Promise.all(times(20).map(() => world.rest('POST', path, input, { idempotencyKey })))
      expect(new Set(replies.map(({ text }) => text)).size).toBe(1)
      expect(replies[0]!.status).toBe(201)
      const mutation = path === '/transfer-out' ? 'transferOut' : 'transferIn'
      const { body } = await world.graphql(
        `mutation ($input: ${mutation[0]!.toUpperCase()}${mutation.slice(1)}Input!) { ${mutation}(input: $input) { transaction { id } errors { code } } }`,
        { input: { ...input, amount: '1000', idempotencyKey } },
      )
      expect(body['data'][mutation]).toEqual({ transaction: { id: replies[0]!.body['id'] }, errors: [] })
      const other = await world.rest('POST', path, { ...input, amount: 999 }, { idempotencyKey })
      expect(other.body['code']).toBe('IDEMPOTENCY_KEY_REUSED')
    }
    await world.drain()
    expect(await balanceOf(world, all)).toBe(1_000_000)
  })

  test("the whole balance with a key is the first call's whole balance", async () => {
    const all = await parties()
    const first = await world.rest('POST', '/transfer-out', out(all), { idempotencyKey: 'everything' })
    await world.rest('POST', `/sandbox/internal-accounts/${all.dollars['id']}/fund`, { amount: 7 })
    const second = await world.rest('POST', '/transfer-out', out(all), { idempotencyKey: 'everything' })
    expect(second.text).toBe(first.text)
    expect(await balanceOf(world, all)).toBe(7)
  })
})

test('200 parallel transfers against a balance for 50 give exactly 50 successes', async () => {
  const all = await parties('100', 50 * 1_000)
  const replies = await Promise.all(times(200).map(() => world.rest('POST', '/transfer-out', out(all, 1_000))))
  expect(replies.filter(({ status }) => status === 201)).toHaveLength(50)
  const refused = replies.filter(({ status }) => status !== 201)
  expect(new Set(refused.map(({ body }) => body['code']))).toEqual(new Set(['INSUFFICIENT_BALANCE']))
  expect(await balanceOf(world, all)).toBe(0)
  await world.drain()
})

describe('bad input', () => {
  test('is refused with code and field through both doors, and the ledger is unchanged', async () => {
    const all = await parties()
    const missing = '01890000-0000-7000-8000-000000000000'
    const wallet = (
      await world.rest('POST', '/platform/external-accounts', {
        currency: 'USDC',
        accountInfo: { accountType: 'SOLANA_WALLET', address: '4Nd1mBQtrMJVYVfKf2PJy9NZUZdTAsp7D4xWLs4gDB4T' },
      })
    ).body
    const usdc = await internalAccountOf(world, all.customer['id'], 'USDC')
    const inactive = await newUsAccount(world, all.customer['id'])
    await world.database.query(`update external_account set status = 'INACTIVE', version = version + 1 where id = $1`, [
      inactive['id'].slice('ExternalAccount:'.length),
    ])
    const unready = await newCustomer(world, { fullName: 'Ada 001' })
    const unreadyDollars = await internalAccountOf(world, unready['id'], 'USD')
    const own = out(all, 1_000)
    const rows: [string, Body, number, string, string?][] = [
      ['out', { ...own, amount: 0 }, 400, 'INVALID_AMOUNT', 'amount'],
      ['out', { ...own, amount: -1 }, 400, 'INVALID_AMOUNT', 'amount'],
      ['out', { ...own, amount: 2n ** 63n }, 400, 'INVALID_AMOUNT', 'amount'],
      ['out', { ...own, amount: 99 }, 400, 'AMOUNT_OUT_OF_RANGE', 'amount'],
      ['out', { ...own, amount: 1_000_000_001 }, 400, 'AMOUNT_OUT_OF_RANGE', 'amount'],
      ['out', { ...own, amount: 1_000_001 }, 400, 'INSUFFICIENT_BALANCE', 'source.accountId'],
      ['out', { ...own, source: { accountId: `InternalAccount:${missing}` } }, 404, 'ACCOUNT_NOT_FOUND', 'source.accountId'],
      ['out', { ...own, source: { accountId: all.outside['id'] } }, 400, 'INVALID_INPUT', 'source.accountId'],
      ['out', { ...own, source: { accountId: unreadyDollars['id'] } }, 403, 'USER_NOT_READY'],
      [
        'out',
        { ...own, destination: { accountId: `ExternalAccount:${missing}` } },
        404,
        'ACCOUNT_NOT_FOUND',
        'destination.accountId',
      ],
      ['out', { ...own, destination: { accountId: all.dollars['id'] } }, 400, 'INVALID_INPUT', 'destination.accountId'],
      ['out', { ...own, destination: { accountId: all.euros['id'] } }, 400, 'INVALID_CURRENCY', 'destination.accountId'],
      ['out', { ...own, destination: { accountId: inactive['id'] } }, 400, 'INVALID_BANK_ACCOUNT', 'destination.accountId'],
      ['out', { ...own, description: 'a\u0000' }, 400, 'INVALID_INPUT', 'description'],
      ['in', { ...into(all, 99) }, 400, 'AMOUNT_OUT_OF_RANGE', 'amount'],
      ['in', { ...into(all, 1_000), source: { accountId: inactive['id'] } }, 400, 'INVALID_BANK_ACCOUNT', 'source.accountId'],
      ['in', { ...into(all, 1_000), source: { accountId: all.euros['id'] } }, 400, 'INVALID_CURRENCY', 'destination.accountId'],
      [
        'in',
        { amount: 5_000_000, source: { accountId: wallet['id'] }, destination: { accountId: usdc['id'] } },
        400,
        'INVALID_INPUT',
        'source.accountId',
      ],
      ['in', { ...into(all, 1_000), destination: { accountId: unreadyDollars['id'] } }, 403, 'USER_NOT_READY'],
    ]
    const counts = () =>
      world.database.query(
        'select (select count(*) from transaction), (select count(*) from ledger_entry), (select count(*) from event)',
      )
    const before = await counts()
    for (const [way, input, status, code, field] of rows) {
      const reply = await world.rest('POST', `/transfer-${way}`, input)
      const name = way === 'out' ? 'transferOut' : 'transferIn'
      expect([way, String(input['amount']), reply.status, reply.body['code'], reply.body['details']?.field]).toEqual([
        way,
        String(input['amount']),
        status,
        code,
        field,
      ])
      const { body } = await world.graphql(
        `mutation ($input: ${name[0]!.toUpperCase()}${name.slice(1)}Input!) { ${name}(input: $input) { transaction { id } errors { code field } } }`,
        { input: { ...input, amount: String(input['amount']) } },
      )
      expect(body['data'][name]).toEqual({ transaction: null, errors: [{ code, field: field ?? null }] })
    }
    expect(await counts()).toEqual(before)
    const without = await world.rest('POST', '/transfer-in', { ...into(all, 1), amount: undefined })
    expect(without.body).toMatchObject({ status: 400, code: 'INVALID_INPUT', details: { field: 'amount' } })
  })

  test('a currency or direction that the platform has switched off is refused', async () => {
    const all = await parties()
    const limits = { minAmount: 100, maxAmount: 1_000_000_000 }
    const set = (enabledTransactionTypes: string[], currencyCode = 'USD') =>
      world.rest('PATCH', '/config', { supportedCurrencies: [{ currencyCode, ...limits, enabledTransactionTypes }] })
    const { body: config } = await world.rest('GET', '/config')
    await set(['INCOMING'])
    expect((await world.rest('POST', '/transfer-out', out(all, 1_000))).body).toMatchObject({
      code: 'INVALID_CURRENCY',
      details: { field: 'source.accountId' },
    })
    await set(['OUTGOING'])
    expect((await world.rest('POST', '/transfer-in', into(all, 1_000))).body).toMatchObject({
      code: 'INVALID_CURRENCY',
      details: { field: 'destination.accountId' },
    })
    const supportedCurrencies = config['supportedCurrencies'].map(
      ({ providerRequiredCustomerFields: _fields, ...currency }: Body) => currency,
    )
    await world.rest('PATCH', '/config', { supportedCurrencies })
  })
})
