import { type Client, createClient } from 'graphql-ws'
import { afterEach, describe, expect, test } from 'vitest'
import { WebSocket } from 'ws'
import { fund, newCustomer, newPayer, newQuote } from './people.ts'
import { type Body, basic, type Credentials, useWorld } from './world.ts'

const world = useWorld()
const clients: Client[] = []

afterEach(async () => {
  for (const client of clients.splice(0)) await client.dispose()
})

function connect(as: Credentials | null = world.sandbox): Client {
  const client = createClient({
    url: `${world.gateway.url.replace('http', 'ws')}/graphql`,
    webSocketImpl: WebSocket,
    retryAttempts: 0,
    connectionParams: as ? { authorization: basic(as) } : {},
  })
  clients.push(client)
  return client
}

const events = `subscription ($types: [EventType!], $customerId: ID, $after: String) { events(types: $types, customerId: $customerId, after: $after) {
  __typename id type cursor createdAt
  ... on PaymentEvent { transaction { id status } }
  ... on AccountStatusEvent { account { id balance { amount } } oldBalance { amount } newBalance { amount display } }
} }`

/** The next `count` events of a subscription; `whenLive` is called once it has begun. */
async function collect(client: Client, variables: Body, count: number, whenLive: () => Promise<unknown>): Promise<Body[]> {
  const seen: Body[] = []
  const subscription = client.iterate<Body>({ query: events, variables })
  const first = subscription.next()
  // A query on the same socket is answered after the subscription before it has begun.
  for await (const _ of client.iterate({ query: '{ __typename }' })) break
  await whenLive()
  for (let next = await first; ; next = await subscription.next()) {
    if (next.value?.errors) throw new Error(JSON.stringify(next.value.errors))
    seen.push(next.value!.data!['events'])
    if (seen.length === count) break
  }
  await subscription.return?.()
  return seen
}

describe('events', () => {
  test('tell a payment as it happens, in order, with balances before and after', async () => {
    const payer = await newPayer(world)
    await world.drain()
    const seen = await collect(connect(), { customerId: payer.customer['id'] }, 3, async () => {
      const quote = await newQuote(world, payer)
      await world.rest('POST', `/quotes/${quote['id']}/execute`)
      await world.drain()
    })
    expect(seen.map(({ type }) => type)).toEqual(['ACCOUNT_STATUS', 'OUTGOING_PAYMENT', 'OUTGOING_PAYMENT'])
    expect(seen[0]).toMatchObject({
      __typename: 'AccountStatusEvent',
      oldBalance: { amount: '1000000' },
      newBalance: { amount: '900000', display: '9000.00' },
      account: { id: payer.dollars['id'] },
    })
    expect(seen.slice(1).map(({ transaction }) => transaction.status)).toEqual(['PROCESSING', 'COMPLETED'])
    expect(new Set(seen.map(({ id }) => id)).size).toBe(3)
    expect(seen[0]!['id']).toMatch(/^Webhook:/)
  })

  test('resume after a cursor: what was missed, then what happens, no gap and no repeat', async () => {
    const payer = await newPayer(world)
    await world.drain()
    const variables = { customerId: payer.customer['id'], types: ['ACCOUNT_STATUS'] }
    const [first] = await collect(connect(), variables, 1, async () => {
      await fund(world, payer.dollars['id'], 1)
      await world.drain()
    })
    for (const amount of [2, 3, 4]) await fund(world, payer.dollars['id'], amount)
    await world.drain()
    const seen = await collect(connect(), { ...variables, after: first!['cursor'] }, 5, async () => {
      for (const amount of [5, 6]) await fund(world, payer.dollars['id'], amount)
      await world.drain()
    })
    const moved = seen.map(({ oldBalance, newBalance }) => Number(newBalance.amount) - Number(oldBalance.amount))
    expect(moved).toEqual([2, 3, 4, 5, 6])
  })

  test('show each event with things as they are then, not as the first event found them', async () => {
    const payer = await newPayer(world)
    await world.drain()
    const client = connect()
    const variables = { customerId: payer.customer['id'], types: ['ACCOUNT_STATUS'] }
    const subscription = client.iterate<Body>({ query: events, variables })
    const balances: string[] = []
    let next = subscription.next()
    for await (const _ of client.iterate({ query: '{ __typename }' })) break
    for (const amount of [1, 2]) {
      await fund(world, payer.dollars['id'], amount)
      await world.drain()
      balances.push((await next).value!.data!['events'].account.balance.amount)
      next = subscription.next()
    }
    void subscription.return?.()
    expect(balances).toEqual(['1000001', '1000003'])
  })

  test('never come from another world', async () => {
    const client = connect(world.stranger)
    const seen = await collect(client, {}, 1, async () => {
      await newPayer(world)
      const own = await newCustomer(world, {}, { as: world.stranger })
      const { body } = await world.rest('GET', `/customers/internal-accounts?customerId=${own['id']}`, undefined, {
        as: world.stranger,
      })
      await world.rest('POST', `/sandbox/internal-accounts/${body['data'][0].id}/fund`, { amount: 77 }, { as: world.stranger })
      await world.drain()
    })
    expect(seen[0]).toMatchObject({ newBalance: { amount: '77' } })
  })

  test('refuse a cursor this service did not write, and an id of another type', async () => {
    const refused = async (variables: Body) => {
      const { value } = await connect().iterate({ query: events, variables }).next()
      return value?.errors?.[0]?.extensions?.['code']
    }
    expect(await refused({ after: 'nonsense' })).toBe('INVALID_INPUT')
    expect(await refused({ customerId: 'Quote:x' })).toBe('INVALID_INPUT')
  })
})

/** The next results of a subscription, each with its cursor; `whenLive` makes them happen. */
async function results(query: string, variables: Body, count: number, whenLive: () => Promise<unknown>): Promise<Body[]> {
  const client = connect()
  const subscription = client.iterate<Body>({ query, variables })
  const seen = [subscription.next()]
  for await (const _ of client.iterate({ query: '{ __typename }' })) break
  await whenLive()
  while (seen.length < count) seen.push(subscription.next())
  const found = (await Promise.all(seen)).map(({ value }) => value as Body)
  await subscription.return?.()
  return found
}

describe('one thing', () => {
  test('a quote is followed by quoteUpdated, an account by internalAccountUpdated, each result with its cursor', async () => {
    const payer = await newPayer(world)
    const quote = await newQuote(world, payer)
    await world.drain()
    const execute = async () => {
      await world.rest('POST', `/quotes/${quote['id']}/execute`)
      await world.drain()
    }
    const account = results(
      'subscription ($id: ID!) { internalAccountUpdated(id: $id) { id balance { amount } } }',
      { id: payer.dollars['id'] },
      1,
      async () => {},
    )
    const query = 'subscription ($id: ID!, $after: String) { quoteUpdated(id: $id, after: $after) { id status } }'
    const seen = await results(query, { id: quote['id'] }, 2, execute)
    expect(seen.map(({ data }) => data.quoteUpdated.id)).toEqual([quote['id'], quote['id']])
    expect(seen.at(-1)!['data'].quoteUpdated.status).toBe('COMPLETED')
    const { cursor } = seen[0]!['extensions']
    const resumed = await results(query, { id: quote['id'], after: cursor }, 1, async () => {})
    expect(resumed[0]!['extensions'].cursor).toBe(seen[1]!['extensions'].cursor)
    expect((await account)[0]!['data'].internalAccountUpdated).toEqual({ id: payer.dollars['id'], balance: { amount: '900000' } })
  })

  test('a customer is followed by customerKycUpdated', async () => {
    const query = 'subscription { customerKycUpdated { id kycStatus } }'
    let customer: Body = {}
    const [seen] = await results(query, {}, 1, async () => {
      customer = await newCustomer(world, { fullName: 'Ada 002' })
      await world.drain()
    })
    expect(seen!['data'].customerKycUpdated).toEqual({ id: customer['id'], kycStatus: 'REJECTED' })
  })

  test('an external account is followed by externalAccountUpdated, an invitation by invitationClaimed', async () => {
    const customer = await newCustomer(world)
    const { body: token } = await world.rest('POST', '/bank-link/link-tokens', { customerId: customer['id'] })
    const { body: invitation } = await world.rest('POST', '/invitations', { inviterUma: customer['umaAddress'] })
    const variables = { id: customer['id'] }
    const happen = async () => {
      await fund(
        world,
        (await world.rest('GET', `/customers/internal-accounts?customerId=${customer['id']}`)).body['data'][0].id,
        5,
      )
      await world.rest('POST', `/bank-link/callback/${token['linkToken']}`, { publicToken: 'public-sandbox-1' })
      await world.rest('POST', `/invitations/${invitation['code']}/claim`, { inviteeUma: '$bob@elsewhere.example' })
      await world.drain()
    }
    const linked = results(
      'subscription ($id: ID!) { externalAccountUpdated(customerId: $id) { status currency } }',
      variables,
      1,
      async () => {},
    )
    const [claimed] = await results(
      'subscription ($id: ID!) { invitationClaimed(customerId: $id) { code status } }',
      variables,
      1,
      happen,
    )
    expect((await linked)[0]!['data'].externalAccountUpdated).toEqual({ status: 'ACTIVE', currency: 'USD' })
    expect(claimed!['data'].invitationClaimed).toEqual({ code: invitation['code'], status: 'CLAIMED' })
  })

  test('is not followed by whoever may not see it, or when it is not there', async () => {
    const refused = async (field: string, id: string, as = world.sandbox) => {
      const { value } = await connect(as)
        .iterate({ query: `subscription ($id: ID!) { ${field}(id: $id) { id } }`, variables: { id } })
        .next()
      return (value as Body)?.['errors']?.[0]?.extensions?.code
    }
    const quote = await newQuote(world, await newPayer(world))
    expect(await refused('quoteUpdated', quote['id'], world.stranger)).toBe('QUOTE_NOT_FOUND')
    expect(await refused('quoteUpdated', `Quote:${crypto.randomUUID()}`, world.stranger)).toBe('QUOTE_NOT_FOUND')
    expect(await refused('internalAccountUpdated', quote['id'])).toBe('INVALID_INPUT')
    const { body: token } = await world.rest('POST', '/tokens', { name: 'payer', permissions: ['TRANSACT'] })
    expect(await refused('quoteUpdated', quote['id'], token as Credentials)).toBe('FORBIDDEN')
  })
})

describe('a pending incoming payment', () => {
  test('arrives with its deadline and is decided over the same socket', async () => {
    await world.rest('PATCH', '/config', { incomingPaymentApproval: 'API' })
    const customer = await newCustomer(world, { fullName: undefined })
    const client = connect()
    const query = `subscription ($customerId: ID!) { events(customerId: $customerId, types: [INCOMING_PAYMENT]) {
      ... on PaymentEvent { transaction { id status } approvalDeadline requestedReceiverUserInfoFields { name mandatory } }
    } }`
    const subscription = client.iterate<Body>({ query, variables: { customerId: customer['id'] } })
    const asked = subscription.next()
    for await (const _ of client.iterate({ query: '{ __typename }' })) break
    await world.rest('POST', '/sandbox/uma/receive', {
      senderUmaAddress: '$success.usd@sandbox.uma.localhost',
      customerId: customer['id'],
      receivingCurrencyCode: 'USD',
      receivingCurrencyAmount: 500,
    })
    await world.drain()
    const { transaction, approvalDeadline, requestedReceiverUserInfoFields } = (await asked).value!.data!['events']
    expect(Date.parse(approvalDeadline) - world.clock.now().getTime()).toBe(5000)
    expect(requestedReceiverUserInfoFields).toContainEqual({ name: 'FULL_NAME', mandatory: true })
    const approve = `mutation ($input: ApproveTransactionInput!) { approveTransaction(input: $input) { transaction { status } errors { code } } }`
    const input = { transactionId: transaction.id, receiverUserInfo: [{ name: 'FULL_NAME', value: 'Ada' }] }
    for await (const { data } of client.iterate<Body>({ query: approve, variables: { input } })) {
      expect(data!['approveTransaction']).toEqual({ transaction: { status: 'PROCESSING' }, errors: [] })
    }
    await world.drain()
    expect((await subscription.next()).value!.data!['events'].transaction.status).toBe('COMPLETED')
    await subscription.return?.()
  })
})

describe('one payment', () => {
  test('is followed by transactionUpdated', async () => {
    const payer = await newPayer(world, { ending: '004' })
    const quote = await newQuote(world, payer)
    await world.drain()
    const query = 'subscription ($id: ID!) { transactionUpdated(id: $id) { status refund { reference } } }'
    const client = connect()
    const subscription = client.iterate<Body>({ query, variables: { id: quote['transactionId'] } })
    const first = subscription.next()
    for await (const _ of client.iterate({ query: '{ __typename }' })) break
    await world.rest('POST', `/quotes/${quote['id']}/execute`)
    await world.drain()
    expect((await first).value!.data!['transactionUpdated']).toEqual({ status: 'PROCESSING', refund: null })
    expect((await subscription.next()).value!.data!['transactionUpdated']).toMatchObject({
      status: 'REJECTED',
      refund: { reference: expect.any(String) },
    })
    await subscription.return?.()
  })
})
