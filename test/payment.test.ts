import { describe, expect, test } from 'vitest'
import { balanceOf, newPayer, newQuote, quoteInput } from './people.ts'
import { useWorld } from './world.ts'

const world = useWorld()

describe('a quote', () => {
  test('locks the sending side: fees inside, the worked example to the cent', async () => {
    const payer = await newPayer(world)
    const { status, body } = await world.rest('POST', '/quotes', quoteInput(payer, { description: 'rent' }))
    expect(status).toBe(201)
    expect(body).toMatchObject({
      status: 'PENDING',
      createdAt: '2026-01-15T12:00:00.000Z',
      expiresAt: '2026-01-15T12:05:00.000Z',
      source: { sourceType: 'ACCOUNT', accountId: payer.dollars['id'], customerId: payer.customer['id'], currency: 'USD' },
      destination: { destinationType: 'ACCOUNT', accountId: payer.euros['id'], currency: 'EUR' },
      sendingCurrency: { code: 'USD', decimals: 2 },
      receivingCurrency: { code: 'EUR', decimals: 2 },
      totalSendingAmount: 100_000,
      totalReceivingAmount: 91_704,
      exchangeRate: 1.08695652,
      feesIncluded: 321,
      rateDetails: {
        counterpartyFixedFee: 10,
        serviceApiFixedFee: 10,
        serviceApiVariableFeeRate: 0.003,
        serviceApiVariableFeeAmount: 300,
      },
      description: 'rent',
    })
    expect(body['id']).toMatch(/^Quote:[0-9a-f-]{36}$/)
    expect(body['transactionId']).toMatch(/^Transaction:[0-9a-f-]{36}$/)
    expect(await balanceOf(world, payer)).toBe(1_000_000)
  })

  test('locks the receiving side: the worked example to the cent', async () => {
    const quote = await newQuote(world, await newPayer(world), { lockedCurrencySide: 'RECEIVING', lockedCurrencyAmount: 91_540 })
    expect(quote).toMatchObject({ totalSendingAmount: 99_821, totalReceivingAmount: 91_540, feesIncluded: 320 })
  })

  test('is read alone and in the list, by its filters', async () => {
    const payer = await newPayer(world)
    const first = await newQuote(world, payer)
    world.clock.advance(1000)
    const second = await newQuote(world, payer)
    expect((await world.rest('GET', `/quotes/${first['id']}`)).body).toEqual(first)
    const customerId = payer.customer['id']
    const list = await world.rest('GET', `/quotes?customerId=${customerId}`)
    expect(list.body).toEqual({ data: [second, first], hasMore: false, totalCount: 2 })
    const page = (await world.rest('GET', `/quotes?customerId=${customerId}&limit=1`)).body
    expect(page).toMatchObject({ data: [second], hasMore: true, totalCount: 2 })
    const rest = await world.rest('GET', `/quotes?customerId=${customerId}&limit=1&cursor=${page['nextCursor']}`)
    expect(rest.body).toEqual({ data: [first], hasMore: false, totalCount: 2 })
    const filters = [
      `status=EXPIRED`,
      `sendingAccountId=${payer.euros['id']}`,
      `receivingAccountId=${payer.dollars['id']}`,
      `createdAfter=2026-01-16T00:00:00Z`,
      `createdBefore=2026-01-14T00:00:00Z`,
    ]
    for (const filter of filters) {
      expect((await world.rest('GET', `/quotes?customerId=${customerId}&${filter}`)).body['data'], filter).toEqual([])
    }
    const all = `status=PENDING&sendingAccountId=${payer.dollars['id']}&receivingAccountId=${payer.euros['id']}`
    expect((await world.rest('GET', `/quotes?${all}`)).body['data']).toHaveLength(2)
  })

  test('expires by the clock of the database: executable one millisecond before, not at the instant', async () => {
    const payer = await newPayer(world)
    const [early, late] = [await newQuote(world, payer), await newQuote(world, payer)]
    world.clock.advance(5 * 60_000 - 1)
    expect((await world.rest('POST', `/quotes/${early['id']}/execute`)).status).toBe(200)
    world.clock.advance(1)
    const refused = await world.rest('POST', `/quotes/${late['id']}/execute`)
    expect(refused).toMatchObject({ status: 409, body: { code: 'QUOTE_EXPIRED', details: { field: 'quoteId' } } })
    expect(refused.headers.get('x-should-retry')).toBe('false')
    await world.drain()
    expect((await world.rest('GET', `/quotes/${late['id']}`)).body['status']).toBe('EXPIRED')
    expect((await world.rest('GET', `/transactions/${late['transactionId']}`)).body).toMatchObject({
      status: 'EXPIRED',
      failureReason: 'QUOTE_EXPIRED',
    })
    expect((await world.rest('POST', `/quotes/${late['id']}/execute`)).body['code']).toBe('QUOTE_EXPIRED')
  })
})

describe('an executed quote', () => {
  test('debits at once, completes through the rail, and leaves balanced books', async () => {
    const payer = await newPayer(world)
    const quote = await newQuote(world, payer)
    const executed = await world.rest('POST', `/quotes/${quote['id']}/execute`)
    expect(executed).toMatchObject({
      status: 200,
      body: { id: quote['id'], status: 'PROCESSING', transactionId: quote['transactionId'], executedAt: expect.any(String) },
    })
    expect(await balanceOf(world, payer)).toBe(900_000)
    await world.drain()
    expect((await world.rest('GET', `/quotes/${quote['id']}`)).body['status']).toBe('COMPLETED')
    const { body: transaction } = await world.rest('GET', `/transactions/${quote['transactionId']}`)
    expect(transaction).toMatchObject({
      type: 'OUTGOING',
      status: 'COMPLETED',
      quoteId: quote['id'],
      customerId: payer.customer['id'],
      platformCustomerId: payer.customer['platformCustomerId'],
      source: { sourceType: 'ACCOUNT', accountId: payer.dollars['id'], currency: 'USD' },
      destination: { destinationType: 'ACCOUNT', accountId: payer.euros['id'], currency: 'EUR' },
      sentAmount: { amount: 100_000, currency: { code: 'USD' } },
      receivedAmount: { amount: 91_704, currency: { code: 'EUR' } },
      fees: 321,
      settledAt: expect.any(String),
      reconciliationInstructions: { reference: expect.stringMatching(/^REF-/) },
    })
    const postings = await world.database.query<{ kind: string; account: string; currency: string; amount: bigint }>(
      `select e.kind, a.kind::text as account, e.currency, p.amount
       from ledger_posting p join ledger_entry e on e.id = p.entry_id join ledger_account a on a.id = p.account_id
       where e.transaction_id = $1 order by p.id`,
      [quote['transactionId'].slice('Transaction:'.length)],
    )
    expect(postings.map(({ kind, account, currency, amount }) => `${kind} ${account} ${currency} ${amount}`)).toEqual([
      'DEBIT INTERNAL USD -100000',
      'DEBIT IN_FLIGHT USD 100000',
      'SETTLEMENT IN_FLIGHT USD -100000',
      'SETTLEMENT FEES USD 310',
      'SETTLEMENT FX_POSITION USD 99690',
      'PAYOUT FX_POSITION EUR -91714',
      'PAYOUT COUNTERPARTY_FEES EUR 10',
      'PAYOUT CLEARING EUR 91704',
    ])
  })

  test.each([
    ['002', 'FAILED', 'QUOTE_EXECUTION_FAILED'],
    ['003', 'FAILED', 'QUOTE_EXECUTION_FAILED'],
    ['004', 'REJECTED', undefined],
  ])('to an account that ends in %s is %s and its money returned', async (ending, status, failureReason) => {
    const payer = await newPayer(world, { ending })
    const quote = await newQuote(world, payer)
    expect((await world.rest('POST', `/quotes/${quote['id']}/execute`)).body['status']).toBe('PROCESSING')
    await world.drain()
    const { body } = await world.rest('GET', `/transactions/${quote['transactionId']}`)
    expect(body['status']).toBe(status)
    expect(body['failureReason']).toBe(failureReason)
    expect(body['refund']).toMatchObject({ reference: expect.stringMatching(/-REFUND$/), settledAt: expect.any(String) })
    expect((await world.rest('GET', `/quotes/${quote['id']}`)).body['status']).toBe('FAILED')
    expect(await balanceOf(world, payer)).toBe(1_000_000)
  })

  test('to an account that ends in 005 stays pending for thirty seconds, then fails', async () => {
    const payer = await newPayer(world, { ending: '005' })
    const quote = await newQuote(world, payer)
    await world.rest('POST', `/quotes/${quote['id']}/execute`)
    const status = async () => (await world.rest('GET', `/transactions/${quote['transactionId']}`)).body['status']
    await world.drain()
    expect(await status()).toBe('PROCESSING')
    world.clock.advance(29_999)
    await world.drain()
    expect(await status()).toBe('PROCESSING')
    world.clock.advance(1)
    await world.drain()
    expect((await world.rest('GET', `/transactions/${quote['transactionId']}`)).body).toMatchObject({
      status: 'FAILED',
      failureReason: 'TIMEOUT',
    })
    expect(await balanceOf(world, payer)).toBe(1_000_000)
  })

  test('cannot be executed again', async () => {
    const quote = await newQuote(world, await newPayer(world))
    await world.rest('POST', `/quotes/${quote['id']}/execute`)
    const again = await world.rest('POST', `/quotes/${quote['id']}/execute`)
    expect(again).toMatchObject({ status: 409, body: { code: 'QUOTE_ALREADY_EXECUTED', details: { status: 'PROCESSING' } } })
  })

  test('needs the balance when it is executed, not when it is made', async () => {
    const payer = await newPayer(world, { balance: 99_999 })
    const quote = await newQuote(world, payer)
    const refused = await world.rest('POST', `/quotes/${quote['id']}/execute`)
    expect(refused).toMatchObject({ status: 400, body: { code: 'INSUFFICIENT_BALANCE', details: { field: 'source.accountId' } } })
    expect((await world.rest('GET', `/quotes/${quote['id']}`)).body['status']).toBe('PENDING')
    expect(await balanceOf(world, payer)).toBe(99_999)
  })

  test('can be executed as it is made', async () => {
    const payer = await newPayer(world)
    const { status, body } = await world.rest('POST', '/quotes', quoteInput(payer, { immediatelyExecute: true }))
    expect(status).toBe(201)
    expect(body['status']).toBe('PROCESSING')
    expect(await balanceOf(world, payer)).toBe(900_000)
    await world.drain()
    expect((await world.rest('GET', `/transactions/${body['transactionId']}`)).body['status']).toBe('COMPLETED')
    const poor = await newPayer(world, { balance: 5 })
    const refused = await world.rest('POST', '/quotes', quoteInput(poor, { immediatelyExecute: true }))
    expect(refused.body['code']).toBe('INSUFFICIENT_BALANCE')
    expect((await world.rest('GET', `/quotes?customerId=${poor.customer['id']}`)).body['totalCount']).toBe(0)
  })
})

describe('transactions', () => {
  test('are listed by every filter, in either order', async () => {
    const payer = await newPayer(world)
    world.clock.advance(1000)
    const quote = await newQuote(world, payer)
    const customer = `customerId=${payer.customer['id']}`
    const { body: all } = await world.rest('GET', `/transactions?${customer}`)
    expect(all['data'].map(({ type }: { type: string }) => type)).toEqual(['OUTGOING', 'INCOMING'])
    const ascending = await world.rest('GET', `/transactions?${customer}&sortOrder=asc`)
    expect(ascending.body['data']).toEqual(all['data'].toReversed())
    const [outgoing, incoming] = all['data']
    const one = async (query: string) => (await world.rest('GET', `/transactions?${customer}&${query}`)).body['data']
    expect(await one('status=PENDING')).toEqual([outgoing])
    expect(await one('type=INCOMING')).toEqual([incoming])
    expect(await one(`reference=${outgoing.reconciliationInstructions.reference}`)).toEqual([outgoing])
    expect(await one(`accountIdentifier=${payer.dollars['id']}`)).toEqual([outgoing, incoming])
    expect(await one(`senderAccountIdentifier=${payer.dollars['id']}`)).toEqual([outgoing])
    expect(await one(`receiverAccountIdentifier=${payer.dollars['id']}`)).toEqual([incoming])
    expect(await one(`receiverAccountIdentifier=$nobody@example.com`)).toEqual([])
    expect(await one(`startDate=${quote['createdAt']}`)).toEqual([outgoing])
    expect(await one(`endDate=${incoming.createdAt}`)).toEqual([incoming])
    expect(
      (await world.rest('GET', `/transactions?platformCustomerId=${payer.customer['platformCustomerId']}`)).body['totalCount'],
    ).toBe(2)
  })
})
