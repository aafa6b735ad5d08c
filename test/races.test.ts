import { expect, test } from 'vitest'
import { balanceOf, newPayer, newQuote, type Payer } from './people.ts'
import { type Body, useWorld } from './world.ts'

const world = useWorld()

const times = (count: number) => Array.from({ length: count }, (_, index) => index)

async function quotesFor(payer: Payer, count: number, amount: number): Promise<Body[]> {
  const quotes: Body[] = []
  for (const _ of times(count)) quotes.push(await newQuote(world, payer, { lockedCurrencyAmount: amount }))
  return quotes
}

test('50 parallel executes of one quote give one success and 49 conflicts', async () => {
  const payer = await newPayer(world)
  const quote = await newQuote(world, payer)
  const replies = await Promise.all(times(50).map(() => world.rest('POST', `/quotes/${quote['id']}/execute`)))
  expect(replies.filter(({ status }) => status === 200)).toHaveLength(1)
  const refused = replies.filter(({ status }) => status === 409)
  expect(refused).toHaveLength(49)
  expect(new Set(refused.map(({ body }) => body['code']))).toEqual(new Set(['QUOTE_ALREADY_EXECUTED']))
  expect(await balanceOf(world, payer)).toBe(900_000)
  await world.drain()
  expect((await world.rest('GET', `/transactions/${quote['transactionId']}`)).body['status']).toBe('COMPLETED')
})

test('200 parallel payments against a balance for 50 give exactly 50 successes', async () => {
  const payer = await newPayer(world, { balance: 50 * 10_000 })
  const quotes = await quotesFor(payer, 200, 10_000)
  const replies = await Promise.all(quotes.map(({ id }) => world.rest('POST', `/quotes/${id}/execute`)))
  expect(replies.filter(({ status }) => status === 200)).toHaveLength(50)
  const refused = replies.filter(({ status }) => status !== 200)
  expect(new Set(refused.map(({ body }) => body['code']))).toEqual(new Set(['INSUFFICIENT_BALANCE']))
  expect(await balanceOf(world, payer)).toBe(0)
  await world.drain()
  const { body } = await world.rest('GET', `/transactions?customerId=${payer.customer['id']}&status=COMPLETED&type=OUTGOING`)
  expect(body['totalCount']).toBe(50)
})

test('50 parallel creations with one UMA address give one customer and 49 refusals', async () => {
  const { body: config } = await world.rest('GET', '/config')
  const umaAddress = `$race@${config['umaDomain']}`
  const create = () => world.rest('POST', '/customers', { platformCustomerId: 'race', customerType: 'INDIVIDUAL', umaAddress })
  const replies = await Promise.all(times(50).map(create))
  expect(replies.filter(({ status }) => status === 201)).toHaveLength(1)
  expect(replies.filter(({ body, status }) => status === 409 && body['code'] === 'UMA_ADDRESS_EXISTS')).toHaveLength(49)
  expect((await world.rest('GET', '/customers?platformCustomerId=race')).body['totalCount']).toBe(1)
})

test('one payment that cannot go does not touch the others that go with it', async () => {
  const [rich, poor] = [await newPayer(world), await newPayer(world, { balance: 1 })]
  const good = await quotesFor(rich, 10, 10_000)
  const bad = await quotesFor(poor, 10, 10_000)
  const mixed = good.flatMap((quote, index) => [quote, bad[index]!])
  const replies = await Promise.all(mixed.map(({ id }) => world.rest('POST', `/quotes/${id}/execute`)))
  expect(replies.map(({ status }) => status)).toEqual(times(10).flatMap(() => [200, 400]))
  expect(await balanceOf(world, rich)).toBe(900_000)
  expect(await balanceOf(world, poor)).toBe(1)
})
