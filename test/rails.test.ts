import { beforeEach, describe, expect, test } from 'vitest'
import { railReports } from '../src/core/transactions/payment-work.ts'
import { failureReasons, type RailOutcome, type RailPayment, type RailReports } from '../src/rails/port.ts'
import { balanceOf, newPayer, newQuote, newUsAccount, paymentOf, quoteInput, toldOf } from './people.ts'
import { scriptedRails } from './rails.ts'
import { type Body, useWorld } from './world.ts'

const rails = scriptedRails()
const world = useWorld({ sandboxRails: rails })

let reports: RailReports
beforeEach(() => {
  reports = railReports(() => world.gateway.core)
  rails.asked = []
  rails.payerFields = []
  rails.closed.clear()
})

async function executed(...answers: RailOutcome[]) {
  const payer = await newPayer(world)
  rails.answers.send.push(...answers)
  const quote = await newQuote(world, payer, { immediatelyExecute: true })
  return { payer, quote }
}

const bare = (id: string) => id.slice(id.indexOf(':') + 1)

async function worldIdOf(): Promise<string> {
  const [row] = await world.database.query<{ id: string }>(
    `select w.id from world w join api_token t on t.world_id = w.id where t.client_id = 'sandbox'`,
  )
  return row!.id
}

async function report(quote: Body, outcome: RailOutcome, leg: 'PULL' | 'SEND' = 'SEND'): Promise<void> {
  await reports.outcome({ worldId: await worldIdOf(), transactionId: bare(quote['transactionId']), leg, outcome })
}

describe('what a rail says of a payment', () => {
  test.each(failureReasons)('failed with %s: FAILED for that reason, and the money is back', async (reason) => {
    const { payer, quote } = await executed({ kind: 'failed', reason })
    await world.drain()
    expect(await paymentOf(world, quote)).toMatchObject({
      status: 'FAILED',
      failureReason: reason,
      refund: { settledAt: expect.any(String) },
    })
    expect(await balanceOf(world, payer)).toBe(1_000_000)
  })

  test('rejected: REJECTED; returned after it was sent: REFUNDED; both with a refund', async () => {
    for (const [kind, status] of [
      ['rejected', 'REJECTED'],
      ['returned', 'REFUNDED'],
    ] as const) {
      const { payer, quote } = await executed({ kind })
      await world.drain()
      expect(await paymentOf(world, quote)).toMatchObject({ status, refund: { settledAt: expect.any(String) } })
      expect(await toldOf(world, quote)).toEqual(['PROCESSING', status])
      expect(await balanceOf(world, payer)).toBe(1_000_000)
    }
  })

  test('accepted: SENT once, however often it says so, and then asked again when it said', async () => {
    const { quote } = await executed(
      { kind: 'pending', askAgainInMs: 1000 },
      { kind: 'accepted', askAgainInMs: 1000 },
      { kind: 'accepted', askAgainInMs: 1000 },
    )
    const seen: string[] = []
    for (const _ of [1, 2, 3, 4]) {
      await world.drain()
      seen.push((await paymentOf(world, quote))['status'])
      world.clock.advance(1000)
    }
    expect(seen).toEqual(['PROCESSING', 'SENT', 'SENT', 'COMPLETED'])
    expect(await toldOf(world, quote)).toEqual(['PROCESSING', 'SENT', 'COMPLETED'])
    expect(new Set(rails.asked.map((asked) => 'transactionId' in asked && asked.transactionId)).size).toBe(1)
  })

  test('is told with the account in full, the amount that arrives and the reference', async () => {
    const { payer, quote } = await executed()
    await world.drain()
    expect(rails.asked).toEqual([
      {
        worldId: await worldIdOf(),
        transactionId: bare(quote['transactionId']),
        reference: (await paymentOf(world, quote))['reconciliationInstructions'].reference,
        end: {
          kind: 'account',
          accountType: 'IBAN',
          primaryIdentifier: payer.euros['accountInfo'].iban,
          accountInfo: payer.euros['accountInfo'],
        },
        currency: 'EUR',
        amount: BigInt(quote['totalReceivingAmount']),
        startedAt: expect.any(Date),
      },
    ])
  })

  test('reported twice, late, or in the wrong order changes nothing twice', async () => {
    const { payer, quote } = await executed({ kind: 'pending', askAgainInMs: 3_600_000 })
    await world.drain()
    await report(quote, { kind: 'paid' }, 'PULL')
    expect((await paymentOf(world, quote))['status']).toBe('PROCESSING')
    const all: RailOutcome[] = [
      { kind: 'paid' },
      { kind: 'failed' },
      { kind: 'accepted', askAgainInMs: 1 },
      { kind: 'rejected' },
      { kind: 'returned' },
      { kind: 'paid' },
    ]
    for (const outcome of all) await report(quote, outcome)
    await Promise.all(all.map((outcome) => report(quote, outcome)))
    world.clock.advance(3_600_000)
    await world.drain()
    expect((await paymentOf(world, quote))['status']).toBe('COMPLETED')
    expect(await toldOf(world, quote)).toEqual(['PROCESSING', 'COMPLETED'])
    expect(await balanceOf(world, payer)).toBe(900_000)
  })

  test('fifty reports at once, of both kinds, settle it once', async () => {
    const { payer, quote } = await executed({ kind: 'pending', askAgainInMs: 3_600_000 })
    await world.drain()
    const kinds = Array.from({ length: 50 }, (_, index) => (index % 2 === 0 ? 'paid' : 'failed') as 'paid' | 'failed')
    await Promise.all(kinds.map((kind) => report(quote, { kind })))
    const { status } = await paymentOf(world, quote)
    expect(await toldOf(world, quote)).toEqual(['PROCESSING', status])
    expect(await balanceOf(world, payer)).toBe(status === 'COMPLETED' ? 900_000 : 1_000_000)
  })

  test('when it breaks: the payment is tried again, and is paid once', async () => {
    const { quote } = await executed()
    const send = rails.send
    rails.send = async () => {
      throw new Error('the line is dead')
    }
    await world.drain()
    expect((await paymentOf(world, quote))['status']).toBe('PROCESSING')
    rails.send = send
    world.clock.advance(10_000)
    await world.drain()
    expect((await paymentOf(world, quote))['status']).toBe('COMPLETED')
  })
})

describe('a deposit', () => {
  const deposit = async (reference: string, amount: bigint, railReference: string) =>
    reports.deposit({ worldId: await worldIdOf(), railReference, reference, currency: 'USD', amount })

  test('reported twice is one deposit, also at once, also with another amount', async () => {
    const payer = await newPayer(world, { balance: 0 })
    const { reference } = payer.dollars['fundingPaymentInstructions'][0]
    await Promise.all([1, 2, 3, 4, 5].map(() => deposit(reference, 700n, 'wire-1')))
    await deposit(reference, 900n, 'wire-1')
    expect(await balanceOf(world, payer)).toBe(700)
    await deposit(reference, 1n, 'wire-2')
    expect(await balanceOf(world, payer)).toBe(701)
  })

  test('that has to go back is retried until the rail has given it back', async () => {
    const payer = await newPayer(world, { balance: 0 })
    const quote = await newQuote(world, payer, { source: { customerId: payer.customer['id'], currency: 'USD' } })
    rails.answers.giveBack.push({ kind: 'pending', askAgainInMs: 1000 }, { kind: 'rejected' })
    await deposit(quote['paymentInstructions'][0].reference, 5n, 'wire-short')
    await world.drain()
    expect((await paymentOf(world, quote))['refund'].settledAt).toBeUndefined()
    world.clock.advance(1000)
    await world.drain()
    world.clock.advance(10_000)
    await world.drain()
    expect((await paymentOf(world, quote))['refund'].settledAt).toEqual(expect.any(String))
    expect(new Set(rails.asked.map((asked) => ('railReference' in asked ? asked.railReference : '')))).toEqual(
      new Set(['wire-short']),
    )
  })

  test('with a reference of nothing, or of a payment that is not funded this way, is refused', async () => {
    const { quote } = await executed()
    const { reference } = (await paymentOf(world, quote))['reconciliationInstructions']
    await expect(deposit('REF-UNKNOWN', 1n, 'wire-x')).rejects.toMatchObject({ code: 'REFERENCE_NOT_FOUND' })
    await expect(deposit(reference, 1n, 'wire-y')).rejects.toMatchObject({ code: 'REFERENCE_NOT_FOUND' })
    await world.drain()
  })
})

describe('where no rail carries a currency', () => {
  const refused = async (path: string, body: Body, field: string) => {
    const rows = () => world.database.query('select (select count(*) from quote), (select count(*) from transaction)')
    const before = await rows()
    const reply = await world.rest('POST', path, body)
    expect([reply.status, reply.body['code'], reply.body['details'].field]).toEqual([501, 'NOT_IMPLEMENTED', field])
    expect(reply.body['message']).toMatch(/No rail is configured/)
    expect(await rows()).toEqual(before)
  }

  test('quotes and transfers answer 501 and write nothing', async () => {
    const payer = await newPayer(world)
    const outside = await newUsAccount(world, payer.customer['id'])
    rails.closed.add('EUR')
    await refused('/quotes', quoteInput(payer), 'destination.accountId')
    await refused('/quotes', quoteInput(payer, { destination: { umaAddress: '$a@b.example' } }), 'destination.umaAddress')
    rails.closed = new Set(['USD'])
    await refused('/quotes', quoteInput(payer, { source: { currency: 'USD' } }), 'source.currency')
    await refused(
      '/transfer-out',
      { source: { accountId: payer.dollars['id'] }, destination: { accountId: outside['id'] }, amount: 100 },
      'destination.accountId',
    )
  })
})

describe('a UMA receiver', () => {
  const toUma = (payer: Awaited<ReturnType<typeof newPayer>>, fields: Body = {}) =>
    world.rest('POST', '/quotes', quoteInput(payer, { destination: { umaAddress: '$grace@bank.example' }, ...fields }))

  test('that must know who pays is told by the customer record or by the quote, or the quote is refused', async () => {
    rails.payerFields = [
      { name: 'FULL_NAME', mandatory: true },
      { name: 'BIRTH_DATE', mandatory: true },
      { name: 'EMAIL', mandatory: false },
    ]
    const payer = await newPayer(world)
    expect((await toUma(payer)).body).toMatchObject({
      status: 400,
      code: 'MISSING_MANDATORY_USER_INFO',
      details: { field: 'senderCustomerInfo', requiredFields: ['BIRTH_DATE'] },
    })
    expect((await toUma(payer, { lockedCurrencyAmount: 50_000, senderCustomerInfo: { BIRTH_DATE: '1990-12-10' } })).status).toBe(
      201,
    )
  })

  test('takes what it takes: other currencies and amounts are refused', async () => {
    const payer = await newPayer(world)
    const currency = await toUma(payer, { destination: { umaAddress: '$grace@bank.example', currency: 'MXN' } })
    expect(currency.body).toMatchObject({ code: 'INVALID_RECEIVER', details: { field: 'destination.currency' } })
    for (const lockedCurrencyAmount of [999, 90_001]) {
      const { body } = await toUma(payer, { lockedCurrencySide: 'RECEIVING', lockedCurrencyAmount })
      expect(body).toMatchObject({
        code: 'AMOUNT_OUT_OF_RANGE',
        details: { field: 'lockedCurrencyAmount', min: 1000, max: 90_000 },
      })
    }
  })
})

test('a rail is told what the receiver’s bank shall show, of quotes and transfers', async () => {
  const payer = await newPayer(world)
  const quote = await newQuote(world, payer, { remittanceInformation: 'Invoice 17', immediatelyExecute: true })
  const { body: transfer } = await world.rest('POST', '/transfer-out', {
    source: { accountId: payer.dollars['id'] },
    destination: { accountId: (await newUsAccount(world, payer.customer['id']))['id'] },
    amount: 1000,
    remittanceInformation: 'Rent',
  })
  await world.drain()
  expect(rails.asked.map((asked) => (asked as RailPayment).remittanceInformation).sort()).toEqual(['Invoice 17', 'Rent'])
  expect((await world.rest('GET', `/quotes/${quote['id']}`)).body['remittanceInformation']).toBe('Invoice 17')
  for (const payment of [quote, transfer]) {
    expect((await paymentOf(world, payment))['remittanceInformation']).toMatch(/Invoice 17|Rent/)
  }
  const { status, body } = await world.rest('POST', '/quotes', quoteInput(payer, { remittanceInformation: 'x'.repeat(81) }))
  expect([status, body['code'], body['details'].field]).toEqual([400, 'INVALID_INPUT', 'remittanceInformation'])
})
