import { beforeEach, describe, expect, test } from 'vitest'
import { minute } from '../src/base/clock.ts'
import { coreWork } from '../src/core/work.ts'
import { newCustomer } from './people.ts'
import { type Body, basic, type Credentials, useWorld } from './world.ts'

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
    expect(await complete('%00')).toMatchObject({ status: 404 })
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

describe('a file of customers', () => {
  const upload = async (
    csv: string | Uint8Array,
    { field = 'file', as = world.sandbox }: { field?: string; as?: Credentials } = {},
  ) => {
    const form = new FormData()
    form.append(field, new Blob([csv as BlobPart], { type: 'text/csv' }), 'customers.csv')
    const response = await fetch(`${world.gateway.url}/2025-10-13/customers/bulk/csv`, {
      method: 'POST',
      headers: { authorization: basic(as) },
      body: form,
    })
    return { status: response.status, body: (await response.json()) as Body }
  }
  const jobOf = async (jobId: string, as = world.sandbox) => world.rest('GET', `/customers/bulk/jobs/${jobId}`, undefined, { as })
  const columns =
    'umaAddress,platformCustomerId,customerType,fullName,birthDate,addressLine1,city,state,postalCode,country,businessLegalName,accountType,accountNumber,routingNumber,accountCategory,bankName'
  let count = 0
  const person = (fields: Body = {}) => {
    count += 1
    const row: Body = {
      platformCustomerId: `bulk-${count}`,
      customerType: 'INDIVIDUAL',
      fullName: 'Ada Lovelace',
      birthDate: '1990-01-01',
      addressLine1: '"1, Main Street"',
      city: 'Springfield',
      state: 'IL',
      postalCode: '62701',
      country: 'US',
      ...fields,
    }
    return columns
      .split(',')
      .map((column) => row[column] ?? '')
      .join(',')
  }

  test('becomes customers with their accounts; what cannot be taken is said row by row; and it is told once', async () => {
    const uma = `$bulk${Date.now()}@demo.sandbox.uma.localhost`
    const csv = [
      `\ufeff${columns}`,
      person({ platformCustomerId: 'first', umaAddress: uma }),
      person({ customerType: 'BUSINESS', fullName: '', birthDate: '', businessLegalName: 'Analytical Engines Ltd' }),
      person({
        accountType: 'US_ACCOUNT',
        accountNumber: '123456789',
        routingNumber: '021000021',
        accountCategory: 'CHECKING',
        bankName: 'Bank',
      }),
      person({ platformCustomerId: 'nameless', fullName: '' }),
      person({ platformCustomerId: 'born', birthDate: '1990-13-01' }),
      person({ platformCustomerId: 'again', umaAddress: uma.slice(1).toUpperCase() }),
      person({ platformCustomerId: '' }),
      person({ platformCustomerId: 'formula', fullName: '"=HYPERLINK(""http://evil.example"")"' }),
      person({
        platformCustomerId: 'bank',
        accountType: 'US_ACCOUNT',
        accountNumber: 'x',
        routingNumber: '1',
        accountCategory: 'CHECKING',
        bankName: 'Bank',
      }),
      '',
    ].join('\r\n')
    const { status, body } = await upload(csv)
    expect([status, body]).toEqual([202, { jobId: expect.stringMatching(/^Job:/), status: 'PENDING' }])
    expect((await jobOf(body['jobId'])).body).toMatchObject({ status: 'PENDING', progress: { total: 9, processed: 0 } })
    await world.drain()
    const { body: job } = await jobOf(body['jobId'])
    expect(job).toMatchObject({
      jobId: body['jobId'],
      status: 'COMPLETED',
      progress: { total: 9, processed: 9, successful: 3, failed: 6 },
      completedAt: expect.any(String),
    })
    expect(job['errors'].map(({ correlationId, error }: Body) => [correlationId, error.code, error.details.field])).toEqual([
      ['nameless', 'validation_error', 'fullName'],
      ['born', 'validation_error', 'birthDate'],
      ['again', 'UMA_ADDRESS_EXISTS', 'umaAddress'],
      ['row_7', 'validation_error', 'platformCustomerId'],
      ['formula', 'validation_error', 'fullName'],
      ['bank', 'INVALID_BANK_ACCOUNT', 'accountInfo.accountNumber'],
    ])
    const made = await world.rest('GET', '/customers?platformCustomerId=first')
    expect(made.body['data']).toMatchObject([{ umaAddress: uma, address: { line1: '1, Main Street' }, kycStatus: 'APPROVED' }])
    const { body: events } = await world.rest('GET', `/events?resourceId=${body['jobId']}`)
    expect(events['data'].map(({ event }: Body) => event)).toEqual([
      { type: 'BULK_UPLOAD', webhookId: expect.any(String), timestamp: expect.any(String), bulkCustomerImportJob: job },
    ])
    const graph = await world.graphql(
      'query ($id: ID!) { bulkImportJob(id: $id) { status total successful failed errors { correlationId code row field } } }',
      { id: body['jobId'] },
    )
    expect(graph.body['data'].bulkImportJob).toMatchObject({ status: 'COMPLETED', total: 9, successful: 3, failed: 6 })
    expect(graph.body['data'].bulkImportJob.errors[3]).toEqual({
      correlationId: 'row_7',
      code: 'validation_error',
      row: 7,
      field: 'platformCustomerId',
    })
    const foreign = await jobOf(body['jobId'], world.stranger)
    expect(foreign).toMatchObject({ status: 404, body: { code: 'BULK_UPLOAD_JOB_NOT_FOUND' } })
    expect(foreign.text).toBe((await jobOf(`Job:${crypto.randomUUID()}`)).text)
  })

  test('of more rows than are taken at once makes each customer once, also by two workers', async () => {
    const rows = Array.from({ length: 430 }, (_, index) => person({ platformCustomerId: `many-${index}` }))
    const { body } = await upload([columns, ...rows].join('\n'))
    const tasks = await world.database.query<{ id: string; worldId: string }>(
      `select id, world_id as "worldId" from task where kind = 'import-customers'`,
    )
    const work = coreWork(world.gateway.core)['import-customers']!
    const task = { ...tasks[0]!, kind: 'import-customers', subjectId: tasks[0]!.id, dueAt: new Date(0), attempts: 1 }
    // A part of it, and then others have their turn.
    expect(await work(task)).toEqual({ againInMs: 0 })
    expect((await jobOf(body['jobId'])).body).toMatchObject({ status: 'PROCESSING', progress: { processed: 320 } })
    await Promise.all([work(task), work(task), work(task)])
    await world.drain()
    expect((await jobOf(body['jobId'])).body).toMatchObject({
      status: 'COMPLETED',
      progress: { total: 430, successful: 430, failed: 0 },
    })
    const [{ made }] = (await world.database.query<{ made: bigint }>(
      `select count(*) as made from customer where platform_customer_id like 'many-%'`,
    )) as [{ made: bigint }]
    expect(Number(made)).toBe(430)
    expect((await world.rest('GET', `/events?resourceId=${body['jobId']}`)).body['data']).toHaveLength(1)
  })

  test('that is not CSV fails as a job; one without the columns, or that is no file, is refused', async () => {
    const { status, body } = await upload(`${columns}\n${person()}\n"never closed,INDIVIDUAL`)
    expect([status, body['status']]).toEqual([202, 'FAILED'])
    const { body: job } = await jobOf(body['jobId'])
    expect(job).toMatchObject({
      status: 'FAILED',
      progress: { successful: 0 },
      errors: [{ correlationId: 'row_2', error: { code: 'invalid_csv_format' } }],
      completedAt: expect.any(String),
    })
    await world.drain()
    expect((await world.rest('GET', `/events?resourceId=${body['jobId']}`)).body['data'][0].event.bulkCustomerImportJob).toEqual(
      job,
    )
    expect(await upload('platformCustomerId,fullName\nx,Ada')).toMatchObject({
      status: 400,
      body: { code: 'INVALID_INPUT', details: { field: 'file', reason: 'missing_required_column', column: 'customerType' } },
    })
    expect(await upload('', { field: 'other' })).toMatchObject({ status: 400, body: { details: { field: 'file' } } })
    expect(await world.rest('POST', '/customers/bulk/csv', {})).toMatchObject({
      status: 400,
      body: { code: 'INVALID_REQUEST_FORMAT' },
    })
    const { body: token } = await world.rest('POST', '/tokens', { name: 'reader', permissions: ['VIEW'] })
    expect((await upload(columns, { as: token as Credentials })).status).toBe(403)
    const form = new FormData()
    form.append('platformCustomerId', 'x')
    const elsewhere = await fetch(`${world.gateway.url}/2025-10-13/customers`, {
      method: 'POST',
      headers: { authorization: basic(world.sandbox) },
      body: form,
    })
    expect(elsewhere.status).toBe(400)
  })

  test('with bytes that are not UTF-8, or with NULs, says which rows', async () => {
    const bad = Buffer.concat([
      Buffer.from(`${columns}\n${person({ platformCustomerId: 'latin', city: 'M' })}`).subarray(0, -1),
      Buffer.from([0xfc, 0x0a]),
      Buffer.from(person({ platformCustomerId: 'nul', city: 'a\u0000b' })),
      Buffer.from(`\n${person({ platformCustomerId: 'good' })}`),
    ])
    const { body } = await upload(bad)
    await world.drain()
    const { body: job } = await jobOf(body['jobId'])
    expect(job).toMatchObject({ status: 'COMPLETED', progress: { total: 3, successful: 1, failed: 2 } })
  })
})

describe('a link to be verified by', () => {
  const link = (query: string) => world.rest('GET', `/customers/kyc-link?${query}`)

  test('makes the customer who is to be verified, once, and a new url every time', async () => {
    const first = await link('platformCustomerId=new-1&redirectUri=https%3A%2F%2Fplatform.example%2Fback')
    expect(first.body).toEqual({
      kycUrl: expect.stringMatching(/\/onboard\/\w{12}$/),
      platformCustomerId: 'new-1',
      customerId: expect.stringMatching(/^Customer:/),
    })
    const second = await link('platformCustomerId=new-1')
    expect(second.body['customerId']).toBe(first.body['customerId'])
    expect(second.body['kycUrl']).not.toBe(first.body['kycUrl'])
    const { body: person } = await world.rest('GET', `/customers/${first.body['customerId']}`)
    expect([person['kycStatus'], person['platformCustomerId'], person['customerType']]).toEqual([
      'NOT_STARTED',
      'new-1',
      'INDIVIDUAL',
    ])
    const [row] = await world.database.query<{ clear: boolean }>(
      'select code_hash = $1 as clear from kyc_link order by created_at limit 1',
      [first.body['kycUrl'].split('/').at(-1)],
    )
    expect(row!.clear).toBe(false)
  })

  test('is of the customer of the same type who waits for it; one who has been verified gets a new self', async () => {
    const waiting = await newCustomer(world, { platformCustomerId: 'known-1', fullName: 'Ada 003' })
    expect((await link('platformCustomerId=known-1')).body['customerId']).toBe(waiting['id'])
    expect((await link('platformCustomerId=known-1&customerType=BUSINESS')).body['customerId']).not.toBe(waiting['id'])
    const approved = await newCustomer(world, { platformCustomerId: 'known-2' })
    expect((await link('platformCustomerId=known-2')).body['customerId']).not.toBe(approved['id'])
  })

  test('wants to know who, and an address to come back to that is one', async () => {
    for (const [query, field] of [
      ['', 'platformCustomerId'],
      ['platformCustomerId=a&redirectUri=javascript:alert(1)', 'redirectUri'],
      ['platformCustomerId=a&customerType=CAT', 'customerType'],
    ] as const) {
      const { status, body } = await link(query)
      expect([status, body['code'], body['details'].field]).toEqual([400, 'INVALID_INPUT', field])
    }
  })
})
