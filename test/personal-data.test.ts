/** Personal data at rest: what a dump of the database shows, and what becomes of it when keys change. */
import { randomBytes } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { systemClock } from '../src/base/clock.ts'
import { createLogger } from '../src/base/logger.ts'
import { readConfig } from '../src/config.ts'
import { prepareDataKeys, sealAnew, UnknownDataKey } from '../src/core/data-keys.ts'
import type { Database } from '../src/database/port.ts'
import { type Gateway, startGateway } from '../src/gateway.ts'
import { fund, internalAccountOf, newCustomer } from './people.ts'
import { openReceiver, type Receiver } from './receiver.ts'
import { type Body, basic, freshDatabase, useWorld } from './world.ts'

const world = useWorld()

let receiver: Receiver

beforeAll(async () => {
  receiver = await openReceiver()
  await world.rest('PATCH', '/config', { webhookEndpoint: receiver.url })
})

afterAll(() => receiver.close())

/** Every value of every table as text, the way a dump has it. */
async function dump(database: Database): Promise<string> {
  const tables = await database.query<{ name: string }>(
    `select tablename::text as name from pg_tables where schemaname = 'public' order by 1`,
  )
  const rows: string[] = []
  for (const { name } of tables) {
    for (const { row } of await database.query<{ row: string }>(`select '=' || t::text as row from "${name}" t`)) rows.push(row)
  }
  return rows.join('\n')
}

const birthDates = ['1976-11-03', '1981-02-17', '1969-07-09', '1955-05-05', '1990-01-01', '1944-04-14']
const taxIds = ['98-7654321', '55-1234567', '000-00-0000']
const numbers = ['93847561029384', 'DE89370400440532013777', '002010077777777771', 'ada.personal@pix.example', '71830405']

async function post(path: string, body: Body, status = 201): Promise<Body> {
  const reply = await world.rest('POST', path, body, { idempotencyKey: randomBytes(8).toString('hex') })
  expect(reply.status, reply.text).toBe(status)
  return reply.body
}

function beneficiary(fields: Body = {}): Body {
  return { beneficiaryType: 'INDIVIDUAL', fullName: 'Ada Lovelace', ...fields }
}

/** One of everything that carries such data. */
async function liveALittle(): Promise<{ person: Body; business: Body }> {
  const person = await post('/customers', {
    platformCustomerId: 'p',
    customerType: 'INDIVIDUAL',
    fullName: 'Ada Lovelace',
    birthDate: birthDates[0],
  })
  const business = await post('/customers', {
    platformCustomerId: 'b',
    customerType: 'BUSINESS',
    businessInfo: { legalName: 'Analytical Engines', taxId: taxIds[0] },
    beneficialOwners: [{ fullName: 'Charles', individualType: 'DIRECTOR', birthDate: birthDates[1], taxId: taxIds[0] }],
  })
  await world.rest('PATCH', `/customers/${business['id']}`, { businessInfo: { taxId: taxIds[1] } })
  await post('/customers/external-accounts', {
    customerId: person['id'],
    currency: 'USD',
    accountInfo: {
      accountType: 'US_ACCOUNT',
      accountNumber: numbers[0],
      routingNumber: '021000021',
      accountCategory: 'CHECKING',
      beneficiary: beneficiary({ birthDate: birthDates[2] }),
    },
  })
  await post('/platform/external-accounts', {
    currency: 'BRL',
    accountInfo: { accountType: 'PIX', pixKey: numbers[3], pixKeyType: 'EMAIL', beneficiary: beneficiary() },
  })
  const dollars = await internalAccountOf(world, person['id'], 'USD')
  await fund(world, dollars['id'], 100_000)
  // An account that is made with its quote.
  const quote = await post('/quotes', {
    source: { accountId: dollars['id'] },
    destination: {
      externalAccountDetails: {
        currency: 'EUR',
        accountInfo: { accountType: 'IBAN', iban: numbers[1], bankName: 'Bank', beneficiary: beneficiary() },
      },
    },
    lockedCurrencySide: 'SENDING',
    lockedCurrencyAmount: 10_000,
  })
  await post(`/quotes/${quote['id']}/execute`, {}, 200)
  // A payment by UMA: who pays is told to us, and who is paid to them.
  const { body: config } = await world.rest('GET', '/config')
  const supportedCurrencies = config['supportedCurrencies'].map((one: Body) => ({
    ...one,
    requiredCounterpartyFields: ['BIRTH_DATE', 'TAX_ID'].map((name) => ({ name, mandatory: true })),
  }))
  await world.rest('PATCH', '/config', { supportedCurrencies })
  const nameless = await newCustomer(world, { fullName: undefined })
  receiver.answer = (body) => ({
    status: 200,
    body: body['requestedReceiverUserInfoFields']
      ? JSON.stringify({ receiverUserInfo: { FULL_NAME: 'Nameless', BIRTH_DATE: birthDates[3] } })
      : '',
  })
  await post(
    '/sandbox/uma/receive',
    {
      senderUmaAddress: '$success.usd@sandbox.uma.localhost',
      receiverUmaAddress: nameless['umaAddress'],
      receivingCurrencyCode: 'USD',
      receivingCurrencyAmount: 2500,
    },
    200,
  )
  await world.drain()
  // A linked account, whose details are in a webhook.
  const { body: token } = await world.rest('POST', '/bank-link/link-tokens', { customerId: person['id'] })
  const callback = `/bank-link/callback/${token['linkToken']}`
  await world.rest('POST', callback, { publicToken: `public-${token['linkToken'].slice(5)}`, accountId: 'sandbox-checking' })
  await world.drain()
  return { person, business }
}

async function uploadUnlooked(gateway: Gateway): Promise<string> {
  const form = new FormData()
  const csv = [
    'platformCustomerId,customerType,fullName,birthDate,addressLine1,city,state,postalCode,country,accountType,accountNumber,routingNumber,accountCategory',
    `csv-1,INDIVIDUAL,Row One,${birthDates[5]},1 Main,Town,CA,90001,US,US_ACCOUNT,${numbers[4]},021000021,CHECKING`,
    `csv-2,INDIVIDUAL,Row Two,${birthDates[5]},1 Main,Town,CA,90001,US,US_ACCOUNT,${numbers[4]},no,CHECKING`,
  ].join('\n')
  form.append('file', new Blob([csv]), 'customers.csv')
  const response = await fetch(`${gateway.url}/2025-10-13/customers/bulk/csv`, {
    method: 'POST',
    headers: { authorization: basic(world.sandbox) },
    body: form,
  })
  return ((await response.json()) as { jobId: string }).jobId
}

describe('a dump of the database', () => {
  test('shows no birth date, tax id, account number or private key, wherever they went', async () => {
    const { person, business } = await liveALittle()
    const jobId = await uploadUnlooked(world.gateway)
    for (const done of [false, true]) {
      if (done) await world.drain()
      const shown = await dump(world.database)
      for (const value of [...birthDates, ...taxIds, ...numbers, 'PRIVATE KEY']) expect(shown, value).not.toContain(value)
    }
    expect((await world.rest('GET', `/customers/bulk/jobs/${jobId}`)).body).toMatchObject({
      progress: { successful: 1, failed: 1 },
    })

    // And all of it is there for those who may see it.
    expect((await world.rest('GET', `/customers/${person['id']}`)).body['birthDate']).toBe(birthDates[0])
    expect((await world.rest('GET', `/customers/${business['id']}`)).body).toMatchObject({
      businessInfo: { taxId: taxIds[1] },
      beneficialOwners: [{ birthDate: birthDates[1] }],
    })
    const { body: accounts } = await world.rest('GET', `/customers/external-accounts?customerId=${person['id']}`)
    expect(accounts['data'].map(({ accountInfo }: Body) => accountInfo.accountNumber ?? accountInfo.iban)).toContain(numbers[0])
    const linked = receiver.received.find(({ body }) => body['account'])!
    expect(linked.body['account'].accountInfo).toMatchObject({
      accountType: 'US_ACCOUNT',
      accountNumber: expect.stringMatching(/\d/),
    })
    const asked = receiver.received.find(({ body }) => body['transaction']?.status === 'PENDING')!
    expect(asked.body['transaction'].counterpartyInformation).toMatchObject({ BIRTH_DATE: '1990-01-01', TAX_ID: '000-00-0000' })
    // What was sent is kept to the byte, and a repeated key is answered in full.
    const { body: delivery } = await world.rest('GET', `/webhooks/deliveries/${linked.body['webhookId']}`)
    expect(delivery['body']).toBe(linked.raw)
  })

  test('an altered value is no value: the row does not open', async () => {
    const person = await newCustomer(world, { birthDate: '1999-09-09' })
    const id = person['id'].slice('Customer:'.length)
    await world.database.query(
      `update customer set birth_date = overlay(birth_date placing case substr(birth_date, 30, 1) when 'A' then 'B' else 'A' end from 30 for 1) where id = $1`,
      [id],
    )
    expect((await world.rest('GET', `/customers/${person['id']}`)).status).toBe(500)
    await world.database.query('update customer set birth_date = null where id = $1', [id])
  })

  test('words of a customer that look like a sealed value stay their own', async () => {
    const platformCustomerId = `sealed:AAAAAAAA:${'B'.repeat(60)}`
    const { id } = await newCustomer(world, { platformCustomerId })
    expect((await world.rest('GET', `/customers/${id}`)).body['platformCustomerId']).toBe(platformCustomerId)
  })
})

describe('a customer who is looked at with a viewer token', () => {
  test('shows the ends of tax ids and account numbers, and no birth date, through both doors', async () => {
    const [birthDate, taxId, accountNumber] = ['1977-07-17', '98-1111222', '55550000111122']
    const info = { accountType: 'US_ACCOUNT', accountNumber, routingNumber: '021000021', accountCategory: 'CHECKING' }
    const shown: string[] = []
    for (const [customerType, fields] of [
      ['INDIVIDUAL', { birthDate, fullName: 'Ada Lovelace' }],
      [
        'BUSINESS',
        {
          businessInfo: { legalName: 'Engines', taxId },
          beneficialOwners: [{ fullName: 'C', individualType: 'DIRECTOR', birthDate, taxId }],
        },
      ],
    ] as const) {
      const customer = await post('/customers', { platformCustomerId: 'viewed', customerType, ...fields })
      const account = {
        customerId: customer['id'],
        currency: 'USD',
        accountInfo: { ...info, beneficiary: beneficiary({ birthDate }) },
      }
      const { id } = await post('/customers/external-accounts', account)
      const { token } = await post('/viewer-tokens', { customerId: customer['id'], permissions: ['VIEW'] })
      const looking = { as: null, headers: { authorization: `Bearer ${token}` } }
      const { text, body } = await world.rest('GET', `/customers/${customer['id']}`, undefined, looking)
      const accounts = await world.rest('GET', '/customers/external-accounts', undefined, looking)
      expect(accounts.body['data'][0]).toMatchObject({
        id,
        accountInfo: { accountNumber: '••••1122', routingNumber: '021000021' },
      })
      if (customerType === 'BUSINESS') expect(body['businessInfo']).toEqual({ legalName: 'Engines', taxId: '••••1222' })
      const graph = await world.graphql(
        `{ viewer { customer { birthDate businessInfo { taxId } beneficialOwners { fullName }
          externalAccounts(first: 5) { edges { node { accountInfo { __typename ... on UsAccountInfo { accountNumber beneficiary { ... on IndividualBeneficiary { birthDate } } } } } } } } } }`,
        {},
        looking,
      )
      expect(graph.body, graph.text).not.toHaveProperty('errors')
      const [{ node }] = graph.body['data'].viewer.customer.externalAccounts.edges
      expect(node.accountInfo).toEqual({
        __typename: 'UsAccountInfo',
        accountNumber: '••••1122',
        beneficiary: { birthDate: null },
      })
      shown.push(text, accounts.text, graph.text)
    }
    for (const value of [birthDate, taxId, accountNumber]) expect(shown.join('\n')).not.toContain(value)
  })
})

describe('a customer whose personal data is erased', () => {
  const erasable = ['Erica Erasable', '1966-06-16', '777766665555', 'erica@example.com', '1 Erased Street']

  test('is gone as a person, from the log too; payments and books stay', async () => {
    const customer = await post('/customers', {
      platformCustomerId: 'erica-1',
      customerType: 'INDIVIDUAL',
      fullName: erasable[0],
      birthDate: erasable[1],
      email: erasable[3],
      umaAddress: '$erica@demo.sandbox.uma.localhost',
      address: { line1: erasable[4], city: 'Town', state: 'CA', postalCode: '90001', country: 'US' },
    })
    const dollars = await internalAccountOf(world, customer['id'], 'USD')
    await fund(world, dollars['id'], 5_000)
    const bank = await post('/customers/external-accounts', {
      customerId: customer['id'],
      currency: 'USD',
      accountInfo: {
        accountType: 'US_ACCOUNT',
        accountNumber: erasable[2],
        routingNumber: '021000021',
        accountCategory: 'CHECKING',
        beneficiary: beneficiary({ fullName: erasable[0] }),
      },
    })
    const payment = await post('/transfer-out', {
      source: { accountId: dollars['id'] },
      destination: { accountId: bank['id'] },
      amount: 1_000,
    })
    const { body: token } = await world.rest('POST', '/bank-link/link-tokens', { customerId: customer['id'] })
    const linking = { publicToken: `public-${token['linkToken'].slice(5)}`, accountId: 'sandbox-checking' }
    await world.rest('POST', `/bank-link/callback/${token['linkToken']}`, linking)
    await world.drain()

    // First deleted, as the specification has it; later erased.
    expect((await world.rest('DELETE', `/customers/${customer['id']}`)).status).toBe(200)
    expect((await world.rest('GET', `/customers/${customer['id']}`)).body['fullName']).toBe(erasable[0])
    const erased = await world.rest('DELETE', `/customers/${customer['id']}?erasePersonalData=true`)
    expect(erased.status, erased.text).toBe(200)
    await world.drain()

    const { body } = await world.rest('GET', `/customers/${customer['id']}`)
    expect(body).toEqual({
      id: customer['id'],
      platformCustomerId: 'erica-1',
      customerType: 'INDIVIDUAL',
      umaAddress: expect.not.stringContaining('erica'),
      kycStatus: 'APPROVED',
      isDeleted: true,
      createdAt: expect.any(String),
      updatedAt: expect.any(String),
    })
    const events = await world.rest('GET', `/events?customerId=${customer['id']}&limit=100`)
    const shown = `${events.text}${await dump(world.database)}`
    for (const value of erasable) expect(shown, value).not.toContain(value)
    const linked = events.body['data'].find(({ event }: Body) => event.account)
    expect(linked.event.account.accountInfo).toMatchObject({ accountType: 'US_ACCOUNT', accountNumber: '••••' })
    const graph = await world.graphql(
      'query ($id: ID!) { externalAccount(id: $id) { isDeleted accountInfo { ... on UsAccountInfo { accountNumber beneficiary { __typename } } } } }',
      { id: bank['id'] },
    )
    expect(graph.body['data'].externalAccount).toEqual({
      isDeleted: true,
      accountInfo: { accountNumber: '••••', beneficiary: null },
    })
    expect((await world.rest('GET', `/transactions/${payment['id']}`)).body).toMatchObject({
      status: 'COMPLETED',
      customerId: customer['id'],
    })
    expect((await internalAccountOf(world, customer['id'], 'USD'))['balance'].amount).toBe(4_000)
    // Asked for twice, it is done already.
    expect((await world.rest('DELETE', `/customers/${customer['id']}?erasePersonalData=true`)).status).toBe(200)
  })
})

test('log lines, however many are wanted, say nothing of it', async () => {
  const { database, drop } = await freshDatabase()
  const lines: string[] = []
  const logger = createLogger('trace', { write: (line) => void lines.push(line) })
  const variables = { PORT: '0', ALLOW_LOCAL_WEBHOOKS: '1', BOOTSTRAP_SANDBOX_TOKEN: 'sandbox:sandbox-secret' }
  const gateway = await startGateway(readConfig(variables), { database, clock: systemClock(), logger, background: false })
  const call = async (method: string, path: string, body: Body) =>
    (
      await fetch(`${gateway.url}/2025-10-13${path}`, {
        method,
        headers: {
          authorization: basic({ clientId: 'sandbox', clientSecret: 'sandbox-secret' }),
          'content-type': 'application/json',
        },
        body: JSON.stringify(body),
      })
    ).status
  await call('PATCH', '/config', { webhookEndpoint: 'http://127.0.0.1:1/' })
  const person = { platformCustomerId: 'p', customerType: 'INDIVIDUAL', fullName: 'Lou Logged', birthDate: '1988-08-18' }
  expect(await call('POST', '/customers', person)).toBe(201)
  expect(await call('POST', '/customers', { ...person, nationality: 'nowhere' })).toBe(400)
  const account = {
    currency: 'USD',
    accountInfo: {
      accountType: 'US_ACCOUNT',
      accountNumber: '123498761234',
      routingNumber: '021000021',
      accountCategory: 'CHECKING',
    },
  }
  expect(await call('POST', '/platform/external-accounts', account)).toBe(201)
  expect(await call('POST', '/platform/external-accounts', account)).toBe(409)
  expect(
    await call('POST', '/platform/external-accounts', {
      ...account,
      accountInfo: { ...account.accountInfo, routingNumber: 'x' },
    }),
  ).toBe(400)
  // A database that refuses what it is given tells all of it.
  await database.query('alter table external_account add constraint no_more check (false) not valid')
  const other = { ...account, accountInfo: { ...account.accountInfo, accountNumber: '123498765678' } }
  expect(await call('POST', '/platform/external-accounts', other)).toBe(500)
  await gateway.drain()
  expect(lines.length).toBeGreaterThan(5)
  for (const value of ['Lou Logged', '1988-08-18', '123498761234', '123498765678'])
    expect(lines.join(''), value).not.toContain(value)
  await gateway.close()
  await drop()
})

describe('when the keys change', () => {
  const key = () => randomBytes(32).toString('base64')

  async function start(database: Database, dataKeys: readonly string[]): Promise<Gateway> {
    const variables = { PORT: '0', BOOTSTRAP_SANDBOX_TOKEN: 'sandbox:sandbox-secret', DATA_KEYS: dataKeys.join(',') }
    return startGateway(readConfig(variables), {
      // Another process on the same database: it keeps what it opened with to itself.
      database: { ...database, close: async () => {} },
      clock: systemClock(),
      logger: createLogger('silent'),
      background: false,
    })
  }

  const call = async (gateway: Gateway, method: string, path: string, body?: Body) => {
    const response = await fetch(`${gateway.url}/2025-10-13${path}`, {
      method,
      headers: {
        authorization: basic({ clientId: 'sandbox', clientSecret: 'sandbox-secret' }),
        'content-type': 'application/json',
      },
      ...(body ? { body: JSON.stringify(body) } : {}),
    })
    return (await response.json()) as Body
  }

  test('the new one takes over everything, then the old one is not needed; a key that is missing is named', async () => {
    const { database, drop } = await freshDatabase()
    const [first, second] = [key(), key()]
    const keysOf = (list: readonly string[]) => readConfig({ DATA_KEYS: list.join(',') }).dataKeys

    const gateway = await start(database, [first])
    const person = { platformCustomerId: 'p', customerType: 'INDIVIDUAL', birthDate: '1976-11-03' }
    const { id } = await call(gateway, 'POST', '/customers', person)
    const account = {
      customerId: id,
      currency: 'USD',
      accountInfo: {
        accountType: 'US_ACCOUNT',
        accountNumber: '93847561029384',
        routingNumber: '021000021',
        accountCategory: 'CHECKING',
        beneficiary: beneficiary(),
      },
    }
    await call(gateway, 'POST', '/customers/external-accounts', account)
    await gateway.close()

    const [{ id: firstId }, { id: secondId }] = keysOf([first, second]) as unknown as [{ id: string }, { id: string }]
    await expect(prepareDataKeys(database, keysOf([second]), new Date())).rejects.toThrow(UnknownDataKey)

    const rotating = await prepareDataKeys(database, keysOf([second, first]), new Date())
    expect(rotating).toEqual({ earlier: [firstId], unprotected: false })
    expect(await dump(database)).toContain(`sealed:${firstId}:`)
    await sealAnew(database, rotating, { logger: createLogger('silent') })
    // Somebody else may have sealed with it meanwhile: a later start that finds nothing left forgets it.
    await expect(prepareDataKeys(database, keysOf([second]), new Date())).rejects.toThrow(UnknownDataKey)
    const again = await prepareDataKeys(database, keysOf([second, first]), new Date())
    await sealAnew(database, again, { logger: createLogger('silent') })
    const after = await dump(database)
    expect(after).not.toContain(`sealed:${firstId}:`)
    expect(after).toContain(`sealed:${secondId}:`)
    expect(await prepareDataKeys(database, keysOf([second]), new Date())).toEqual({ earlier: [], unprotected: false })

    const later = await start(database, [second])
    expect(await call(later, 'GET', `/customers/${id}`)).toMatchObject({ birthDate: '1976-11-03' })
    // The same account is still the same account.
    expect(await call(later, 'POST', '/customers/external-accounts', account)).toMatchObject({ code: 'EXTERNAL_ACCOUNT_EXISTS' })
    await later.close()
    await database.close()
    await drop()
  })

  test('what was written before there were keys is sealed', async () => {
    const { database, drop } = await freshDatabase()
    const gateway = await start(database, [])
    const { id } = await call(gateway, 'POST', '/customers', {
      platformCustomerId: 'p',
      customerType: 'BUSINESS',
      businessInfo: { legalName: 'Old Ltd', taxId: '98-7654321' },
    })
    await gateway.close()
    await database.query(`update customer set business_info = '{"legalName": "Old Ltd", "taxId": "98-7654321"}'`)
    await database.query(`insert into data_key (id, created_at) values ('clear', now())`)

    const keys = await prepareDataKeys(database, [], new Date())
    expect(keys).toEqual({ earlier: ['clear'], unprotected: true })
    expect(await dump(database)).toContain('98-7654321')
    await sealAnew(database, keys, { logger: createLogger('silent') })
    expect(await dump(database)).not.toContain('98-7654321')

    const later = await start(database, [])
    expect(await call(later, 'GET', `/customers/${id}`)).toMatchObject({
      businessInfo: { legalName: 'Old Ltd', taxId: '98-7654321' },
    })
    await later.close()
    await database.close()
    await drop()
  })
})
