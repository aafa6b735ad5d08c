import { describe, expect, test } from 'vitest'
import { internalAccountOf, newCustomer, newIbanAccount, newPayer, newQuote, quoteInput } from './people.ts'
import { type Body, type Credentials, useWorld } from './world.ts'

const world = useWorld()

async function rowCounts(): Promise<unknown> {
  const tables = [
    'customer',
    'external_account',
    'quote',
    'transaction',
    'ledger_entry',
    'event',
    'task',
    'idempotency_key',
    'api_token',
  ]
  return world.database.query(tables.map((table) => `select '${table}' as name, count(*) from ${table}`).join(' union all '))
}

/** Refused over REST with this status, code and field; and nothing is written. */
async function expectRefused(
  [method, path, body]: [string, string, unknown?],
  [status, code, field]: [number, string, string?],
  as: Credentials | null = world.sandbox,
): Promise<void> {
  const before = await rowCounts()
  const reply = await world.rest(method, path, body, { as })
  expect([path, JSON.stringify(body)?.slice(0, 200), reply.status, reply.body['code'], reply.body['details']?.field]).toEqual([
    path,
    JSON.stringify(body)?.slice(0, 200),
    status,
    code,
    field,
  ])
  expect(reply.body['status']).toBe(status)
  expect(reply.body['message']).toEqual(expect.any(String))
  expect(await rowCounts()).toEqual(before)
}

describe('credentials', () => {
  test('that are missing, wrong or unreadable answer 401', async () => {
    const wrong = { clientId: 'sandbox', clientSecret: 'wrong' }
    const production = { clientId: 'sandbox', clientSecret: 'production-secret' }
    for (const as of [null, wrong, production, { clientId: '', clientSecret: '' }]) {
      await expectRefused(['GET', '/quotes'], [401, 'UNAUTHORIZED'], as)
    }
    for (const authorization of ['Bearer x', 'Basic', 'Basic !!!', 'Basic c2FuZGJveA==', `Basic ${'A'.repeat(5000)}`]) {
      const reply = await world.rest('GET', '/quotes', undefined, { as: null, headers: { authorization } })
      expect(reply).toMatchObject({ status: 401, body: { code: 'UNAUTHORIZED' } })
      expect(reply.headers.get('www-authenticate')).toMatch(/^Basic/)
    }
  })

  test('without the permission answer 403, each kind of call for its own', async () => {
    const tokens: Record<string, Credentials> = {}
    for (const permission of ['VIEW', 'TRANSACT', 'MANAGE']) {
      tokens[permission] = (await world.rest('POST', '/tokens', { name: permission, permissions: [permission] }))
        .body as Credentials & Body
    }
    const payer = await newPayer(world)
    const quote = await newQuote(world, payer)
    const calls: [string, string, string, unknown?][] = [
      ['VIEW', 'GET', '/config'],
      ['VIEW', 'GET', '/quotes'],
      ['VIEW', 'GET', `/customers/${payer.customer['id']}`],
      ['VIEW', 'GET', '/tokens'],
      ['TRANSACT', 'POST', '/quotes', quoteInput(payer)],
      ['TRANSACT', 'POST', `/quotes/${quote['id']}/execute`],
      ['TRANSACT', 'POST', `/sandbox/internal-accounts/${payer.dollars['id']}/fund`, { amount: 1 }],
      ['MANAGE', 'POST', '/customers', { platformCustomerId: 'x', customerType: 'INDIVIDUAL' }],
      ['MANAGE', 'PATCH', '/config', {}],
      ['MANAGE', 'POST', '/tokens', { name: 'x', permissions: ['VIEW'] }],
    ]
    for (const [needed, method, path, body] of calls) {
      for (const [held, as] of Object.entries(tokens)) {
        if (held !== needed) await expectRefused([method, path, body], [403, 'FORBIDDEN'], as)
      }
      const allowed = await world.rest(method, path, body, { as: tokens[needed]! })
      expect([path, allowed.status < 300]).toEqual([path, true])
    }
  })

  test('of a deleted token are dead within a second', async () => {
    const { body: token } = await world.rest('POST', '/tokens', { name: 'short-lived', permissions: ['VIEW'] })
    const as = token as Credentials & Body
    expect((await world.rest('GET', '/config', undefined, { as })).status).toBe(200)
    expect((await world.rest('DELETE', `/tokens/${token['id']}`)).status).toBe(204)
    expect((await world.rest('GET', '/config', undefined, { as })).status).toBe(401)
    await expectRefused(['GET', `/tokens/${token['id']}`], [404, 'TOKEN_NOT_FOUND', 'tokenId'])
  })

  test('of production do not work sandbox endpoints', async () => {
    const payer = await newPayer(world)
    const path = `/sandbox/internal-accounts/${payer.dollars['id']}/fund`
    await expectRefused(['POST', path, { amount: 1 }], [403, 'FORBIDDEN'], world.production)
  })

  test('may name the token by its id', async () => {
    const { body: token } = await world.rest('POST', '/tokens', { name: 'by id', permissions: ['VIEW'] })
    const as = { clientId: token['id'], clientSecret: token['clientSecret'] }
    expect((await world.rest('GET', '/config', undefined, { as })).status).toBe(200)
  })
})

describe('requests', () => {
  test('that are no JSON object answer 400 INVALID_REQUEST_FORMAT', async () => {
    for (const body of ['{', '{"a":}', '[]', '"text"', '1', 'null x', '\u0000']) {
      await expectRefused(['POST', '/customers', body], [400, 'INVALID_REQUEST_FORMAT'])
    }
    const xml = await world.rest('POST', '/customers', '<a/>', { headers: { 'content-type': 'application/xml' } })
    expect(xml).toMatchObject({ status: 415, body: { code: 'INVALID_REQUEST_FORMAT' } })
    const large = await world.rest('POST', '/customers', { platformCustomerId: 'x'.repeat(300_000) })
    expect(large).toMatchObject({ status: 413, body: { code: 'INVALID_REQUEST_FORMAT' } })
    for (const path of ['/nothing', '/quotes/x/y', '/../quotes']) {
      expect((await world.rest('GET', path)).status).toBe(404)
    }
  })

  test('answer with the request id, given or made', async () => {
    const own = await world.rest('GET', '/config', undefined, { headers: { 'x-request-id': 'mine-1' } })
    expect(own.headers.get('x-request-id')).toBe('mine-1')
    expect((await world.rest('GET', '/config')).headers.get('x-request-id')).toMatch(/^[0-9a-f-]{36}$/)
  })
})

describe('customers', () => {
  const individual = { platformCustomerId: 'c', customerType: 'INDIVIDUAL' }
  test.each<[Body, string, string]>([
    [{}, 'INVALID_INPUT', 'platformCustomerId'],
    [{ platformCustomerId: 'c' }, 'INVALID_INPUT', 'customerType'],
    [{ ...individual, customerType: 'ROBOT' }, 'INVALID_INPUT', 'customerType'],
    [{ ...individual, platformCustomerId: 5 }, 'INVALID_INPUT', 'platformCustomerId'],
    [{ ...individual, platformCustomerId: 'a\u0000b' }, 'INVALID_INPUT', 'platformCustomerId'],
    [{ ...individual, fullName: '<script>' }, 'INVALID_INPUT', 'fullName'],
    [{ ...individual, fullName: '' }, 'INVALID_INPUT', 'fullName'],
    [{ ...individual, birthDate: '1990-02-30' }, 'INVALID_INPUT', 'birthDate'],
    [{ ...individual, birthDate: '30.01.1990' }, 'INVALID_INPUT', 'birthDate'],
    [{ ...individual, nationality: 'usa' }, 'INVALID_INPUT', 'nationality'],
    [{ ...individual, address: { line1: 'x', country: 'US' } }, 'INVALID_INPUT', 'address.postalCode'],
    [{ ...individual, address: 'Main Street' }, 'INVALID_INPUT', 'address'],
    [{ ...individual, umaAddress: 'ada@example.com' }, 'INVALID_UMA_ADDRESS', 'umaAddress'],
    [{ ...individual, umaAddress: '$ada' }, 'INVALID_UMA_ADDRESS', 'umaAddress'],
    [{ ...individual, umaAddress: '$ada@elsewhere.example' }, 'INVALID_UMA_ADDRESS', 'umaAddress'],
    [{ ...individual, umaAddress: '$a!b@demo.sandbox.uma.localhost' }, 'INVALID_UMA_ADDRESS', 'umaAddress'],
    [{ ...individual, umaAddress: `$${'a'.repeat(64)}@demo.sandbox.uma.localhost` }, 'INVALID_UMA_ADDRESS', 'umaAddress'],
    [{ platformCustomerId: 'b', customerType: 'BUSINESS', businessInfo: {} }, 'INVALID_INPUT', 'businessInfo.legalName'],
  ])('%j is refused with %s at %s', (body, code, field) => expectRefused(['POST', '/customers', body], [400, code, field]))

  test('with several faults hear of all of them', async () => {
    const { body } = await world.rest('POST', '/customers', { customerType: 'X', birthDate: 'x' })
    expect(body['details'].errors.map(({ field }: Body) => field)).toEqual(['platformCustomerId', 'customerType', 'birthDate'])
  })

  test('take a UMA address of 64 characters and any case, once', async () => {
    const umaAddress = `$${'A'.repeat(63)}@Demo.Sandbox.UMA.localhost`
    const { body } = await world.rest('POST', '/customers', { ...individual, umaAddress })
    expect(body['umaAddress']).toBe(umaAddress.toLowerCase())
    await expectRefused(['POST', '/customers', { ...individual, umaAddress }], [409, 'UMA_ADDRESS_EXISTS', 'umaAddress'])
  })

  test('who are not approved move no money', async () => {
    for (const [ending, kycStatus] of [
      ['001', 'PENDING_REVIEW'],
      ['002', 'REJECTED'],
      ['003', 'NOT_STARTED'],
    ]) {
      const customer = await newCustomer(world, { fullName: `Ada ${ending}` })
      expect(customer['kycStatus']).toBe(kycStatus)
      const dollars = await internalAccountOf(world, customer['id'], 'USD')
      const euros = await newIbanAccount(world, customer['id'])
      const before = await rowCounts()
      const { status, body } = await world.rest('POST', '/quotes', quoteInput({ customer, dollars, euros }))
      expect([status, body['code']]).toEqual([403, 'USER_NOT_READY'])
      expect(await rowCounts()).toEqual(before)
    }
  })
})

describe('external accounts', () => {
  const us = { accountType: 'US_ACCOUNT', accountNumber: '123456789', routingNumber: '021000021', accountCategory: 'CHECKING' }
  const account = (currency: string, accountInfo: unknown) => ({ currency, accountInfo })
  const good: [string, Body][] = [
    ['USD', us],
    ['MXN', { accountType: 'CLABE', clabeNumber: '012345678901234567', bankName: 'Banco' }],
    ['BRL', { accountType: 'PIX', pixKey: 'ana@pix.example', pixKeyType: 'EMAIL' }],
    ['EUR', { accountType: 'IBAN', iban: 'DE89 3704 0044 0532 0130 00', swiftBic: 'DEUTDEFF' }],
    ['INR', { accountType: 'UPI', vpa: 'ana@okbank' }],
    ['BTC', { accountType: 'SPARK_WALLET', address: 'spark1pgssyuuuhnrrdjswal5c3s3rafw9w3y5dd4cjy3duxlf7hjzkp0rqx6dj6mrhu' }],
    ['USDC', { accountType: 'SOLANA_WALLET', address: '4Nd1mBQtrMJVYVfKf2PJy9NZUZdTAsp7D4xWLs4gDB4T' }],
    ['USDC', { accountType: 'POLYGON_WALLET', address: `0x${'ab'.repeat(20)}` }],
    ['USDC', { accountType: 'BASE_WALLET', address: `0x${'cd'.repeat(20)}` }],
  ]
  test.each(good)('in %s are taken as they are: %j', async (currency, accountInfo) => {
    const { body, status } = await world.rest('POST', '/platform/external-accounts', account(currency, accountInfo))
    expect(status).toBe(201)
    expect(body).toMatchObject({ id: expect.stringMatching(/^ExternalAccount:/), status: 'ACTIVE', currency })
    expect(body).not.toHaveProperty('customerId')
    const stored = accountInfo['iban'] ? { ...accountInfo, iban: accountInfo['iban'].replaceAll(' ', '') } : accountInfo
    expect(body['accountInfo']).toEqual(stored)
  })

  test('take the later names of account types', async () => {
    const { body } = await world.rest(
      'POST',
      '/platform/external-accounts',
      account('USD', { ...us, accountType: 'USD_ACCOUNT', accountNumber: '55555' }),
    )
    expect(body['accountInfo'].accountType).toBe('US_ACCOUNT')
  })

  test.each<[string, unknown, string, string]>([
    ['USD', { ...us, routingNumber: '12345678' }, 'INVALID_BANK_ACCOUNT', 'accountInfo.routingNumber'],
    ['USD', { ...us, accountNumber: '12a' }, 'INVALID_BANK_ACCOUNT', 'accountInfo.accountNumber'],
    ['USD', { ...us, accountCategory: 'GOLD' }, 'INVALID_INPUT', 'accountInfo.accountCategory'],
    ['USD', { accountType: 'US_ACCOUNT' }, 'INVALID_INPUT', 'accountInfo.accountNumber'],
    ['USD', { ...us, accountType: 'GIRO' }, 'INVALID_INPUT', 'accountInfo.accountType'],
    ['USD', 'text', 'INVALID_INPUT', 'accountInfo'],
    ['EUR', us, 'INVALID_CURRENCY', 'currency'],
    ['XXX', us, 'INVALID_CURRENCY', 'currency'],
    ['usd', us, 'INVALID_CURRENCY', 'currency'],
    ['NGN', us, 'INVALID_CURRENCY', 'currency'],
    ['MXN', { accountType: 'CLABE', clabeNumber: '123' }, 'INVALID_BANK_ACCOUNT', 'accountInfo.clabeNumber'],
    ['BRL', { accountType: 'PIX', pixKey: 'x', pixKeyType: 'FAX' }, 'INVALID_INPUT', 'accountInfo.pixKeyType'],
    ['EUR', { accountType: 'IBAN', iban: 'DE1' }, 'INVALID_BANK_ACCOUNT', 'accountInfo.iban'],
    [
      'EUR',
      { accountType: 'IBAN', iban: 'DE89370400440532013000', swiftBic: 'X' },
      'INVALID_BANK_ACCOUNT',
      'accountInfo.swiftBic',
    ],
    ['INR', { accountType: 'UPI', vpa: 'nobank' }, 'INVALID_BANK_ACCOUNT', 'accountInfo.vpa'],
    ['BTC', { accountType: 'SPARK_WALLET', address: 'bc1qxyz' }, 'INVALID_BANK_ACCOUNT', 'accountInfo.address'],
    ['USD', { ...us, beneficiary: { beneficiaryType: 'INDIVIDUAL' } }, 'INVALID_INPUT', 'accountInfo.beneficiary.fullName'],
    [
      'USD',
      { ...us, beneficiary: { beneficiaryType: 'BUSINESS' } },
      'INVALID_INPUT',
      'accountInfo.beneficiary.businessInfo.legalName',
    ],
  ])('%s %j are refused with %s at %s', (currency, info, code, field) =>
    expectRefused(['POST', '/platform/external-accounts', account(currency, info)], [400, code, field]),
  )

  test('exist once for an owner, and the default for UMA deposits is one', async () => {
    const customer = await newCustomer(world)
    const body = { customerId: customer['id'], defaultUmaDepositAccount: true, ...account('USD', us) }
    const first = await world.rest('POST', '/customers/external-accounts', body)
    await expectRefused(['POST', '/customers/external-accounts', body], [409, 'EXTERNAL_ACCOUNT_EXISTS', 'accountInfo'])
    const other = await newCustomer(world)
    expect((await world.rest('POST', '/customers/external-accounts', { ...body, customerId: other['id'] })).status).toBe(201)
    const second = await world.rest('POST', '/customers/external-accounts', {
      ...body,
      ...account('USD', { ...us, accountNumber: '987654321' }),
    })
    const list = await world.rest('GET', `/customers/external-accounts?customerId=${customer['id']}`)
    const defaults = list.body['data'].map(({ id, defaultUmaDepositAccount }: Body) => [id, defaultUmaDepositAccount])
    expect(new Map(defaults)).toEqual(
      new Map([
        [first.body['id'], false],
        [second.body['id'], true],
      ]),
    )
  })

  test('need a customer that exists', () =>
    expectRefused(
      [
        'POST',
        '/customers/external-accounts',
        { customerId: 'Customer:01890000-0000-7000-8000-000000000000', ...account('USD', us) },
      ],
      [404, 'USER_NOT_FOUND', 'customerId'],
    ))
})

describe('quotes', () => {
  const missing = '01890000-0000-7000-8000-000000000000'

  test('are refused with code and field, over REST and the same over GraphQL', async () => {
    const payer = await newPayer(world)
    const dollarsOutside = (
      await world.rest('POST', '/platform/external-accounts', {
        currency: 'USD',
        accountInfo: {
          accountType: 'US_ACCOUNT',
          accountNumber: '4444',
          routingNumber: '021000021',
          accountCategory: 'CHECKING',
        },
      })
    ).body
    const pesos = (
      await world.rest('POST', '/platform/external-accounts', {
        currency: 'MXN',
        accountInfo: { accountType: 'CLABE', clabeNumber: '999888777666555444' },
      })
    ).body
    const realtime = { currency: 'USD' }
    const details = 'destination.externalAccountDetails'
    const inline = (accountInfo: Body) => ({ destination: { externalAccountDetails: { currency: 'EUR', accountInfo } } })
    const rows: [Body, number, string, string][] = [
      [{ lockedCurrencyAmount: 0 }, 400, 'INVALID_AMOUNT', 'lockedCurrencyAmount'],
      [{ lockedCurrencyAmount: -1 }, 400, 'INVALID_AMOUNT', 'lockedCurrencyAmount'],
      [{ lockedCurrencyAmount: 9_000_000_000_000_001n }, 400, 'INVALID_AMOUNT', 'lockedCurrencyAmount'],
      [{ lockedCurrencyAmount: 2n ** 63n }, 400, 'INVALID_AMOUNT', 'lockedCurrencyAmount'],
      [{ lockedCurrencyAmount: 2n ** 64n }, 400, 'INVALID_AMOUNT', 'lockedCurrencyAmount'],
      [{ lockedCurrencySide: 'MIDDLE' }, 400, 'INVALID_INPUT', 'lockedCurrencySide'],
      [{ lockedCurrencyAmount: 5 }, 400, 'AMOUNT_OUT_OF_RANGE', 'lockedCurrencyAmount'],
      [{ lockedCurrencyAmount: 99 }, 400, 'AMOUNT_OUT_OF_RANGE', 'lockedCurrencyAmount'],
      [{ lockedCurrencyAmount: 1_000_000_001 }, 400, 'AMOUNT_OUT_OF_RANGE', 'lockedCurrencyAmount'],
      [{ source: { accountId: `InternalAccount:${missing}` } }, 404, 'ACCOUNT_NOT_FOUND', 'source.accountId'],
      [{ destination: { accountId: `ExternalAccount:${missing}` } }, 404, 'ACCOUNT_NOT_FOUND', 'destination.accountId'],
      [{ destination: { umaAddress: '$nobody@sandbox.uma.money' } }, 404, 'UMA_NOT_FOUND', 'destination.umaAddress'],
      [{ destination: { umaAddress: '$success.usd@elsewhere.example' } }, 404, 'UMA_NOT_FOUND', 'destination.umaAddress'],
      [{ destination: { umaAddress: 'nonsense' } }, 400, 'INVALID_UMA_ADDRESS', 'destination.umaAddress'],
      [
        { destination: { umaAddress: '$success.eur@sandbox.uma.money', currency: 'MXN' } },
        400,
        'INVALID_RECEIVER',
        'destination.currency',
      ],
      [{ lookupId: `Lookup:${missing}` }, 404, 'LOOKUP_REQUEST_NOT_FOUND', 'lookupId'],
      [{ lookupId: 'nonsense' }, 400, 'INVALID_INPUT', 'lookupId'],
      [{ source: realtime, immediatelyExecute: true }, 400, 'INVALID_INPUT', 'immediatelyExecute'],
      [{ source: { ...realtime, customerId: `Customer:${missing}` } }, 404, 'USER_NOT_FOUND', 'source.customerId'],
      [{ source: { currency: 'NGN' } }, 400, 'INVALID_CURRENCY', 'source.currency'],
      [{ source: { currency: 'EUR', umaAddress: '$nobody@b.example' } }, 404, 'UMA_NOT_FOUND', 'source.umaAddress'],
      [{ source: { accountId: payer.euros['id'] } }, 400, 'SELF_PAYMENT', 'destination.accountId'],
      [{ destination: { accountId: payer.dollars['id'] } }, 400, 'SELF_PAYMENT', 'destination.accountId'],
      [{ source: { accountId: pesos['id'] } }, 400, 'INVALID_INPUT', 'source.accountId'],
      [inline({ accountType: 'IBAN', iban: 'DE1' }), 400, 'INVALID_BANK_ACCOUNT', `${details}.accountInfo.iban`],
      [inline({ accountType: 'CLABE', clabeNumber: '111222333444555666' }), 400, 'INVALID_CURRENCY', `${details}.currency`],
      [{ source: { accountId: payer.customer['id'] } }, 400, 'INVALID_INPUT', 'source.accountId'],
      [{ source: { accountId: 'nonsense' } }, 400, 'INVALID_INPUT', 'source.accountId'],
      [{ destination: { accountId: dollarsOutside['id'] } }, 400, 'INVALID_CURRENCY', 'destination.accountId'],
      [{ destination: { accountId: payer.euros['id'], currency: 'MXN' } }, 400, 'INVALID_CURRENCY', 'destination.currency'],
      [{ source: { accountId: payer.dollars['id'], currency: 'XXX' } }, 400, 'INVALID_CURRENCY', 'source.currency'],
      [{ description: 'a\u0000b' }, 400, 'INVALID_INPUT', 'description'],
    ]
    for (const [fields, status, code, field] of rows) {
      const input = quoteInput(payer, fields)
      await expectRefused(['POST', '/quotes', input], [status, code, field])
      const { body } = await world.graphql(
        'mutation ($input: CreateQuoteInput!) { createQuote(input: $input) { quote { id } errors { code field } } }',
        {
          input: {
            ...input,
            // As text, since variables are JSON and other readers of JSON lose digits.
            lockedCurrencyAmount: String(input['lockedCurrencyAmount']),
            source: input['source'].accountId ? { account: input['source'] } : { realtimeFunding: input['source'] },
            destination: graphDestination(input['destination']),
          },
        },
      )
      if (code === 'INVALID_INPUT' && field === 'lockedCurrencySide')
        expect(body['errors'][0].message).toContain('LockedCurrencySide')
      else
        expect(body['data'].createQuote).toEqual({
          quote: null,
          errors: [{ code, field: code === 'INVALID_INPUT' && field === 'source' ? null : field }],
        })
    }
  })

  test('over REST also where GraphQL has no such thing', async () => {
    const payer = await newPayer(world)
    const rows: [Body, number, string, string][] = [
      [{ lockedCurrencyAmount: undefined }, 400, 'INVALID_INPUT', 'lockedCurrencyAmount'],
      [{ lockedCurrencyAmount: '100' }, 400, 'INVALID_INPUT', 'lockedCurrencyAmount'],
      [{ lockedCurrencyAmount: 1.5 }, 400, 'INVALID_AMOUNT', 'lockedCurrencyAmount'],
      [{ source: undefined }, 400, 'INVALID_INPUT', 'source'],
      [{ source: {} }, 400, 'INVALID_INPUT', 'source.accountId'],
      [
        { source: { accountId: payer.dollars['id'], customerId: (await newCustomer(world))['id'] } },
        400,
        'INVALID_INPUT',
        'source.customerId',
      ],
      [{ source: { sourceType: 'REALTIME_FUNDING' } }, 400, 'INVALID_INPUT', 'source.currency'],
      [{ destination: { destinationType: 'UMA_ADDRESS' } }, 400, 'INVALID_INPUT', 'destination.umaAddress'],
    ]
    for (const [fields, status, code, field] of rows) {
      await expectRefused(['POST', '/quotes', quoteInput(payer, fields)], [status, code, field])
    }
    await expectRefused(['POST', `/quotes/Quote:${missing}/execute`], [404, 'QUOTE_NOT_FOUND', 'quoteId'])
    await expectRefused(['POST', '/quotes/nonsense/execute'], [400, 'INVALID_INPUT', 'quoteId'])
    await expectRefused(['GET', `/quotes/Transaction:${missing}`], [400, 'INVALID_INPUT', 'quoteId'])
    const queries: [string, string][] = [
      ['limit=0', 'limit'],
      ['limit=101', 'limit'],
      ['limit=x', 'limit'],
      ['cursor=nonsense', 'cursor'],
      ['status=OPEN', 'status'],
      ['customerId=x', 'customerId'],
      ['createdAfter=yesterday', 'createdAfter'],
    ]
    for (const [query, field] of queries) {
      await expectRefused(['GET', `/quotes?${query}`], [400, 'INVALID_INPUT', field])
    }
  })

  test('to an account that is not active are refused, also when they were made before', async () => {
    const payer = await newPayer(world)
    const quote = await newQuote(world, payer)
    const uuid = payer.euros['id'].slice('ExternalAccount:'.length)
    await world.database.query(`update external_account set status = 'INACTIVE', version = version + 1 where id = $1`, [uuid])
    const field = 'destination.accountId'
    await expectRefused(['POST', '/quotes', quoteInput(payer)], [400, 'INVALID_BANK_ACCOUNT', field])
    await expectRefused(['POST', `/quotes/${quote['id']}/execute`], [400, 'INVALID_BANK_ACCOUNT', field])
  })

  test('of production are not carried anywhere yet, and say so', async () => {
    const customer = await newCustomer(world, {}, { as: world.production })
    const dollars = await internalAccountOf(world, customer['id'], 'USD', { as: world.production })
    const euros = await newIbanAccount(world, customer['id'], '100', { as: world.production })
    await expectRefused(
      ['POST', '/quotes', quoteInput({ customer, dollars, euros })],
      [501, 'NOT_IMPLEMENTED', 'destination.accountId'],
      world.production,
    )
  })
})

/** A destination as the graph has it: one field of several. */
function graphDestination(destination: Body): Body {
  if (destination['accountId']) return { account: destination }
  if (destination['umaAddress']) return { umaAddress: destination }
  const { accountType, ...info } = destination['externalAccountDetails'].accountInfo
  return {
    externalAccountDetails: {
      ...destination['externalAccountDetails'],
      accountInfo: { [accountType.toLowerCase()]: info },
    },
  }
}

describe('lists', () => {
  test.each([
    ['/transactions', 'reference'],
    ['/transactions', 'accountIdentifier'],
    ['/transactions', 'platformCustomerId'],
    ['/quotes', 'sendingUmaAddress'],
    ['/quotes', 'receivingUmaAddress'],
    ['/customers', 'umaAddress'],
    ['/customers', 'platformCustomerId'],
    ['/tokens', 'name'],
    ['/events', 'resourceId'],
    ['/webhooks/deliveries', 'resourceId'],
    ['/webhooks/deliveries', 'type'],
  ])('%s refuse a %s that no text can be', async (path, field) => {
    await expectRefused(['GET', `${path}?${field}=%00`], [400, 'INVALID_INPUT', field])
    expect((await world.rest('GET', `${path}?${field}=`)).body['data']).toEqual([])
  })
})

describe('money that is pushed', () => {
  test('to nothing, in another currency, or without what it needs is refused through both doors', async () => {
    const payer = await newPayer(world, { balance: 0 })
    const quote = await newQuote(world, payer, { source: { customerId: payer.customer['id'], currency: 'USD' } })
    const { reference } = quote['paymentInstructions'][0]
    const missing = '01890000-0000-7000-8000-000000000000'
    const rows: [Body, number, string, string][] = [
      [{ reference: 'REF-NOTHING', currencyCode: 'USD', currencyAmount: 5 }, 404, 'REFERENCE_NOT_FOUND', 'reference'],
      [{ quoteId: `Quote:${missing}`, currencyCode: 'USD' }, 404, 'QUOTE_NOT_FOUND', 'quoteId'],
      [{ reference, currencyCode: 'EUR', currencyAmount: 100_000 }, 400, 'INVALID_CURRENCY', 'currencyCode'],
      [{ reference, currencyCode: 'XXX', currencyAmount: 100_000 }, 400, 'INVALID_CURRENCY', 'currencyCode'],
      [{ reference, currencyCode: 'USD', currencyAmount: 0 }, 400, 'INVALID_AMOUNT', 'currencyAmount'],
      [{ reference, currencyCode: 'USD' }, 400, 'INVALID_INPUT', 'currencyAmount'],
      [{ currencyCode: 'USD', currencyAmount: 5 }, 400, 'INVALID_INPUT', 'reference'],
      [{ reference: 'a\u0000b', currencyCode: 'USD', currencyAmount: 5 }, 400, 'INVALID_INPUT', 'reference'],
      [{ reference: 'REF-OTHER', quoteId: quote['id'], currencyCode: 'USD' }, 400, 'INVALID_INPUT', 'reference'],
    ]
    for (const [input, status, code, field] of rows) {
      await expectRefused(['POST', '/sandbox/send', input], [status, code, field])
      const { body } = await world.graphql(
        'mutation ($input: SandboxSendInput!) { sandboxSend(input: $input) { transaction { id } errors { code field } } }',
        { input },
      )
      expect(body['data'].sandboxSend).toEqual({ transaction: null, errors: [{ code, field }] })
    }
    await expectRefused(
      ['POST', '/sandbox/send', { reference, currencyCode: 'USD', currencyAmount: 100_000 }],
      [403, 'FORBIDDEN'],
      world.production,
    )
  })
})

describe('lookups', () => {
  test('of what is not there are refused', async () => {
    const missing = '01890000-0000-7000-8000-000000000000'
    await expectRefused(['GET', '/receiver/uma/$nobody@sandbox.uma.money'], [404, 'UMA_NOT_FOUND', 'receiverUmaAddress'])
    await expectRefused(['GET', '/receiver/uma/nonsense'], [400, 'INVALID_UMA_ADDRESS', 'receiverUmaAddress'])
    await expectRefused(['GET', `/receiver/external-account/ExternalAccount:${missing}`], [404, 'ACCOUNT_NOT_FOUND', 'accountId'])
    await expectRefused(['GET', '/receiver/external-account/x'], [400, 'INVALID_INPUT', 'accountId'])
    await expectRefused(
      ['GET', '/receiver/uma/$success.usd@sandbox.uma.money'],
      [501, 'NOT_IMPLEMENTED', 'receiverUmaAddress'],
      world.production,
    )
  })
})

describe('funding', () => {
  test.each<[unknown, string]>([
    [0, 'INVALID_AMOUNT'],
    [-5, 'INVALID_AMOUNT'],
    [100_000_000_001, 'INVALID_AMOUNT'],
    ['5', 'INVALID_INPUT'],
    [undefined, 'INVALID_INPUT'],
  ])('of %j is refused with %s', async (amount, code) => {
    const { dollars } = await newPayer(world, { balance: 0 })
    await expectRefused(['POST', `/sandbox/internal-accounts/${dollars['id']}/fund`, { amount }], [400, code, 'amount'])
  })
})

describe("another world's ids", () => {
  test('answer byte for byte as ids that do not exist', async () => {
    const payer = await newPayer(world)
    const quote = await newQuote(world, payer)
    const token = (await world.rest('POST', '/tokens', { name: 'x', permissions: ['VIEW'] })).body
    const lookup = (await world.rest('GET', `/receiver/external-account/${payer.euros['id']}`)).body
    await world.rest('PATCH', '/config', { webhookEndpoint: 'http://127.0.0.1:1/' }, { as: world.stranger })
    await world.drain()
    const told = (await world.rest('GET', '/events?limit=1')).body['data'][0].event.webhookId
    const transfer = (from: string, to: string) => ({
      source: { accountId: from },
      destination: { accountId: to },
      amount: 1_000,
    })
    const missing = (id: string) => `${id.split(':')[0]}:01890000-0000-7000-8000-000000000000`
    const own = await newPayer({ ...world, rest: (method, path, body) => world.rest(method, path, body, { as: world.stranger }) })
    const calls: [string, string, (id: string) => [string, unknown?]][] = [
      ['GET', payer.customer['id'], (id) => [`/customers/${id}`]],
      ['GET', payer.customer['id'], (id) => [`/customers/internal-accounts?customerId=${id}`]],
      ['GET', payer.customer['id'], (id) => [`/customers/external-accounts?customerId=${id}`]],
      ['GET', payer.customer['id'], (id) => [`/quotes?customerId=${id}`]],
      ['GET', payer.dollars['id'], (id) => [`/transactions?accountIdentifier=${id}`]],
      ['GET', quote['id'], (id) => [`/quotes/${id}`]],
      ['POST', quote['id'], (id) => [`/quotes/${id}/execute`]],
      ['GET', quote['transactionId'], (id) => [`/transactions/${id}`]],
      ['POST', quote['transactionId'], (id) => [`/transactions/${id}/approve`]],
      ['POST', quote['transactionId'], (id) => [`/transactions/${id}/reject`]],
      ['GET', payer.customer['id'], (id) => [`/events?customerId=${id}`]],
      ['GET', payer.dollars['id'], (id) => [`/events?resourceId=${id}`]],
      ['GET', told, (id) => [`/webhooks/deliveries/${id}`]],
      ['POST', told, (id) => [`/webhooks/deliveries/${id}/redeliver`]],
      ['POST', payer.customer['id'], (id) => ['/bank-link/link-tokens', { customerId: id }]],
      ['GET', token['id'], (id) => [`/tokens/${id}`]],
      ['DELETE', token['id'], (id) => [`/tokens/${id}`]],
      ['POST', payer.dollars['id'], (id) => [`/sandbox/internal-accounts/${id}/fund`, { amount: 1 }]],
      ['POST', payer.dollars['id'], (id) => ['/quotes', quoteInput({ ...own, dollars: { id } })]],
      ['POST', payer.euros['id'], (id) => ['/quotes', quoteInput({ ...own, euros: { id } })]],
      ['POST', payer.customer['id'], (id) => ['/quotes', quoteInput(own, { source: { customerId: id, currency: 'USD' } })]],
      ['POST', lookup['lookupId'], (id) => ['/quotes', quoteInput(own, { lookupId: id })]],
      ['POST', quote['id'], (id) => ['/sandbox/send', { quoteId: id, currencyCode: 'USD' }]],
      ['GET', payer.euros['id'], (id) => [`/receiver/external-account/${id}`]],
      ['POST', payer.dollars['id'], (id) => ['/transfer-out', transfer(id, own.euros['id'])]],
      ['POST', payer.euros['id'], (id) => ['/transfer-out', transfer(own.dollars['id'], id)]],
      ['POST', payer.euros['id'], (id) => ['/transfer-in', transfer(id, own.dollars['id'])]],
      ['POST', payer.dollars['id'], (id) => ['/transfer-in', transfer(own.euros['id'], id)]],
    ]
    for (const [method, id, call] of calls) {
      const [path, body] = call(id)
      const theirs = await world.rest(method, path, body, { as: world.stranger })
      const [missingPath, missingBody] = call(missing(id))
      const nobodys = await world.rest(method, missingPath, missingBody, { as: world.stranger })
      expect([path, theirs.status, theirs.text.replaceAll(id, missing(id))]).toEqual([path, nobodys.status, nobodys.text])
    }
    const node = (id: string) =>
      world.graphql('query ($id: ID!) { node(id: $id) { id __typename } }', { id }, { as: world.stranger })
    for (const id of [payer.customer['id'], payer.dollars['id'], payer.euros['id'], quote['id'], quote['transactionId']]) {
      expect((await node(id)).text).toBe((await node(missing(id))).text)
    }
    const production = await world.rest('GET', `/quotes/${quote['id']}`, undefined, { as: world.production })
    expect(production.body['code']).toBe('QUOTE_NOT_FOUND')
  })
})
