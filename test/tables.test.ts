import { beforeAll, describe, expect, test } from 'vitest'
import { newPayer, newQuote, newUsAccount, paymentOf, quoteInput } from './people.ts'
import { scriptedRails } from './rails.ts'
import { type Body, useWorld } from './world.ts'

// The specification's tables, row by row.

const rails = scriptedRails()
const world = useWorld({ sandboxRails: rails })

const id = (type: string) => expect.stringMatching(new RegExp(`^${type}:[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$`))
const instant = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
const currency = (code: string) => ({ code, name: expect.any(String), symbol: expect.any(String), decimals: expect.any(Number) })

describe('a quote has', () => {
  let quote: Body
  let pushed: Body

  beforeAll(async () => {
    const payer = await newPayer(world)
    quote = await newQuote(world, payer)
    pushed = await newQuote(world, payer, { source: { customerId: payer.customer['id'], currency: 'USD' } })
  })

  test.each<[string, unknown]>([
    ['id', id('Quote')],
    ['status', 'PENDING'],
    ['createdAt', instant],
    ['expiresAt', instant],
    ['source', { sourceType: 'ACCOUNT', accountId: id('InternalAccount'), customerId: id('Customer'), currency: 'USD' }],
    ['destination', { destinationType: 'ACCOUNT', accountId: id('ExternalAccount'), currency: 'EUR' }],
    ['sendingCurrency', currency('USD')],
    ['receivingCurrency', currency('EUR')],
    ['totalSendingAmount', 100_000],
    ['totalReceivingAmount', 91_704],
    ['exchangeRate', 1.08695652],
    ['feesIncluded', 321],
    ['transactionId', id('Transaction')],
    ['paymentInstructions', undefined],
    [
      'rateDetails',
      {
        counterpartyMultiplier: expect.any(Number),
        counterpartyFixedFee: 10,
        serviceApiMultiplier: expect.any(Number),
        serviceApiFixedFee: 10,
        serviceApiVariableFeeRate: 0.003,
        serviceApiVariableFeeAmount: 300,
      },
    ],
  ])('%s', (field, value) => expect(quote[field]).toEqual(value))

  test('paymentInstructions, where the money has to be pushed', () => {
    expect(pushed['paymentInstructions']).toEqual([
      {
        accountType: 'US_ACCOUNT',
        reference: expect.any(String),
        instructionsNotes: expect.any(String),
        accountOrWalletInfo: {
          accountType: 'US_ACCOUNT',
          accountNumber: '1',
          routingNumber: '2',
          reference: expect.any(String),
        },
      },
    ])
  })
})

describe('a transaction has', () => {
  let payment: Body
  let failed: Body
  let toUma: Body

  beforeAll(async () => {
    const payer = await newPayer(world)
    const executed = async (fields: Body = {}) => {
      const quote = await newQuote(world, payer, { immediatelyExecute: true, ...fields })
      await world.drain()
      return paymentOf(world, quote)
    }
    payment = await executed({ description: 'rent' })
    rails.answers.send.push({ kind: 'failed', reason: 'OFFRAMP_FAILED' })
    failed = await executed()
    const destination = { umaAddress: '$grace@bank.example', counterpartyInformation: { FULL_NAME: 'Grace Hopper' } }
    toUma = await executed({ destination, lockedCurrencyAmount: 50_000 })
  })

  test.each<[string, unknown]>([
    ['id', id('Transaction')],
    ['status', 'COMPLETED'],
    ['type', 'OUTGOING'],
    ['source', { sourceType: 'ACCOUNT', accountId: id('InternalAccount'), currency: 'USD' }],
    ['destination', { destinationType: 'ACCOUNT', accountId: id('ExternalAccount'), currency: 'EUR' }],
    ['customerId', id('Customer')],
    ['platformCustomerId', expect.stringMatching(/^customer-/)],
    ['sentAmount', { amount: 100_000, currency: currency('USD') }],
    ['receivedAmount', { amount: 91_704, currency: currency('EUR') }],
    ['settledAt', instant],
    ['createdAt', instant],
    ['updatedAt', instant],
    ['description', 'rent'],
    ['counterpartyInformation', undefined],
    ['reconciliationInstructions', { reference: expect.stringMatching(/^REF-/) }],
    ['rateDetails', expect.objectContaining({ serviceApiFixedFee: 10, counterpartyFixedFee: 10 })],
    ['failureReason', undefined],
    ['quoteId', id('Quote')],
    ['exchangeRate', 1.08695652],
    ['fees', 321],
  ])('%s', (field, value) => expect(payment[field]).toEqual(value))

  test('failureReason and refund, where it failed', () => {
    expect(failed).toMatchObject({
      status: 'FAILED',
      failureReason: 'OFFRAMP_FAILED',
      refund: { reference: expect.stringMatching(/-REFUND$/), initiatedAt: instant, settledAt: instant },
    })
  })

  test('counterpartyInformation and both addresses, where it goes to a UMA address', () => {
    expect(toUma).toMatchObject({
      counterpartyInformation: { FULL_NAME: 'Grace Hopper' },
      senderUmaAddress: expect.stringMatching(/^\$/),
      receiverUmaAddress: '$grace@bank.example',
    })
  })
})

describe('a transaction is', () => {
  const reach: Record<string, () => Promise<Body>> = {
    async CREATED() {
      const payer = await newPayer(world)
      const outside = await newUsAccount(world, payer.customer['id'])
      const accounts = { source: { accountId: payer.dollars['id'] }, destination: { accountId: outside['id'] } }
      return (await world.rest('POST', '/transfer-out', { ...accounts, amount: 1_000 })).body
    },
    PENDING: async () => paymentOf(world, await newQuote(world, await newPayer(world))),
    PROCESSING: async () => paymentOf(world, await newQuote(world, await newPayer(world), { immediatelyExecute: true })),
    SENT: () => ended({ kind: 'accepted', askAgainInMs: 60_000 }),
    COMPLETED: () => ended({ kind: 'paid' }),
    REJECTED: () => ended({ kind: 'rejected' }),
    FAILED: () => ended({ kind: 'failed' }),
    REFUNDED: () => ended({ kind: 'returned' }),
    async EXPIRED() {
      const quote = await newQuote(world, await newPayer(world))
      world.clock.advance(5 * 60_000)
      await world.drain()
      return paymentOf(world, quote)
    },
  }

  async function ended(outcome: (typeof rails.answers.send)[number]): Promise<Body> {
    await world.drain()
    rails.answers.send.push(outcome)
    const quote = await newQuote(world, await newPayer(world), { immediatelyExecute: true })
    await world.drain()
    return paymentOf(world, quote)
  }

  test.each(Object.entries(reach))('%s', async (status, reached) => {
    expect((await reached())['status']).toBe(status)
  })
})

describe('executing a quote through the graph is refused as over REST', () => {
  const both = async (quoteId: string, status: number, code: string, field: string) => {
    const { body } = await world.rest('POST', `/quotes/${quoteId}/execute`)
    expect([body['status'], body['code'], body['details'].field]).toEqual([status, code, field])
    const graph = await world.graphql(
      'mutation ($input: ExecuteQuoteInput!) { executeQuote(input: $input) { quote { id } errors { code field } } }',
      { input: { quoteId } },
    )
    expect(graph.body['data'].executeQuote).toEqual({ quote: null, errors: [{ code, field }] })
  }

  test('when it does not exist, has been executed, has expired, waits for money, or the balance is short', async () => {
    await both('Quote:01890000-0000-7000-8000-000000000000', 404, 'QUOTE_NOT_FOUND', 'quoteId')
    await both('nonsense', 400, 'INVALID_INPUT', 'quoteId')
    const payer = await newPayer(world)
    const executed = await newQuote(world, payer, { immediatelyExecute: true })
    await both(executed['id'], 409, 'QUOTE_ALREADY_EXECUTED', 'quoteId')
    const pushed = await newQuote(world, payer, { source: { customerId: payer.customer['id'], currency: 'USD' } })
    await both(pushed['id'], 400, 'INVALID_INPUT', 'quoteId')
    const poor = await newQuote(world, await newPayer(world, { balance: 5 }))
    await both(poor['id'], 400, 'INSUFFICIENT_BALANCE', 'source.accountId')
    world.clock.advance(5 * 60_000)
    await both(poor['id'], 409, 'QUOTE_EXPIRED', 'quoteId')
  })
})

describe('making a quote through the graph is refused as over REST', () => {
  const both = async (input: Body, destination: Body, status: number, code: string, field: string) => {
    const { body } = await world.rest('POST', '/quotes', input)
    expect([body['status'], body['code'], body['details'].field]).toEqual([status, code, field])
    const graph = await world.graphql(
      'mutation ($input: CreateQuoteInput!) { createQuote(input: $input) { quote { id } errors { code field } } }',
      { input: { ...input, source: { account: input['source'] }, destination } },
    )
    expect(graph.body['data'].createQuote).toEqual({ quote: null, errors: [{ code, field }] })
  }

  test("when it would pay the payer's own address, or the receiver must know more", async () => {
    const payer = await newPayer(world)
    const own = { umaAddress: payer.customer['umaAddress'] }
    await both(quoteInput(payer, { destination: own }), { umaAddress: own }, 400, 'SELF_PAYMENT', 'destination.umaAddress')
    rails.payerFields = [{ name: 'BIRTH_DATE', mandatory: true }]
    const grace = { umaAddress: '$grace@bank.example' }
    await both(
      quoteInput(payer, { destination: grace }),
      { umaAddress: grace },
      400,
      'MISSING_MANDATORY_USER_INFO',
      'senderCustomerInfo',
    )
    rails.payerFields = []
  })

  test('when nobody carries it, the balance is short, or a wallet address given inline is none', async () => {
    const payer = await newPayer(world, { balance: 5 })
    const account = { accountId: payer.euros['id'] }
    await both(quoteInput(payer, { immediatelyExecute: true }), { account }, 400, 'INSUFFICIENT_BALANCE', 'source.accountId')
    rails.closed.add('EUR')
    await both(quoteInput(payer), { account }, 501, 'NOT_IMPLEMENTED', 'destination.accountId')
    rails.closed.clear()
    const details = (info: Body) => ({ externalAccountDetails: { currency: 'BTC', accountInfo: info } })
    await both(
      quoteInput(payer, { destination: details({ accountType: 'SPARK_WALLET', address: 'bc1qxyz' }) }),
      details({ sparkWallet: { address: 'bc1qxyz' } }),
      400,
      'INVALID_BANK_ACCOUNT',
      'destination.externalAccountDetails.accountInfo.address',
    )
  })
})
