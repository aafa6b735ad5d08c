import { afterEach, describe, expect, test } from 'vitest'
import { newPayer, newQuote, paymentOf } from './people.ts'
import { type Body, useWorld } from './world.ts'

const hour = 3_600_000

const world = useWorld()

afterEach(() => {
  world.skew.ms = 0
})

// Once the quotes are made, the clock of the process jumps and stays wrong; in time is still exactly what the database's clock says.
describe.each([
  ['right', 0],
  ['an hour ahead', hour],
  ['an hour behind', -hour],
])('with a clock that is %s', (_name, skewMs) => {
  /** Quotes, and how far the database's clock is from their end. */
  async function quotes(fields: (payer: Awaited<ReturnType<typeof newPayer>>) => Body = () => ({})): Promise<Body[]> {
    const made: Body[] = []
    for (let index = 0; index < 2; index += 1) {
      const payer = await newPayer(world)
      made.push(await newQuote(world, payer, fields(payer)))
    }
    world.clock.advance(Date.parse(made[0]!['expiresAt']) - world.clock.now().getTime() - 1)
    world.skew.ms = skewMs
    return made
  }

  test('a quote is executed a millisecond before its end, and not at its end', async () => {
    const [early, late] = await quotes()
    expect((await world.rest('POST', `/quotes/${early!['id']}/execute`)).status).toBe(200)
    await world.drain()
    expect((await world.rest('GET', `/quotes/${late!['id']}`)).body['status']).toBe('PENDING')
    world.clock.advance(1)
    const refused = await world.rest('POST', `/quotes/${late!['id']}/execute`)
    expect(refused).toMatchObject({ status: 409, body: { code: 'QUOTE_EXPIRED' } })
    await world.drain()
    expect((await world.rest('GET', `/quotes/${late!['id']}`)).body['status']).toBe('EXPIRED')
    expect((await paymentOf(world, early!))['status']).toBe('COMPLETED')
  })

  test('money is in time a millisecond before the end, and goes back at the end', async () => {
    const [early, late] = await quotes(({ customer }) => ({ source: { customerId: customer['id'], currency: 'USD' } }))
    const send = async (quote: Body) =>
      (await world.rest('POST', '/sandbox/send', { quoteId: quote['id'], currencyCode: 'USD' })).body['status']
    expect(await send(early!)).toBe('PROCESSING')
    world.clock.advance(1)
    expect(await send(late!)).toBe('EXPIRED')
    await world.drain()
    expect((await paymentOf(world, late!))['refund'].settledAt).toEqual(expect.any(String))
  })

  test('fifty executes at the end itself: expired, every one, and nothing moved', async () => {
    const [quote] = await quotes()
    world.clock.advance(1)
    const replies = await Promise.all([
      world.drain(),
      ...Array.from({ length: 50 }, () => world.rest('POST', `/quotes/${quote!['id']}/execute`)),
    ])
    const refused = replies.slice(1) as { body: Body }[]
    expect(new Set(refused.map(({ body }) => body['code']))).toEqual(new Set(['QUOTE_EXPIRED']))
    expect((await paymentOf(world, quote!))['status']).toBe('EXPIRED')
  })
})
