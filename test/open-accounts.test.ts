/** A platform takes a new currency: whoever is a customer already has an account in it. */
import { expect, test } from 'vitest'
import { second } from '../src/base/clock.ts'
import { fund, internalAccountOf, newCustomer } from './people.ts'
import { type Body, useWorld } from './world.ts'

const world = useWorld()

const accountsIn = async (currency: string): Promise<Body[]> => {
  const { body } = await world.rest('GET', `/customers/internal-accounts?currency=${currency}&limit=100&total=exact`)
  return body['data']
}

async function takeUp(...codes: string[]): Promise<void> {
  const { body: config } = await world.rest('GET', '/config')
  const added = codes.map((currencyCode) => ({ currencyCode, minAmount: 1, maxAmount: 1_000_000 }))
  const { status, body } = await world.rest('PATCH', '/config', {
    supportedCurrencies: [
      ...config['supportedCurrencies'].map(({ providerRequiredCustomerFields: _fields, ...one }: Body) => one),
      ...added,
    ],
  })
  expect([status, JSON.stringify(body)]).toEqual([200, expect.any(String)])
}

async function drained(): Promise<void> {
  world.clock.advance(2 * second)
  // Each portion leaves the next one's task.
  for (let portion = 0; portion < 4; portion += 1) await world.drain()
}

test('everybody gets one, once, portion by portion; whoever is deleted does not', async () => {
  const customers: Body[] = []
  for (let count = 0; count < 5; count += 1) customers.push(await newCustomer(world))
  const [gone, ...there] = customers
  await world.rest('DELETE', `/customers/${gone!['id']}`)
  // More than a portion, none of whom has an account yet.
  await world.database.query(
    `insert into customer (id, world_id, platform_customer_id, customer_type, uma_address, kyc_status, is_deleted, created_at, updated_at, version)
     select gen_random_uuid(), c.world_id, 'many-' || n, 'INDIVIDUAL', '$many' || n || '@x', 'APPROVED', false, c.created_at, c.created_at, 1
     from customer c cross join generate_series(1, 430) n where c.id = $1`,
    [there[0]!['id'].slice('Customer:'.length)],
  )
  await takeUp('SGD')
  expect(await accountsIn('SGD')).toEqual([])
  await drained()
  const count = async (currency: string) =>
    (
      await world.database.query<{ count: bigint }>('select count(*) as count from internal_account where currency = $1', [
        currency,
      ])
    )[0]!.count
  // And the platform's own.
  expect(await count('SGD')).toBe(435n)
  for (const { id } of there) expect(await internalAccountOf(world, id, 'SGD')).toMatchObject({ balance: { amount: 0 } })
  expect(await internalAccountOf(world, gone!['id'], 'SGD')).toBeUndefined()

  // Twice at once: two chains of portions go by each other.
  await Promise.all([takeUp('HKD'), takeUp('HKD')].map((one) => one.catch(() => {})))
  await drained()
  expect(await count('HKD')).toBe(435n)
  await fund(world, (await internalAccountOf(world, there[1]!['id'], 'HKD'))['id'], 500)
  expect(await world.database.query("select 1 from task where kind = 'open-accounts'")).toEqual([])
})

test('a new customer has them all from the beginning', async () => {
  const { id } = await newCustomer(world)
  for (const currency of ['USD', 'SGD', 'HKD']) expect(await internalAccountOf(world, id, currency)).toBeDefined()
})
