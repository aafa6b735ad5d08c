import { expect, test } from 'vitest'
import { balanceOf, newPayer, newQuote, quoteInput } from './people.ts'
import { basic, useWorld } from './world.ts'

const world = useWorld()

let count = 0
const newKey = () => `key-${++count}`

test('a repeated key is answered with the same bytes, and does nothing again', async () => {
  const payer = await newPayer(world)
  const idempotencyKey = newKey()
  const call = () => world.rest('POST', '/quotes', quoteInput(payer), { idempotencyKey })
  const first = await call()
  world.clock.advance(60_000)
  const second = await call()
  expect(first.status).toBe(201)
  expect(second.status).toBe(201)
  expect(second.text).toBe(first.text)
  expect((await world.rest('GET', `/quotes?customerId=${payer.customer['id']}`)).body['totalCount']).toBe(1)
})

test('a repeat is answered as the first was, also where it would now be refused', async () => {
  const payer = await newPayer(world, { balance: 100_000 })
  const quote = await newQuote(world, payer)
  const idempotencyKey = newKey()
  const execute = () => world.rest('POST', `/quotes/${quote['id']}/execute`, undefined, { idempotencyKey })
  const first = await execute()
  await world.drain()
  world.clock.advance(3_600_000)
  const second = await execute()
  expect(second.text).toBe(first.text)
  expect(second.body['status']).toBe('PROCESSING')
  expect(await balanceOf(world, payer)).toBe(0)
})

test('the reply of a funding keeps the balance it left', async () => {
  const payer = await newPayer(world, { balance: 500 })
  const idempotencyKey = newKey()
  const path = `/sandbox/internal-accounts/${payer.dollars['id']}/fund`
  const first = await world.rest('POST', path, { amount: 100 }, { idempotencyKey })
  await world.rest('POST', path, { amount: 7 })
  const second = await world.rest('POST', path, { amount: 100 }, { idempotencyKey })
  expect(first.body['balance'].amount).toBe(600)
  expect(second.text).toBe(first.text)
  expect(await balanceOf(world, payer)).toBe(607)
})

test('the same key with another input is refused, whatever the order of fields', async () => {
  const payer = await newPayer(world)
  const idempotencyKey = newKey()
  const input = quoteInput(payer)
  await world.rest('POST', '/quotes', input, { idempotencyKey })
  const reordered = Object.fromEntries(Object.entries(input).toReversed())
  expect((await world.rest('POST', '/quotes', { ...reordered, unknown: 1 }, { idempotencyKey })).status).toBe(201)
  const other = await world.rest('POST', '/quotes', { ...input, lockedCurrencyAmount: 100_001 }, { idempotencyKey })
  expect(other).toMatchObject({ status: 409, body: { code: 'IDEMPOTENCY_KEY_REUSED', details: { field: 'Idempotency-Key' } } })
})

test('one key is one act through both doors', async () => {
  const payer = await newPayer(world)
  const idempotencyKey = newKey()
  const first = await world.rest('POST', '/quotes', quoteInput(payer), { idempotencyKey })
  const { body } = await world.graphql(
    'mutation ($input: CreateQuoteInput!) { createQuote(input: $input) { quote { id totalSendingAmount { amount } } errors { code } } }',
    {
      input: {
        source: { account: { accountId: payer.dollars['id'] } },
        destination: { account: { accountId: payer.euros['id'] } },
        lockedCurrencySide: 'SENDING',
        lockedCurrencyAmount: '100000',
        idempotencyKey,
      },
    },
  )
  expect(body).toMatchObject({
    data: { createQuote: { quote: { id: first.body['id'], totalSendingAmount: { amount: '100000' } }, errors: [] } },
  })
})

test('50 parallel calls with one key do it once and are all answered alike', async () => {
  const payer = await newPayer(world)
  const idempotencyKey = newKey()
  const path = `/sandbox/internal-accounts/${payer.dollars['id']}/fund`
  const replies = await Promise.all(Array.from({ length: 50 }, () => world.rest('POST', path, { amount: 1 }, { idempotencyKey })))
  expect(new Set(replies.map(({ status }) => status))).toEqual(new Set([200]))
  expect(new Set(replies.map(({ text }) => text)).size).toBe(1)
  expect(await balanceOf(world, payer)).toBe(1_000_001)
})

test('a key belongs to its world and to its operation', async () => {
  const idempotencyKey = newKey()
  const create = { platformCustomerId: 'same', customerType: 'INDIVIDUAL' }
  const mine = await world.rest('POST', '/customers', create, { idempotencyKey })
  const theirs = await world.rest('POST', '/customers', create, { idempotencyKey, as: world.stranger })
  expect(theirs.status).toBe(201)
  expect(theirs.body['id']).not.toBe(mine.body['id'])
  const token = await world.rest('POST', '/tokens', { name: 'x', permissions: ['VIEW'] }, { idempotencyKey })
  expect(token.status).toBe(201)
})

test('a refused call leaves its key free', async () => {
  const payer = await newPayer(world, { balance: 0 })
  const quote = await newQuote(world, payer)
  const idempotencyKey = newKey()
  const execute = () => world.rest('POST', `/quotes/${quote['id']}/execute`, undefined, { idempotencyKey })
  expect((await execute()).body['code']).toBe('INSUFFICIENT_BALANCE')
  await world.rest('POST', `/sandbox/internal-accounts/${payer.dollars['id']}/fund`, { amount: 100_000 })
  expect((await execute()).status).toBe(200)
})

test('a key is 1 to 255 visible characters', async () => {
  for (const idempotencyKey of ['x'.repeat(256), 'a b']) {
    const { status, body } = await world.rest('POST', '/customers', {}, { idempotencyKey })
    expect(status).toBe(400)
    expect(body).toMatchObject({ code: 'INVALID_INPUT' })
  }
})

test('the secret of a new token is not remembered: the repeat comes without it', async () => {
  const idempotencyKey = newKey()
  const call = () => world.rest('POST', '/tokens', { name: 'shown once', permissions: ['VIEW'] }, { idempotencyKey })
  const [first, second] = [await call(), await call()]
  expect(second.body['id']).toBe(first.body['id'])
  expect(second.body).not.toHaveProperty('clientSecret')
  const stored = await world.database.query<{ reply: unknown }>('select reply from idempotency_key where key = $1', [
    idempotencyKey,
  ])
  expect(JSON.stringify(stored)).not.toContain(first.body['clientSecret'])
  expect(basic(first.body as never)).toMatch(/^Basic /)
})
