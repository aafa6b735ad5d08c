import { beforeEach, describe, expect, test } from 'vitest'
import { minute } from '../src/base/clock.ts'
import { newCustomer } from './people.ts'
import { type Body, type Credentials, useWorld } from './world.ts'

const world = useWorld()

let customer: Body

beforeEach(async () => {
  customer = await newCustomer(world)
})

async function eventsOf({ id }: Body): Promise<Body[]> {
  await world.drain()
  const { body } = await world.rest('GET', `/events?customerId=${id}`)
  return body['data'].map(({ event }: Body) => event)
}

describe('an invitation', () => {
  const invite = (fields: Body = {}, as: Credentials = world.sandbox) =>
    world.rest('POST', '/invitations', { inviterUma: customer['umaAddress'], ...fields }, { as })
  const claim = (code: string, inviteeUma = '$bob@elsewhere.example', as: Credentials = world.sandbox) =>
    world.rest('POST', `/invitations/${code}/claim`, { inviteeUma }, { as })
  const cancel = (code: string, as: Credentials = world.sandbox) =>
    world.rest('POST', `/invitations/${code}/cancel`, undefined, { as })

  test('is made, looked at by whoever has its code, claimed by any platform, and its inviter’s platform is told', async () => {
    const expiresAt = new Date(world.clock.now().getTime() + minute).toISOString()
    const { status, body: made } = await invite({ firstName: 'Bob', amountToSend: 1250, expiresAt })
    expect(status).toBe(201)
    expect(made).toEqual({
      code: expect.stringMatching(/^[0-9a-f]{8}$/),
      url: `${world.gateway.url}/i/${made['code']}`,
      status: 'PENDING',
      inviterUma: customer['umaAddress'],
      firstName: 'Bob',
      amountToSend: { amount: 1250, currency: expect.objectContaining({ code: 'USD' }) },
      expiresAt,
      createdAt: expect.any(String),
    })
    expect((await world.rest('GET', `/invitations/${made['code']}`, undefined, { as: world.stranger })).body).toEqual(made)
    const claimed = await claim(made['code'], '$Bob@Stranger.sandbox.uma.localhost', world.stranger)
    const now = world.clock.now().toISOString()
    const after = { ...made, status: 'CLAIMED', inviteeUma: '$bob@stranger.sandbox.uma.localhost', claimedAt: now }
    expect(claimed).toMatchObject({ status: 200, body: after })
    expect(await eventsOf(customer)).toEqual([
      { type: 'INVITATION_CLAIMED', webhookId: expect.any(String), timestamp: now, invitation: after },
    ])
    const { body: strangers } = await world.rest('GET', '/events?types=INVITATION_CLAIMED', undefined, { as: world.stranger })
    expect(strangers['data']).toEqual([])
  })

  test('is claimed once, also by fifty at a time', async () => {
    const { code } = (await invite()).body as { code: string }
    const answers = await Promise.all(Array.from({ length: 50 }, (_, index) => claim(code, `$bob${index}@elsewhere.example`)))
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1)
    const winner = answers.find(({ status }) => status === 200)!.body['inviteeUma']
    for (const { status, body } of answers.filter((answer) => answer.status !== 200)) {
      expect({ status, body }).toMatchObject({
        status: 400,
        body: { code: 'invitation_already_claimed', details: { status: 'CLAIMED', inviteeUma: winner } },
      })
    }
    expect(await eventsOf(customer)).toHaveLength(1)
    expect(await cancel(code)).toMatchObject({ status: 400, body: { code: 'invitation_already_claimed' } })
  })

  test('expires to the millisecond', async () => {
    const expiresAt = new Date(world.clock.now().getTime() + minute).toISOString()
    const [first, second] = [(await invite({ expiresAt })).body, (await invite({ expiresAt })).body]
    world.clock.advance(minute - 1)
    expect((await claim(first['code'])).status).toBe(200)
    world.clock.advance(1)
    const expired = { status: 400, body: { code: 'invitation_expired', details: { expirationTime: expiresAt } } }
    expect(await claim(second['code'])).toMatchObject(expired)
    expect(await cancel(second['code'])).toMatchObject(expired)
    expect((await world.rest('GET', `/invitations/${second['code']}`)).body['status']).toBe('EXPIRED')
  })

  test('is taken back by its own platform only', async () => {
    const { code } = (await invite()).body as { code: string }
    expect(await cancel(code, world.stranger)).toMatchObject({ status: 403, body: { code: 'FORBIDDEN' } })
    expect(await cancel(code)).toMatchObject({ status: 200, body: { status: 'CANCELLED' } })
    for (const again of [await cancel(code), await claim(code)]) {
      expect(again).toMatchObject({ status: 400, body: { code: 'INVITATION_CANCELLED' } })
    }
  })

  test('is refused for what it cannot be', async () => {
    const cases: [Body, number, string][] = [
      [{ inviterUma: 'nobody' }, 400, 'INVALID_UMA_ADDRESS'],
      [{ inviterUma: '$nobody@demo.sandbox.uma.localhost' }, 404, 'UMA_NOT_FOUND'],
      [{ amountToSend: 0 }, 400, 'INVALID_AMOUNT'],
      [{ expiresAt: '2020-01-01T00:00:00Z' }, 400, 'INVALID_INPUT'],
      [{ expiresAt: 'soon' }, 400, 'INVALID_INPUT'],
    ]
    for (const [fields, status, code] of cases) expect(await invite(fields)).toMatchObject({ status, body: { code } })
    expect(await claim('nonsense')).toMatchObject({ status: 404, body: { code: 'INVITATION_NOT_FOUND' } })
    const { code } = (await invite()).body as { code: string }
    expect(await claim(code, 'nobody')).toMatchObject({ status: 400, body: { code: 'INVALID_UMA_ADDRESS' } })
    // The sandbox's are not production's.
    expect(await claim(code, '$bob@elsewhere.example', world.production)).toMatchObject({ status: 404 })
  })

  test('is in the graph too', async () => {
    const create = `mutation ($input: CreateInvitationInput!) { createInvitation(input: $input) { invitation { code status amountToSend { amount } } errors { code } } }`
    const { body } = await world.graphql(create, { input: { inviterUma: customer['umaAddress'], amountToSend: '5' } })
    const { code } = body['data'].createInvitation.invitation
    const rest = `mutation ($code: String!) {
      claimInvitation(input: { invitationCode: $code, inviteeUma: "$bob@elsewhere.example" }) { invitation { status inviteeUma } errors { code } }
      cancelInvitation(input: { invitationCode: $code }) { invitation { status } errors { code } }
    }`
    expect((await world.graphql(rest, { code })).body['data']).toEqual({
      claimInvitation: { invitation: { status: 'CLAIMED', inviteeUma: '$bob@elsewhere.example' }, errors: [] },
      cancelInvitation: { invitation: null, errors: [{ code: 'invitation_already_claimed' }] },
    })
    await world.drain()
    const read = `query ($code: String!, $id: ID!) { invitation(code: $code) { status claimedAt }
      events(customerId: $id) { edges { node { type ... on InvitationClaimedEvent { invitation { code status } } } } } }`
    const seen = await world.graphql(read, { code, id: customer['id'] })
    expect(seen.body['data']).toMatchObject({
      invitation: { status: 'CLAIMED' },
      events: { edges: [{ node: { type: 'INVITATION_CLAIMED', invitation: { code, status: 'CLAIMED' } } }] },
    })
  })
})

describe('a bank account', () => {
  const begin = (customerId = customer['id']) => world.rest('POST', '/bank-link/link-tokens', { customerId })
  const complete = (linkToken: string, fields: Body = {}, as: Credentials | null = null) =>
    world.rest('POST', `/bank-link/callback/${linkToken}`, { publicToken: 'public-sandbox-1', ...fields }, { as })

  test('is linked with a token and a callback without credentials, and is told when it is there', async () => {
    const { status, body: token } = await begin()
    expect([status, token]).toEqual([
      200,
      {
        linkToken: expect.stringMatching(/^link-sandbox-/),
        expiration: new Date(world.clock.now().getTime() + 240 * minute).toISOString(),
        callbackUrl: `${world.gateway.url}/2025-10-13/bank-link/callback/${token['linkToken']}`,
        requestId: expect.stringMatching(/^req_/),
      },
    ])
    const done = await fetch(token['callbackUrl'], {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ publicToken: 'public-sandbox-1', accountId: 'checking' }),
    })
    expect([done.status, await done.json()]).toEqual([202, { message: expect.any(String), requestId: expect.any(String) }])
    const [told] = await eventsOf(customer)
    const { body } = await world.rest('GET', `/customers/external-accounts?customerId=${customer['id']}`)
    const [account] = body['data']
    expect(account).toMatchObject({
      status: 'ACTIVE',
      currency: 'USD',
      platformAccountId: 'checking',
      accountInfo: { accountType: 'US_ACCOUNT' },
    })
    expect(told).toEqual({
      type: 'ACCOUNT_STATUS',
      webhookId: expect.any(String),
      timestamp: expect.any(String),
      customerId: customer['id'],
      account: {
        accountId: account.id,
        status: 'ACTIVE',
        currency: 'USD',
        platformAccountId: 'checking',
        accountInfo: account.accountInfo,
      },
    })
  })

  test('is linked once by a token, which lives four hours', async () => {
    const [first, second] = [(await begin()).body, (await begin()).body]
    const answers = await Promise.all(Array.from({ length: 20 }, () => complete(first['linkToken'])))
    expect(answers.map(({ status }) => status).toSorted()).toEqual([202, ...Array.from({ length: 19 }, () => 409)])
    await world.drain()
    const { body } = await world.rest('GET', `/customers/external-accounts?customerId=${customer['id']}`)
    expect(body['data']).toHaveLength(1)
    world.clock.advance(240 * minute)
    expect(await complete(second['linkToken'])).toMatchObject({ status: 404, body: { code: 'NOT_FOUND' } })
    expect(await complete('link-sandbox-nonsense')).toMatchObject({ status: 404, body: { code: 'NOT_FOUND' } })
  })

  test('is refused for what it cannot be', async () => {
    const { body: token } = await begin()
    expect(await complete(token['linkToken'], { publicToken: 'nonsense' })).toMatchObject({ status: 400 })
    expect(await complete(token['linkToken'], { publicToken: undefined })).toMatchObject({ status: 400 })
    expect(await begin(`Customer:${crypto.randomUUID()}`)).toMatchObject({ status: 404, body: { code: 'USER_NOT_FOUND' } })
    const foreign = await world.rest('POST', '/bank-link/link-tokens', { customerId: customer['id'] }, { as: world.stranger })
    expect(foreign).toMatchObject({ status: 404 })
    const theirs = await newCustomer(world, {}, { as: world.production })
    const production = await world.rest('POST', '/bank-link/link-tokens', { customerId: theirs['id'] }, { as: world.production })
    expect(production).toMatchObject({ status: 501, body: { code: 'NOT_IMPLEMENTED' } })
  })

  test('is linked over the graph too, and followed there', async () => {
    const create = `mutation ($input: CreateLinkTokenInput!) { createLinkToken(input: $input) { token { linkToken } errors { code } } }`
    const { body } = await world.graphql(create, { input: { customerId: customer['id'] } })
    const { linkToken } = body['data'].createLinkToken.token
    const finish = `mutation ($input: CompleteBankLinkInput!) { completeBankLink(input: $input) { linking { message } errors { code field } } }`
    const foreign = await world.graphql(finish, { input: { linkToken, publicToken: 'public-sandbox-1' } }, { as: world.stranger })
    expect(foreign.body['data'].completeBankLink.errors).toEqual([{ code: 'NOT_FOUND', field: 'linkToken' }])
    await world.graphql(finish, { input: { linkToken, publicToken: 'public-sandbox-1' } })
    await world.drain()
    const { body: seen } = await world.graphql(
      'query ($id: ID!) { events(customerId: $id) { edges { node { __typename ... on ExternalAccountEvent { account { status } } } } } }',
      { id: customer['id'] },
    )
    expect(seen['data'].events.edges).toEqual([{ node: { __typename: 'ExternalAccountEvent', account: { status: 'ACTIVE' } } }])
  })
})
