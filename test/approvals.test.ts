import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { followLog } from '../src/webhooks/follow.ts'
import { fund, internalAccountOf, newCustomer, newIbanAccount } from './people.ts'
import { openReceiver, type Receiver } from './receiver.ts'
import { type Body, useWorld } from './world.ts'

const world = useWorld({ webhookTimeouts: { approvalMs: 1_000, otherMs: 1_000 } })

let receiver: Receiver

beforeAll(async () => {
  receiver = await openReceiver()
})

afterAll(() => receiver.close())

beforeEach(async () => {
  await configure({ webhookEndpoint: receiver.url, incomingPaymentApproval: 'WEBHOOK' })
  await world.drain()
  receiver.received = []
  receiver.answer = () => ({ status: 200 })
})

async function configure(config: Body): Promise<void> {
  expect((await world.rest('PATCH', '/config', config)).status).toBe(200)
}

const sender = '$success.usd@sandbox.uma.localhost'

async function receive(customer: Body, fields: Body = {}): Promise<Body> {
  const { status, body } = await world.rest('POST', '/sandbox/uma/receive', {
    senderUmaAddress: sender,
    receiverUmaAddress: customer['umaAddress'],
    receivingCurrencyCode: 'USD',
    receivingCurrencyAmount: 2500,
    ...fields,
  })
  expect(status, JSON.stringify(body)).toBe(200)
  return body
}

async function stateOf({ id }: Body): Promise<Body> {
  return (await world.rest('GET', `/transactions/${id}`)).body
}

async function balanceOf(customer: Body, currency = 'USD'): Promise<number> {
  return (await internalAccountOf(world, customer['id'], currency))['balance'].amount
}

const approve = ({ id }: Body, body: Body = {}) => world.rest('POST', `/transactions/${id}/approve`, body)
const reject = ({ id }: Body, body: Body = {}) => world.rest('POST', `/transactions/${id}/reject`, body)
const notPending = { status: 409, body: { code: 'TRANSACTION_NOT_PENDING_PLATFORM_APPROVAL' } }

describe('an incoming payment by UMA', () => {
  test('asks the webhook, and its 200 lets it go on: PENDING, COMPLETED, and the balance', async () => {
    const customer = await newCustomer(world, { nationality: 'FR' })
    const payment = await receive(customer)
    expect(payment).toMatchObject({
      type: 'INCOMING',
      status: 'PENDING',
      source: { sourceType: 'UMA_ADDRESS', umaAddress: sender, currency: 'USD' },
      destination: { destinationType: 'ACCOUNT', currency: 'USD' },
      customerId: customer['id'],
      receivedAmount: { amount: 2500 },
      counterpartyInformation: { FULL_NAME: 'Sandbox Sender' },
      senderUmaAddress: sender,
      receiverUmaAddress: customer['umaAddress'],
      reconciliationInstructions: { reference: expect.any(String) },
    })
    await world.drain()
    expect(receiver.statuses()).toEqual(['PENDING', 'COMPLETED'])
    const [asked] = receiver.received
    expect(asked!.body['transaction']).toEqual(payment)
    expect(asked!.body).not.toHaveProperty('requestedReceiverUserInfoFields')
    expect(Date.parse(asked!.body['approvalDeadline']) - world.clock.now().getTime()).toBe(10_000)
    expect(await stateOf(payment)).toMatchObject({ status: 'COMPLETED', settledAt: expect.any(String) })
    expect(await balanceOf(customer)).toBe(2500)
    const balance = receiver.received.find(({ body }) => body['type'] === 'ACCOUNT_STATUS')!.body
    expect(balance).toMatchObject({ customerId: customer['id'], newBalance: { amount: 2500 } })
  })

  test('tells what the platform requires of counterparties', async () => {
    const { body: config } = await world.rest('GET', '/config')
    const strict = config['supportedCurrencies'].map((supported: Body) =>
      supported['currencyCode'] === 'USD'
        ? { ...supported, requiredCounterpartyFields: [{ name: 'NATIONALITY', mandatory: true }] }
        : supported,
    )
    await configure({ supportedCurrencies: strict })
    const payment = await receive(await newCustomer(world))
    expect(payment['counterpartyInformation']).toEqual({ FULL_NAME: 'Sandbox Sender', NATIONALITY: 'US' })
    await configure({ supportedCurrencies: config['supportedCurrencies'] })
  })

  test('goes on to the default UMA deposit account, and back to its sender when that refuses it', async () => {
    for (const [ending, status, reason] of [
      ['100', 'COMPLETED', undefined],
      ['004', 'REJECTED', undefined],
      ['003', 'FAILED', 'OFFRAMP_FAILED'],
    ] as const) {
      const customer = await newCustomer(world)
      const { accountInfo } = await newIbanAccount(world, customer['id'], ending)
      const account = {
        customerId: customer['id'],
        currency: 'EUR',
        defaultUmaDepositAccount: true,
        platformAccountId: `d${ending}`,
      }
      const iban = `${accountInfo.iban.slice(0, 4)}9${accountInfo.iban.slice(5)}`
      const { body } = await world.rest('POST', '/customers/external-accounts', {
        ...account,
        accountInfo: { ...accountInfo, iban },
      })
      const payment = await receive(customer, { receivingCurrencyCode: 'EUR' })
      expect(payment['destination']).toEqual({ destinationType: 'ACCOUNT', accountId: body['id'], currency: 'EUR' })
      await world.drain()
      const after = await stateOf(payment)
      expect([after['status'], after['failureReason']]).toEqual([status, reason])
      expect(after['refund'] === undefined).toBe(status === 'COMPLETED')
      expect(await balanceOf(customer, 'EUR')).toBe(0)
    }
  })

  test('asks for what the payer’s provider must know and we do not hold', async () => {
    const nameless = { fullName: undefined }
    const requested = [
      { name: 'FULL_NAME', mandatory: true },
      { name: 'NATIONALITY', mandatory: false },
    ]
    const ends: [string | undefined, string, string | undefined][] = [
      ['{"receiverUserInfo":{"FULL_NAME":"Ada Lovelace"}}', 'COMPLETED', undefined],
      ['{"receiverCustomerInfo":{"FULL_NAME":"Ada Lovelace"}}', 'COMPLETED', undefined],
      ['{"receiverUserInfo":{"NATIONALITY":"GB"}}', 'FAILED', 'MISSING_MANDATORY_PAYEE_DATA'],
      ['{"receiverUserInfo":{"FULL_NAME":5}}', 'FAILED', 'MISSING_MANDATORY_PAYEE_DATA'],
      [undefined, 'FAILED', 'MISSING_MANDATORY_PAYEE_DATA'],
    ]
    for (const [body, status, reason] of ends) {
      receiver.received = []
      receiver.answer = ({ transaction }) => ({ status: 200, body: transaction?.status === 'PENDING' ? (body ?? '') : '' })
      const payment = await receive(await newCustomer(world, nameless))
      await world.drain()
      expect(receiver.received[0]!.body['requestedReceiverUserInfoFields']).toEqual(requested)
      const after = await stateOf(payment)
      expect([after['status'], after['failureReason']]).toEqual([status, reason])
    }
    // What the platform told of its customer stays out of the log.
    const log = await world.database.query<{ body: string | null }>(
      `select response_body as body from webhook_attempt where response_body like '%Lovelace%'`,
    )
    expect(log).toEqual([])
  })

  test.each([
    [403, '{"code":"payment_rejected","message":"no","details":{"rejectionReason":"unknown sender"}}', 'REJECTED', undefined],
    [422, '{"requiredFields":["TAX_ID"]}', 'FAILED', 'MISSING_MANDATORY_PAYEE_DATA'],
    [500, '', 'FAILED', 'PAYMENT_APPROVAL_WEBHOOK_ERROR'],
    [409, '', 'FAILED', 'PAYMENT_APPROVAL_WEBHOOK_ERROR'],
    [302, '', 'FAILED', 'PAYMENT_APPROVAL_WEBHOOK_ERROR'],
  ])('answered %s %s becomes %s', async (status, body, becomes, reason) => {
    const customer = await newCustomer(world)
    receiver.answer = ({ transaction }) => (transaction?.status === 'PENDING' ? { status, body } : { status: 200 })
    const payment = await receive(customer)
    await world.drain()
    const after = await stateOf(payment)
    expect([after['status'], after['failureReason']]).toEqual([becomes, reason])
    expect(receiver.statuses()).toEqual(['PENDING', becomes])
    expect(await balanceOf(customer)).toBe(0)
    // Sent once, whatever became of it.
    world.clock.advance(3_600_000)
    await world.drain()
    expect(receiver.statuses()).toEqual(['PENDING', becomes])
    const { body: graph } = await world.graphql(
      'query ($id: ID!) { transaction(id: $id) { approval { decidedBy reason } } }',
      payment,
    )
    const decided =
      becomes === 'REJECTED' ? { decidedBy: 'WEBHOOK', reason: 'unknown sender' } : { decidedBy: null, reason: null }
    expect(graph['data'].transaction.approval).toEqual(decided)
  })

  test('that is not answered in time has timed out; a server that is not there is an error', async () => {
    receiver.answer = ({ transaction }) => (transaction?.status === 'PENDING' ? 'never' : { status: 200 })
    const silent = await receive(await newCustomer(world))
    await world.drain()
    expect(await stateOf(silent)).toMatchObject({ status: 'FAILED', failureReason: 'PAYMENT_APPROVAL_TIMED_OUT' })
    await configure({ webhookEndpoint: 'http://127.0.0.1:1/' })
    const lost = await receive(await newCustomer(world))
    await world.drain()
    expect(await stateOf(lost)).toMatchObject({ status: 'FAILED', failureReason: 'PAYMENT_APPROVAL_WEBHOOK_ERROR' })
  })

  test('that is asked for by a process which died is not asked for again, and times out', async () => {
    const payment = await receive(await newCustomer(world))
    await world.drain()
    const second = await receive(await newCustomer(world))
    // As if it had been taken and nothing was heard since.
    await world.database.query('select place_events(1000)')
    while (await followLog(world.database, world.clock)) {}
    await world.database.query(`update webhook_delivery set attempts = 1 where resource_id = $1`, [second['id']])
    receiver.received = []
    await world.drain()
    expect(receiver.statuses()).toEqual([])
    world.clock.advance(10_000)
    await world.drain()
    expect(await stateOf(second)).toMatchObject({ status: 'FAILED', failureReason: 'PAYMENT_APPROVAL_TIMED_OUT' })
    expect(await stateOf(payment)).toMatchObject({ status: 'COMPLETED' })
  })

  test('is refused for whoever is not there, may not, or cannot take it', async () => {
    const customer = await newCustomer(world)
    const refused = (fields: Body) =>
      world.rest('POST', '/sandbox/uma/receive', {
        senderUmaAddress: sender,
        receiverUmaAddress: customer['umaAddress'],
        receivingCurrencyCode: 'USD',
        receivingCurrencyAmount: 2500,
        ...fields,
      })
    const cases: [Body, number, string][] = [
      [{ senderUmaAddress: '$nobody@sandbox.uma.localhost' }, 404, 'UMA_NOT_FOUND'],
      [{ senderUmaAddress: 'nobody' }, 400, 'INVALID_UMA_ADDRESS'],
      [{ receiverUmaAddress: '$nobody@demo.sandbox.uma.localhost' }, 404, 'UMA_NOT_FOUND'],
      [{ receiverUmaAddress: undefined }, 400, 'INVALID_INPUT'],
      [{ receiverUmaAddress: undefined, customerId: `Customer:${crypto.randomUUID()}` }, 404, 'USER_NOT_FOUND'],
      [{ customerId: (await newCustomer(world))['id'] }, 404, 'UMA_NOT_FOUND'],
      [{ receivingCurrencyCode: 'NGN' }, 400, 'INVALID_CURRENCY'],
      [{ receivingCurrencyAmount: 0 }, 400, 'INVALID_AMOUNT'],
      [{ receivingCurrencyAmount: 1 }, 400, 'AMOUNT_OUT_OF_RANGE'],
      [{ receiverUmaAddress: (await newCustomer(world, { fullName: 'Ada 001' }))['umaAddress'] }, 403, 'USER_NOT_READY'],
    ]
    for (const [fields, status, code] of cases) expect(await refused(fields)).toMatchObject({ status, body: { code } })
    const strangers = await newCustomer(world, {}, { as: world.stranger })
    expect(await refused({ receiverUmaAddress: strangers['umaAddress'] })).toMatchObject({ status: 404 })
    expect((await world.rest('POST', '/sandbox/uma/receive', {}, { as: world.production })).status).toBe(403)
    const own = {
      receiverUmaAddress: strangers['umaAddress'],
      senderUmaAddress: sender,
      receivingCurrencyCode: 'USD',
      receivingCurrencyAmount: 500,
    }
    const unset = await world.rest('POST', '/sandbox/uma/receive', own, { as: world.stranger })
    expect(unset).toMatchObject({ status: 400, body: { code: 'WEBHOOK_ENDPOINT_NOT_SET' } })
  })
})

describe('a deferred decision', () => {
  beforeEach(() => {
    receiver.answer = ({ transaction }) => ({ status: transaction?.status === 'PENDING' ? 202 : 200 })
  })

  test('is made by a call within five seconds of the 202', async () => {
    const customer = await newCustomer(world)
    const [accepted, refused] = [await receive(customer), await receive(customer)]
    await world.drain()
    world.clock.advance(4_999)
    expect(await approve(accepted)).toMatchObject({ status: 200, body: { id: accepted['id'], status: 'PROCESSING' } })
    expect(await reject(refused, { reason: 'no' })).toMatchObject({ status: 200, body: { status: 'REJECTED' } })
    await world.drain()
    expect((await stateOf(accepted))['status']).toBe('COMPLETED')
    expect(await balanceOf(customer)).toBe(2500)
    expect(receiver.statuses().toSorted()).toEqual(['COMPLETED', 'PENDING', 'PENDING', 'REJECTED'])
  })

  test('that is not made fails by itself at the deadline, and not before', async () => {
    const payment = await receive(await newCustomer(world))
    await world.drain()
    world.clock.advance(4_999)
    await world.drain()
    expect((await stateOf(payment))['status']).toBe('PENDING')
    world.clock.advance(1)
    expect(await approve(payment)).toMatchObject(notPending)
    await world.drain()
    expect(await stateOf(payment)).toMatchObject({ status: 'FAILED', failureReason: 'PAYMENT_APPROVAL_TIMED_OUT' })
    expect(await reject(payment)).toMatchObject(notPending)
  })

  test('may come before the 202 has been read', async () => {
    receiver.answer = async ({ transaction }) => {
      if (transaction?.status !== 'PENDING') return { status: 200 }
      expect((await approve(transaction)).status).toBe(200)
      return { status: 202 }
    }
    const payment = await receive(await newCustomer(world))
    await world.drain()
    expect((await stateOf(payment))['status']).toBe('COMPLETED')
  })

  test('lacks nothing that is mandatory', async () => {
    const payment = await receive(await newCustomer(world, { fullName: undefined }))
    await world.drain()
    expect(await approve(payment)).toMatchObject({
      status: 400,
      body: { code: 'MISSING_MANDATORY_USER_INFO', details: { field: 'receiverUserInfo', requiredFields: ['FULL_NAME'] } },
    })
    expect((await approve(payment, { receiverCustomerInfo: { FULL_NAME: 'Ada' } })).status).toBe(200)
    await world.drain()
    expect((await stateOf(payment))['status']).toBe('COMPLETED')
  })

  test('of fifty made at once, one counts', async () => {
    const customer = await newCustomer(world)
    const payment = await receive(customer)
    await world.drain()
    const answers = await Promise.all(
      Array.from({ length: 50 }, (_, index) => (index % 2 === 0 ? approve(payment) : reject(payment))),
    )
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1)
    expect(answers.filter(({ status }) => status === 409)).toHaveLength(49)
    await world.drain()
    const { status } = await stateOf(payment)
    expect(await balanceOf(customer)).toBe(status === 'COMPLETED' ? 2500 : 0)
  })

  test('is not there to be made for another payment, another world, or none', async () => {
    const customer = await newCustomer(world)
    await fund(world, (await internalAccountOf(world, customer['id'], 'USD'))['id'], 5)
    const { body } = await world.rest('GET', `/transactions?customerId=${customer['id']}`)
    expect(await approve(body['data'][0])).toMatchObject(notPending)
    const missing = await approve({ id: `Transaction:${crypto.randomUUID()}` })
    expect(missing).toMatchObject({ status: 404, body: { code: 'TRANSACTION_NOT_FOUND' } })
    const payment = await receive(customer)
    const foreign = await world.rest('POST', `/transactions/${payment['id']}/approve`, {}, { as: world.stranger })
    expect(foreign.text).toBe(missing.text)
    expect((await approve({ id: 'nonsense' })).status).toBe(400)
  })
})

describe('a platform that decides by calls', () => {
  const mutation = `mutation ($input: ApproveTransactionInput!) { approveTransaction(input: $input) {
    transaction { status } errors { code field } } }`

  test('has five seconds, needs no endpoint, and its webhook decides nothing', async () => {
    await configure({ incomingPaymentApproval: 'API' })
    receiver.answer = () => ({ status: 403 })
    const payment = await receive(await newCustomer(world))
    await world.drain()
    expect((await stateOf(payment))['status']).toBe('PENDING')
    const { body } = await world.graphql('query ($id: ID!) { transaction(id: $id) { approval { deadline } } }', payment)
    expect(Date.parse(body['data'].transaction.approval.deadline) - world.clock.now().getTime()).toBe(5000)
    world.clock.advance(4_999)
    const decided = await world.graphql(mutation, { input: { transactionId: payment['id'] } })
    expect(decided.body['data'].approveTransaction).toEqual({ transaction: { status: 'PROCESSING' }, errors: [] })
    const again = await world.graphql(mutation, { input: { transactionId: payment['id'] } })
    expect(again.body['data'].approveTransaction.errors).toEqual([
      { code: 'TRANSACTION_NOT_PENDING_PLATFORM_APPROVAL', field: 'transactionId' },
    ])
    await world.drain()
    expect((await stateOf(payment))['status']).toBe('COMPLETED')
  })

  test('that says nothing lets it time out', async () => {
    await configure({ incomingPaymentApproval: 'API' })
    const payment = await receive(await newCustomer(world))
    world.clock.advance(5000)
    await world.drain()
    expect(await stateOf(payment)).toMatchObject({ status: 'FAILED', failureReason: 'PAYMENT_APPROVAL_TIMED_OUT' })
  })
})
