import { describe, expect, test } from 'vitest'
import { minute } from '../src/base/clock.ts'
import { newPayer, newQuote } from './people.ts'
import { type Body, useWorld } from './world.ts'

const world = useWorld()

const rates = async (query = '') => (await world.rest('GET', `/exchange-rates${query}`)).body['data'] as Body[]

describe('exchange rates', () => {
  test('are of every pair of the platform’s currencies, or of those asked for', async () => {
    const { body: config } = await world.rest('GET', '/config')
    const count = config['supportedCurrencies'].length
    expect(await rates()).toHaveLength(count * (count - 1))
    expect(await rates('?sourceCurrency=USD')).toHaveLength(count - 1)
    const pairs = (found: Body[]) =>
      found.map(({ sourceCurrency, destinationCurrency }) => `${sourceCurrency.code} ${destinationCurrency.code}`)
    expect(pairs(await rates('?sourceCurrency=USD&destinationCurrency=EUR,INR'))).toEqual(['USD EUR', 'USD INR'])
    expect(pairs(await rates('?sourceCurrency=USD&destinationCurrency=EUR&destinationCurrency=INR'))).toEqual([
      'USD EUR',
      'USD INR',
    ])
    const [euro] = await rates('?sourceCurrency=USD&destinationCurrency=EUR')
    expect(euro).toEqual({
      sourceCurrency: expect.objectContaining({ code: 'USD', decimals: 2 }),
      destinationCurrency: expect.objectContaining({ code: 'EUR' }),
      destinationPaymentRail: 'SEPA_INSTANT',
      sendingAmount: 10_000,
      minSendingAmount: 100,
      maxSendingAmount: 1_000_000_000,
      receivingAmount: 9_200,
      exchangeRate: 1.08695652,
      fees: { fixed: 21, total: 51 },
      updatedAt: world.clock.now().toISOString(),
    })
  })

  test('are those that a quote then locks, fees included', async () => {
    const payer = await newPayer(world)
    const quote = await newQuote(world, payer)
    const [rate] = await rates(`?sourceCurrency=USD&destinationCurrency=EUR&sendingAmount=${quote['totalSendingAmount']}`)
    expect([rate!['exchangeRate'], rate!['fees'].total]).toEqual([quote['exchangeRate'], quote['feesIncluded']])
  })

  test('are remembered for five minutes', async () => {
    const [first] = await rates('?sourceCurrency=EUR&destinationCurrency=USD')
    world.clock.advance(5 * minute - 1)
    expect((await rates('?sourceCurrency=EUR&destinationCurrency=USD'))[0]!['updatedAt']).toBe(first!['updatedAt'])
    world.clock.advance(1)
    expect((await rates('?sourceCurrency=EUR&destinationCurrency=USD'))[0]!['updatedAt']).toBe(world.clock.now().toISOString())
  })

  test('are refused for what cannot be', async () => {
    const cases: [string, string][] = [
      ['?sourceCurrency=NGN', 'INVALID_CURRENCY'],
      ['?destinationCurrency=USD,NGN', 'INVALID_CURRENCY'],
      ['?sourceCurrency=usd', 'INVALID_CURRENCY'],
      ['?sendingAmount=-1', 'INVALID_INPUT'],
      ['?sendingAmount=1.5', 'INVALID_INPUT'],
      ['?sendingAmount=9999999999999999', 'INVALID_AMOUNT'],
    ]
    for (const [query, code] of cases)
      expect(await world.rest('GET', `/exchange-rates${query}`)).toMatchObject({ status: 400, body: { code } })
  })

  test('are in the graph too', async () => {
    const { body } =
      await world.graphql(`{ exchangeRates(sourceCurrency: "USD", destinationCurrencies: ["EUR"], sendingAmount: 20000) {
      exchangeRate sendingAmount { amount } receivingAmount { amount currency { code } } totalFees { amount } } }`)
    expect(body['data'].exchangeRates).toEqual([
      {
        exchangeRate: 1.08695652,
        sendingAmount: { amount: '20000' },
        receivingAmount: { amount: '18400', currency: { code: 'EUR' } },
        totalFees: { amount: '81' },
      },
    ])
  })
})

describe('the providers of UMA addresses', () => {
  test('are listed by domain, page by page, and filtered', async () => {
    const { body } = await world.rest('GET', '/uma-providers')
    expect(body).toMatchObject({ hasMore: false, totalCount: 2 })
    expect(body['data'][0]).toEqual({
      name: 'Sandbox provider',
      domain: 'sandbox.uma.localhost',
      supportedRegions: expect.arrayContaining(['US']),
      supportedCurrencies: expect.arrayContaining([expect.objectContaining({ code: 'EUR' })]),
      allowListStatus: true,
    })
    const domains = async (query: string) =>
      (await world.rest('GET', `/uma-providers${query}`)).body['data'].map(({ domain }: Body) => domain)
    const first = await world.rest('GET', '/uma-providers?limit=1')
    expect(first.body['hasMore']).toBe(true)
    expect(await domains(`?limit=1&cursor=${first.body['nextCursor']}`)).toEqual(['sandbox.uma.money'])
    expect(await domains('?sortOrder=desc')).toEqual(['sandbox.uma.money', 'sandbox.uma.localhost'])
    expect(await domains('?currencyCode=INR')).toEqual([])
    expect(await domains('?countryCode=AQ')).toEqual([])
    expect((await world.rest('GET', '/uma-providers?cursor=x')).status).toBe(400)
    const graph = await world.graphql(
      '{ umaProviders(first: 1) { totalCount pageInfo { hasNextPage endCursor } edges { node { domain isAllowed } } } }',
    )
    expect(graph.body['data'].umaProviders).toMatchObject({
      totalCount: 2,
      pageInfo: { hasNextPage: true },
      edges: [{ node: { isAllowed: true } }],
    })
  })
})
