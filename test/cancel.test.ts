import { expect, test } from 'vitest'
import { minute } from '../src/base/clock.ts'
import { internalAccountOf, newPayer, newQuote, newUsAccount, paymentOf, quoteInput, toldOf } from './people.ts'
import { type Body, useWorld } from './world.ts'

const world = useWorld()

const cancel = ({ transactionId, id }: Body, options = {}) =>
  world.rest('POST', `/transactions/${transactionId ?? id}/cancel`, undefined, options)

test('a payment nobody has executed is given up, with its quote, and its platform is told', async () => {
  const payer = await newPayer(world)
  const quote = await newQuote(world, payer)
  const { status, body } = await cancel(quote)
  expect([status, body['status'], body['failureReason']]).toEqual([200, 'EXPIRED', undefined])
  expect((await world.rest('GET', `/quotes/${quote['id']}`)).body['status']).toBe('EXPIRED')
  expect((await world.rest('POST', `/quotes/${quote['id']}/execute`)).body['code']).toBe('QUOTE_EXPIRED')
  expect(await toldOf(world, quote)).toEqual(['EXPIRED'])
  world.clock.advance(10 * minute)
  await world.drain()
  expect(await toldOf(world, quote)).toEqual(['EXPIRED'])
})

test('money that is pushed for it afterwards goes back', async () => {
  const payer = await newPayer(world)
  const quote = await newQuote(world, payer, {
    source: { sourceType: 'REALTIME_FUNDING', customerId: payer.customer['id'], currency: 'USDC' },
    lockedCurrencyAmount: 50_000_000,
  })
  await cancel(quote)
  await world.rest('POST', '/sandbox/send', { quoteId: quote['id'], currencyCode: 'USDC' })
  await world.drain()
  const payment = await paymentOf(world, quote)
  expect([payment['status'], payment['refund'].settledAt]).toEqual(['EXPIRED', expect.any(String)])
  const home = await internalAccountOf(world, payer.customer['id'], 'USDC')
  expect(home['balance'].amount).toBe(quote['totalSendingAmount'])
})

test('what has begun, ended or expired is not cancellable, and says what it is', async () => {
  const payer = await newPayer(world)
  const executed = await newQuote(world, payer)
  await world.rest('POST', `/quotes/${executed['id']}/execute`)
  const expired = await newQuote(world, payer)
  world.clock.advance(6 * minute)
  const late = await cancel(expired)
  expect([late.status, late.body['code']]).toEqual([409, 'TRANSACTION_NOT_CANCELLABLE'])
  const pulling = await newQuote(
    world,
    payer,
    quoteInput(
      { ...payer, dollars: await newUsAccount(world, payer.customer['id']) },
      { destination: { accountId: (await internalAccountOf(world, payer.customer['id'], 'EUR'))['id'] } },
    ),
  )
  await world.rest('POST', `/quotes/${pulling['id']}/execute`)
  const transfer = await world.rest('POST', '/transfer-out', {
    source: { accountId: payer.dollars['id'] },
    destination: { accountId: (await newUsAccount(world, payer.customer['id']))['id'] },
    amount: 1000,
  })
  for (const [payment, status] of [
    [executed, 'PROCESSING'],
    [pulling, 'PENDING'],
    [transfer.body, 'PROCESSING'],
  ] as const) {
    const refused = await cancel(payment)
    expect([refused.status, refused.body['code'], refused.body['details'].status]).toEqual([
      409,
      'TRANSACTION_NOT_CANCELLABLE',
      status,
    ])
  }
})

test('of cancelling and executing at once, one wins; a repeat with the key answers the same', async () => {
  const payer = await newPayer(world)
  for (let round = 0; round < 5; round += 1) {
    const quote = await newQuote(world, payer)
    const [cancelled, executed] = await Promise.all([cancel(quote), world.rest('POST', `/quotes/${quote['id']}/execute`)])
    expect([cancelled.status, executed.status].sort()).toEqual([200, 409])
    await world.drain()
  }
  const quote = await newQuote(world, payer)
  const first = await cancel(quote, { idempotencyKey: 'cancel-1' })
  expect((await cancel(quote, { idempotencyKey: 'cancel-1' })).text).toBe(first.text)
  expect((await cancel(quote)).body['code']).toBe('TRANSACTION_NOT_CANCELLABLE')
})

test('over GraphQL too', async () => {
  const quote = await newQuote(world, await newPayer(world))
  const { body } = await world.graphql(
    'mutation ($input: CancelTransactionInput!) { cancelTransaction(input: $input) { transaction { status direction } errors { code } } }',
    { input: { transactionId: quote['transactionId'] } },
  )
  expect(body['data'].cancelTransaction).toEqual({ transaction: { status: 'EXPIRED', direction: 'DEBIT' }, errors: [] })
})
