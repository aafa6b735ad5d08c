import { describe, expect, test } from 'vitest'
import {
  balanceOf,
  fund,
  internalAccountOf,
  newCustomer,
  newIbanAccount,
  newPayer,
  newUsAccount,
  paymentOf,
  quoteInput,
  toldOf,
  usAccountInfo,
} from './people.ts'
import { type Body, useWorld } from './world.ts'

const world = useWorld()

const post = async (path: string, body?: unknown, status = 201) => {
  const reply = await world.rest('POST', path, body)
  expect([path, reply.status, reply.body['code']]).toEqual([path, status, undefined])
  return reply.body
}

const locked = (amount = 100_000, side = 'SENDING') => ({ lockedCurrencySide: side, lockedCurrencyAmount: amount })

async function statusOf(quote: Body): Promise<string> {
  return (await world.rest('GET', `/quotes/${quote['id']}`)).body['status']
}

const send = (reference: string, currencyCode: string, currencyAmount: number) =>
  world.rest('POST', '/sandbox/send', { reference, currencyCode, currencyAmount })

const referenceOf = (quote: Body) => quote['paymentInstructions'][0].reference

describe('a quote from one internal account to another', () => {
  test('exchanges between the balances of a customer', async () => {
    const payer = await newPayer(world)
    const euros = await internalAccountOf(world, payer.customer['id'], 'EUR')
    const quote = await post('/quotes', {
      source: { sourceType: 'ACCOUNT', accountId: payer.dollars['id'] },
      destination: { destinationType: 'ACCOUNT', accountId: euros['id'] },
      ...locked(),
    })
    expect(quote).toMatchObject({ destination: { destinationType: 'ACCOUNT', accountId: euros['id'], currency: 'EUR' } })
    expect(quote['paymentInstructions']).toBeUndefined()
    await post(`/quotes/${quote['id']}/execute`, undefined, 200)
    await world.drain()
    expect(await balanceOf(world, payer)).toBe(900_000)
    expect(await balanceOf(world, payer, 'EUR')).toBe(quote['totalReceivingAmount'])
    expect(await statusOf(quote)).toBe('COMPLETED')
  })

  test('works in a production world that has no rails, since nothing leaves', async () => {
    const as = world.production
    const customer = await newCustomer(world, {}, { as })
    const [dollars, euros] = [
      await internalAccountOf(world, customer['id'], 'USD', { as }),
      await internalAccountOf(world, customer['id'], 'EUR', { as }),
    ]
    expect(dollars['fundingPaymentInstructions']).toEqual([])
    const input = { source: { accountId: dollars['id'] }, destination: { accountId: euros['id'] }, ...locked() }
    expect((await world.rest('POST', '/quotes', input, { as })).status).toBe(201)
  })

  test('tells both balances, before and after', async () => {
    const payer = await newPayer(world)
    const other = await newCustomer(world)
    const euros = await internalAccountOf(world, other['id'], 'EUR')
    const quote = await post('/quotes', { ...quoteInput({ ...payer, euros }), immediatelyExecute: true })
    await world.drain()
    const told = await world.database.query(
      `select payload->>'accountId' as account, payload->'oldBalance'->'amount' as before, payload->'newBalance'->'amount' as after,
         payload->>'customerId' as customer, payload->>'platformCustomerId' as own
       from event where type = 'ACCOUNT_STATUS' and transaction_id = $1 order by id`,
      [quote['transactionId'].slice('Transaction:'.length)],
    )
    expect(told).toEqual([
      {
        account: payer.dollars['id'],
        before: 1_000_000,
        after: 900_000,
        customer: payer.customer['id'],
        own: payer.customer['platformCustomerId'],
      },
      {
        account: euros['id'],
        before: 0,
        after: quote['totalReceivingAmount'],
        customer: other['id'],
        own: other['platformCustomerId'],
      },
    ])
  })
})

describe('a quote from an external account', () => {
  const pulled = async (ending: string, immediatelyExecute = false) => {
    const payer = await newPayer(world, { balance: 0 })
    const outside = await newUsAccount(world, payer.customer['id'], ending)
    const quote = await post('/quotes', {
      source: { accountId: outside['id'] },
      destination: { accountId: payer.euros['id'] },
      immediatelyExecute,
      ...locked(),
    })
    return { payer, outside, quote }
  }

  test('is executed by pulling the money: PENDING until it is here, then PROCESSING and COMPLETED', async () => {
    const { outside, quote, payer } = await pulled('100')
    expect(quote['source']).toMatchObject({ sourceType: 'ACCOUNT', accountId: outside['id'], customerId: payer.customer['id'] })
    expect((await post(`/quotes/${quote['id']}/execute`, undefined, 200))['status']).toBe('PROCESSING')
    expect((await paymentOf(world, quote))['status']).toBe('PENDING')
    await world.drain()
    expect(await paymentOf(world, quote)).toMatchObject({ status: 'COMPLETED', settledAt: expect.any(String) })
    expect(await toldOf(world, quote)).toEqual(['PENDING', 'PROCESSING', 'COMPLETED'])
  })

  test('can be executed as it is made', async () => {
    const { quote } = await pulled('100', true)
    expect(quote['status']).toBe('PROCESSING')
    await world.drain()
    expect(await statusOf(quote)).toBe('COMPLETED')
  })

  test.each([
    ['002', 'FAILED', 'QUOTE_EXECUTION_FAILED'],
    ['003', 'FAILED', 'QUOTE_EXECUTION_FAILED'],
    ['004', 'REJECTED', undefined],
  ])('that ends in %s is %s, and no money has moved', async (ending, status, failureReason) => {
    const { quote } = await pulled(ending, true)
    await world.drain()
    const payment = await paymentOf(world, quote)
    expect(payment).toMatchObject({ status, ...(failureReason ? { failureReason } : {}) })
    expect(payment['refund']).toBeUndefined()
    expect(await statusOf(quote)).toBe('FAILED')
  })

  test('goes back through the rail when the receiver cannot be paid', async () => {
    const payer = await newPayer(world, { balance: 0, ending: '004' })
    const outside = await newUsAccount(world, payer.customer['id'])
    const quote = await post('/quotes', {
      source: { accountId: outside['id'] },
      destination: { accountId: payer.euros['id'] },
      immediatelyExecute: true,
      ...locked(),
    })
    await world.drain()
    const payment = await paymentOf(world, quote)
    expect(payment).toMatchObject({
      status: 'REJECTED',
      refund: { initiatedAt: expect.any(String), settledAt: expect.any(String) },
    })
    expect(payment['refund'].reference).toBe(`${payment['reconciliationInstructions'].reference}-REFUND`)
  })
})

describe('a quote that is funded just in time', () => {
  const realtime = async (fields: Body = {}, ending = '100') => {
    const payer = await newPayer(world, { balance: 0, ending })
    const quote = await post('/quotes', {
      source: { sourceType: 'REALTIME_FUNDING', customerId: payer.customer['id'], currency: 'USD' },
      destination: { accountId: payer.euros['id'] },
      ...locked(),
      ...fields,
    })
    return { payer, quote }
  }

  test('has an instruction for every rail, all with one reference that is its own', async () => {
    const [first, second] = [await realtime(), await realtime()]
    const rails = first.quote['paymentInstructions']
    expect(rails.map(({ accountType }: Body) => accountType)).toEqual(['US_ACCOUNT', 'SOLANA_WALLET'])
    expect(new Set(rails.map(({ reference }: Body) => reference)).size).toBe(1)
    expect(rails[0].accountOrWalletInfo).toMatchObject({ accountType: 'US_ACCOUNT', reference: referenceOf(first.quote) })
    expect(referenceOf(second.quote)).not.toBe(referenceOf(first.quote))
    expect(first.quote['source']).toEqual({
      sourceType: 'REALTIME_FUNDING',
      customerId: first.payer.customer['id'],
      currency: 'USD',
    })
    const bitcoin = await realtime({ source: { currency: 'BTC' }, ...locked(1_000_000) })
    expect(bitcoin.quote['paymentInstructions'].map(({ accountType }: Body) => accountType)).toEqual([
      'SPARK_WALLET',
      'LIGHTNING',
    ])
  })

  test('begins when exactly its amount comes in, and completes', async () => {
    const { quote } = await realtime()
    const reply = await send(referenceOf(quote), 'USD', 100_000)
    expect(reply).toMatchObject({ status: 200, body: { id: quote['transactionId'], status: 'PROCESSING', quoteId: quote['id'] } })
    expect(await statusOf(quote)).toBe('PROCESSING')
    await world.drain()
    expect(await statusOf(quote)).toBe('COMPLETED')
    expect(await toldOf(world, quote)).toEqual(['PROCESSING', 'COMPLETED'])
  })

  test('is funded in the sandbox also by the quote, whose amount is the default', async () => {
    const { quote } = await realtime()
    const body = await post('/sandbox/send', { quoteId: quote['id'], currencyCode: 'USD' }, 200)
    expect(body['status']).toBe('PROCESSING')
  })

  test('fails with FUNDING_AMOUNT_MISMATCH when another amount comes in, which goes back', async () => {
    const { quote } = await realtime()
    await send(referenceOf(quote), 'USD', 99_999)
    expect(await paymentOf(world, quote)).toMatchObject({
      status: 'FAILED',
      failureReason: 'FUNDING_AMOUNT_MISMATCH',
      refund: { reference: `${referenceOf(quote)}-REFUND`, initiatedAt: expect.any(String) },
    })
    expect((await paymentOf(world, quote))['refund'].settledAt).toBeUndefined()
    await world.drain()
    expect((await paymentOf(world, quote))['refund'].settledAt).toEqual(expect.any(String))
    expect(await statusOf(quote)).toBe('FAILED')
  })

  test('fails, and the money goes back, when the receiving account has been disabled meanwhile', async () => {
    const { quote, payer } = await realtime()
    const bare = payer.euros['id'].slice('ExternalAccount:'.length)
    await world.database.query(`update external_account set status = 'INACTIVE', version = version + 1 where id = $1`, [bare])
    await send(referenceOf(quote), 'USD', 100_000)
    await world.drain()
    expect(await paymentOf(world, quote)).toMatchObject({
      status: 'FAILED',
      failureReason: 'QUOTE_EXECUTION_FAILED',
      refund: { settledAt: expect.any(String) },
    })
  })

  test('crypto that cannot go on is credited to the customer', async () => {
    const payer = await newPayer(world, { balance: 0 })
    const quote = await post('/quotes', {
      source: { customerId: payer.customer['id'], currency: 'USDC' },
      destination: { accountId: payer.euros['id'] },
      ...locked(50_000_000),
    })
    await send(referenceOf(quote), 'USDC', 40_000_000)
    expect((await paymentOf(world, quote))['refund']).toMatchObject({ settledAt: expect.any(String) })
    expect(await balanceOf(world, payer, 'USDC')).toBe(40_000_000)
  })

  test('is funded up to a millisecond before it expires; later the money goes back', async () => {
    const [early, late] = [await realtime(), await realtime()]
    world.clock.advance(5 * 60_000 - 1)
    expect((await send(referenceOf(early.quote), 'USD', 100_000)).body['status']).toBe('PROCESSING')
    world.clock.advance(1)
    expect((await send(referenceOf(late.quote), 'USD', 100_000)).body).toMatchObject({
      status: 'EXPIRED',
      failureReason: 'QUOTE_EXPIRED',
      refund: { initiatedAt: expect.any(String) },
    })
    await world.drain()
    expect((await paymentOf(world, late.quote))['refund'].settledAt).toEqual(expect.any(String))
    expect(await statusOf(late.quote)).toBe('EXPIRED')
  })

  test('money that comes after it expired, or a second time, goes back too', async () => {
    const [expired, funded] = [await realtime(), await realtime()]
    await send(referenceOf(funded.quote), 'USD', 100_000)
    await world.drain()
    await send(referenceOf(funded.quote), 'USD', 100_000)
    expect(await paymentOf(world, funded.quote)).not.toHaveProperty('refund')
    world.clock.advance(5 * 60_000)
    await world.drain()
    expect(await statusOf(expired.quote)).toBe('EXPIRED')
    await send(referenceOf(expired.quote), 'USD', 100_000)
    await world.drain()
    expect(await paymentOf(world, expired.quote)).toMatchObject({ status: 'EXPIRED', refund: { settledAt: expect.any(String) } })
    expect(
      await world.database.query(`select status from deposit where status <> 'RETURNED' and reference = $1`, [
        referenceOf(expired.quote),
      ]),
    ).toEqual([])
  })

  test('is not executed by hand', async () => {
    const { quote } = await realtime()
    const { body, status } = await world.rest('POST', `/quotes/${quote['id']}/execute`)
    expect([status, body['code'], body['details'].field]).toEqual([400, 'INVALID_INPUT', 'quoteId'])
  })

  test("can be the platform's own", async () => {
    const payer = await newPayer(world, { balance: 0 })
    const quote = await post('/quotes', {
      source: { currency: 'USD' },
      destination: { accountId: payer.euros['id'] },
      ...locked(),
    })
    expect(quote['source']).toEqual({ sourceType: 'REALTIME_FUNDING', currency: 'USD' })
    await send(referenceOf(quote), 'USD', 100_000)
    await world.drain()
    expect(await statusOf(quote)).toBe('COMPLETED')
  })

  test('can name the customer by UMA address, and stay in one currency', async () => {
    const payer = await newPayer(world, { balance: 0 })
    const outside = await newUsAccount(world, payer.customer['id'])
    const quote = await post('/quotes', {
      source: { umaAddress: payer.customer['umaAddress'].toUpperCase(), currency: 'USD' },
      destination: { accountId: outside['id'] },
      ...locked(),
    })
    expect(quote).toMatchObject({
      source: { sourceType: 'REALTIME_FUNDING', umaAddress: payer.customer['umaAddress'], customerId: payer.customer['id'] },
      exchangeRate: 1,
    })
    const { body } = await world.rest('GET', `/quotes?sendingUmaAddress=${encodeURIComponent(payer.customer['umaAddress'])}`)
    expect(body['data'].map(({ id }: Body) => id)).toEqual([quote['id']])
  })

  test('can credit an internal account', async () => {
    const payer = await newPayer(world, { balance: 0 })
    const euros = await internalAccountOf(world, payer.customer['id'], 'EUR')
    const quote = await post('/quotes', {
      source: { customerId: payer.customer['id'], currency: 'USD' },
      destination: { accountId: euros['id'] },
      ...locked(),
    })
    await send(referenceOf(quote), 'USD', 100_000)
    await world.drain()
    expect(await balanceOf(world, payer, 'EUR')).toBe(quote['totalReceivingAmount'])
  })
})

describe('a quote to a UMA address', () => {
  const toUma = async (name: string, fields: Body = {}) => {
    const payer = await newPayer(world)
    const quote = await post('/quotes', {
      source: { accountId: payer.dollars['id'] },
      destination: { umaAddress: `$${name}@sandbox.uma.money` },
      ...locked(),
      ...fields,
    })
    return { payer, quote }
  }

  test.each([
    ['success.usd', 'USD'],
    ['success.eur', 'EUR'],
    ['success.mxn', 'MXN'],
  ])('$%s is paid in %s', async (name, currency) => {
    const { quote, payer } = await toUma(name)
    const receiver = `$${name}@sandbox.uma.money`
    expect(quote['destination']).toEqual({ destinationType: 'UMA_ADDRESS', umaAddress: receiver, currency })
    await post(`/quotes/${quote['id']}/execute`, undefined, 200)
    await world.drain()
    expect(await paymentOf(world, quote)).toMatchObject({
      status: 'COMPLETED',
      senderUmaAddress: payer.customer['umaAddress'],
      receiverUmaAddress: receiver,
      receivedAmount: { amount: quote['totalReceivingAmount'], currency: { code: currency } },
    })
  })

  test('carries what is known of the counterparty', async () => {
    const destination = { umaAddress: '$success.eur@sandbox.uma.money', counterpartyInformation: { FULL_NAME: 'Grace Hopper' } }
    const { quote } = await toUma('success.eur', { destination })
    expect((await paymentOf(world, quote))['counterpartyInformation']).toEqual({ FULL_NAME: 'Grace Hopper' })
  })

  test('$fail.compliance.usd is refused by the receiver, and the money returned', async () => {
    const { quote, payer } = await toUma('fail.compliance.usd', { immediatelyExecute: true })
    await world.drain()
    expect(await paymentOf(world, quote)).toMatchObject({ status: 'REJECTED', refund: { settledAt: expect.any(String) } })
    expect(await balanceOf(world, payer)).toBe(1_000_000)
  })

  test('$pending.long.usd stays under way for six minutes', async () => {
    const { quote } = await toUma('pending.long.usd', { immediatelyExecute: true })
    await world.drain()
    world.clock.advance(6 * 60_000 - 1)
    await world.drain()
    expect((await paymentOf(world, quote))['status']).toBe('PROCESSING')
    world.clock.advance(1)
    await world.drain()
    expect((await paymentOf(world, quote))['status']).toBe('COMPLETED')
  })

  test('can be looked up first, and funded just in time by the lookup alone', async () => {
    const address = '$success.eur@sandbox.uma.money'
    const { body: found } = await world.rest('GET', `/receiver/uma/${encodeURIComponent(address)}`)
    expect(found).toEqual({
      lookupId: expect.stringMatching(/^Lookup:/),
      receiverUmaAddress: address,
      supportedCurrencies: [
        { currency: expect.objectContaining({ code: 'EUR' }), estimatedExchangeRate: 0.92, min: 100, max: 9_000_000 },
      ],
      requiredPayerDataFields: [{ name: 'FULL_NAME', mandatory: false }],
    })
    expect((await world.rest('GET', `/receiver/uma/${address}`)).status).toBe(200)
    const quote = await post('/quotes', {
      lookupId: found['lookupId'],
      sendingCurrencyCode: 'USD',
      receivingCurrencyCode: 'EUR',
      ...locked(50_000, 'RECEIVING'),
      description: 'by lookup',
    })
    expect(quote).toMatchObject({
      source: { sourceType: 'REALTIME_FUNDING', currency: 'USD' },
      destination: { destinationType: 'UMA_ADDRESS', umaAddress: address },
      totalReceivingAmount: 50_000,
    })
    await send(referenceOf(quote), 'USD', quote['totalSendingAmount'])
    await world.drain()
    expect(await statusOf(quote)).toBe('COMPLETED')
  })

  test('a lookup is forgotten after half an hour', async () => {
    const { body: found } = await world.rest('GET', '/receiver/uma/$success.usd@sandbox.uma.money')
    const { quote } = await toUma('success.usd', { lookupId: found['lookupId'] })
    expect(quote['status']).toBe('PENDING')
    world.clock.advance(30 * 60_000)
    await world.drain()
    const { body, status } = await world.rest('POST', '/quotes', {
      lookupId: found['lookupId'],
      sendingCurrencyCode: 'USD',
      ...locked(),
    })
    expect([status, body['code'], body['details'].field]).toEqual([404, 'LOOKUP_REQUEST_NOT_FOUND', 'lookupId'])
  })
})

describe('a quote to an account given inline', () => {
  const inline = (payer: { dollars: Body }, accountInfo: Body, fields: Body = {}) => ({
    source: { accountId: payer.dollars['id'] },
    destination: { externalAccountDetails: { currency: 'MXN', accountInfo, ...fields } },
    ...locked(),
  })
  const clabe = (ending = '100') => ({ accountType: 'CLABE', clabeNumber: `${Date.now()}`.padStart(15, '1').slice(-15) + ending })

  test('adds the account for the payer, and names it', async () => {
    const payer = await newPayer(world)
    const accountInfo = clabe()
    const quote = await post('/quotes', inline(payer, accountInfo))
    expect(quote['destination']).toMatchObject({
      destinationType: 'ACCOUNT',
      accountId: expect.stringMatching(/^ExternalAccount:/),
    })
    const { body } = await world.rest('GET', `/customers/external-accounts?customerId=${payer.customer['id']}&currency=MXN`)
    expect(body['data']).toEqual([expect.objectContaining({ id: quote['destination'].accountId, accountInfo })])
    await post(`/quotes/${quote['id']}/execute`, undefined, 200)
    await world.drain()
    expect(await statusOf(quote)).toBe('COMPLETED')
  })

  test('means the account that is there already, also for two at once', async () => {
    const payer = await newPayer(world)
    const accountInfo = clabe()
    const replies = await Promise.all([1, 2, 3].map(() => world.rest('POST', '/quotes', inline(payer, accountInfo))))
    expect(replies.map(({ status }) => status)).toEqual([201, 201, 201])
    expect(new Set(replies.map(({ body }) => body['destination'].accountId)).size).toBe(1)
  })

  test('can be funded just in time', async () => {
    const payer = await newPayer(world, { balance: 0 })
    const quote = await post('/quotes', {
      source: { customerId: payer.customer['id'], currency: 'EUR' },
      destination: { externalAccountDetails: { currency: 'USD', accountInfo: usAccountInfo() } },
      ...locked(),
    })
    await send(referenceOf(quote), 'EUR', 100_000)
    await world.drain()
    expect(await statusOf(quote)).toBe('COMPLETED')
  })
})

test('an external account is looked up with its limits', async () => {
  const payer = await newPayer(world)
  const { body } = await world.rest('GET', `/receiver/external-account/${payer.euros['id']}`)
  expect(body).toMatchObject({
    accountId: payer.euros['id'],
    supportedCurrencies: [{ currency: { code: 'EUR' }, estimatedExchangeRate: 0.92 }],
    requiredPayerDataFields: [],
  })
  const quote = await post('/quotes', quoteInput(payer, { lookupId: body['lookupId'] }))
  expect(quote['status']).toBe('PENDING')
})

test('every form goes through the graph too', async () => {
  const payer = await newPayer(world)
  const outside = await newUsAccount(world, payer.customer['id'])
  const create = async (source: Body, destination: Body, fields: Body = {}) => {
    const { body } = await world.graphql(
      `mutation ($input: CreateQuoteInput!) { createQuote(input: $input) {
        quote { id status source { sourceType account { __typename } } destination { destinationType umaAddress account { __typename } }
          paymentInstructions { reference accountOrWalletInfo { accountNumber } } }
        errors { code field message } } }`,
      { input: { source, destination, lockedCurrencySide: 'SENDING', lockedCurrencyAmount: '100000', ...fields } },
    )
    expect(body['errors']).toBeUndefined()
    expect(body['data'].createQuote.errors).toEqual([])
    return body['data'].createQuote.quote
  }
  const customerId = payer.customer['id']
  const uma = { umaAddress: { umaAddress: '$success.eur@sandbox.uma.money' } }
  const details = { externalAccountDetails: { currency: 'MXN', accountInfo: { clabe: { clabeNumber: '111222333444555666' } } } }
  expect(await create({ account: { accountId: payer.dollars['id'] } }, uma)).toMatchObject({
    destination: { destinationType: 'UMA_ADDRESS', umaAddress: '$success.eur@sandbox.uma.money' },
  })
  expect(await create({ account: { accountId: outside['id'] } }, { account: { accountId: payer.euros['id'] } })).toMatchObject({
    source: { sourceType: 'ACCOUNT', account: { __typename: 'ExternalAccount' } },
  })
  const pushed = await create({ realtimeFunding: { customerId, currency: 'USD' } }, details, {
    senderCustomerInfo: [{ name: 'FULL_NAME', value: 'Ada Lovelace' }],
    purposeOfPayment: 'GIFT',
  })
  expect(pushed.destination).toEqual({
    destinationType: 'ACCOUNT',
    umaAddress: null,
    account: { __typename: 'ExternalAccount' },
  })
  const { body: sent } = await world.graphql(
    `mutation ($input: SandboxSendInput!) { sandboxSend(input: $input) { transaction { status quote { id } } errors { code } } }`,
    { input: { reference: pushed.paymentInstructions[0].reference, currencyCode: 'USD', currencyAmount: 100_000 } },
  )
  expect(sent['data'].sandboxSend).toEqual({
    transaction: { status: 'PROCESSING', quote: { id: pushed.id } },
    errors: [],
  })
  const { body: found } = await world.graphql(
    `mutation { lookUpUmaAddress(input: { receiverUmaAddress: "$success.mxn@sandbox.uma.money" }) {
      lookup { lookupId supportedCurrencies { currency { code } min { display } } requiredPayerDataFields { name mandatory } } errors { code } } }`,
  )
  const { lookup } = found['data'].lookUpUmaAddress
  expect(lookup.supportedCurrencies).toEqual([{ currency: { code: 'MXN' }, min: { display: '10.00' } }])
  expect(
    await create({ realtimeFunding: { currency: 'USD' } }, { lookup: { currency: 'MXN' } }, { lookupId: lookup.lookupId }),
  ).toMatchObject({ destination: { umaAddress: '$success.mxn@sandbox.uma.money' } })
})

test('a payment in a currency the platform has never had opens the books for it', async () => {
  const { body: config } = await world.rest('GET', '/config', undefined, { as: world.stranger })
  const call = { as: world.stranger }
  // A new platform that only knows dollars.
  expect(config['supportedCurrencies'].length).toBeGreaterThan(1)
  const customer = await newCustomer(world, {}, call)
  const dollars = await internalAccountOf(world, customer['id'], 'USD', call)
  await world.database.query(
    `delete from ledger_account where kind <> 'INTERNAL' and currency = 'MXN' and world_id = (select world_id from customer where id = $1)`,
    [customer['id'].slice('Customer:'.length)],
  )
  await world.rest('POST', `/sandbox/internal-accounts/${dollars['id']}/fund`, { amount: 100_000 }, call)
  const input = {
    source: { accountId: dollars['id'] },
    destination: { umaAddress: '$success.mxn@sandbox.uma.money' },
    immediatelyExecute: true,
    ...locked(10_000),
  }
  const replies = await Promise.all([1, 2].map(() => world.rest('POST', '/quotes', input, call)))
  expect(replies.map(({ status }) => status)).toEqual([201, 201])
  await world.drain()
  const { body } = await world.rest('GET', '/transactions?status=COMPLETED&type=OUTGOING', undefined, call)
  expect(body['totalCount']).toBe(2)
})

test('funding by reference credits an internal account as its instructions say', async () => {
  const payer = await newPayer(world, { balance: 0 })
  const { reference } = payer.dollars['fundingPaymentInstructions'][0]
  expect((await send(reference, 'USD', 5_000)).body).toMatchObject({ type: 'INCOMING', status: 'COMPLETED' })
  expect(await balanceOf(world, payer)).toBe(5_000)
  await fund(world, payer.dollars['id'], 1)
  const iban = await newIbanAccount(world, payer.customer['id'])
  expect(iban['status']).toBe('ACTIVE')
})
