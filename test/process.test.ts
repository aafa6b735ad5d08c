import { spawnSync } from 'node:child_process'
import { afterEach, beforeEach, expect, inject, test } from 'vitest'
import { WebSocket } from 'ws'
import { openDatabase } from '../src/database/open.ts'
import { type GatewayProcess, newOwnData, startProcess, until } from './process.ts'

import { serverUrl } from './template.ts'
import { type Body, basic, type Credentials, expectBalancedBooks } from './world.ts'

/** Where the processes of one test keep their data. */
let environment: Record<string, string>
let cleanUp: () => Promise<void>

beforeEach(async () => {
  ;({ environment, cleanUp } = await newOwnData())
})

afterEach(() => cleanUp())

interface Parties {
  customer: Body
  dollars: Body
  euros: Body
}

async function newParties({ call }: GatewayProcess, balance: number): Promise<Parties> {
  const { body: customer } = await call('POST', '/customers', { platformCustomerId: 'p', customerType: 'INDIVIDUAL' })
  const { body: accounts } = await call('GET', `/customers/internal-accounts?customerId=${customer['id']}&currency=USD`)
  const dollars = accounts['data'][0]
  await call('POST', `/sandbox/internal-accounts/${dollars.id}/fund`, { amount: balance })
  const { body: euros } = await call('POST', '/customers/external-accounts', {
    customerId: customer['id'],
    currency: 'EUR',
    accountInfo: { accountType: 'IBAN', iban: 'DE89370400440532013000' },
  })
  return { customer, dollars, euros }
}

const payment = ({ dollars, euros }: Parties, amount: number) => ({
  source: { accountId: dollars['id'] },
  destination: { accountId: euros['id'] },
  lockedCurrencySide: 'SENDING',
  lockedCurrencyAmount: amount,
  immediatelyExecute: true,
})

test('a payment made before a stop is there after the next start', async () => {
  const first = await startProcess(environment)
  expect(first.output()).toContain('sandbox:sandbox-secret')
  const parties = await newParties(first, 100_000)
  const { body: quote } = await first.call('POST', '/quotes', payment(parties, 50_000))
  const statusOf = async (gateway: GatewayProcess) => (await gateway.call('GET', `/quotes/${quote['id']}`)).body['status']
  await until(async () => (await statusOf(first)) === 'COMPLETED')
  expect(await first.stop('SIGTERM')).toBe(0)

  const second = await startProcess(environment)
  expect(second.output()).not.toContain('sandbox-secret')
  expect(await statusOf(second)).toBe('COMPLETED')
  expect(await second.stop('SIGINT')).toBe(0)
})

test.runIf(inject('engine') === 'embedded')('a second process on the same folder is refused, and told why', async () => {
  const first = await startProcess(environment)
  await expect(startProcess(environment)).rejects.toThrow(/exit 1: .*in use by process \d+\. Stop that process first/)
  expect((await first.call('GET', '/config')).status).toBe(200)
  await first.stop('SIGTERM')
})

test('a configuration that cannot be read ends the start with the names of what is wrong', async () => {
  await expect(startProcess({ ...environment, QUOTE_LIFETIME_MS: 'soon' })).rejects.toThrow('QUOTE_LIFETIME_MS')
})

test('log lines have the request id, and no secret, account number or birth date', async () => {
  const gateway = await startProcess({ ...environment, LOG_LEVEL: 'trace' })
  const secrets = [
    'sandbox-secret',
    '1990-12-10',
    'DE89370400440532013000',
    'Grace',
    Buffer.from('sandbox:sandbox-secret').toString('base64'),
  ]
  const parties = await newParties(gateway, 100_000)
  const headers = { 'x-request-id': 'find-me' }
  const named = { platformCustomerId: 'p', customerType: 'INDIVIDUAL', fullName: 'Grace', birthDate: '1990-12-10' }
  expect((await gateway.call('POST', '/customers', named, headers)).status).toBe(201)
  await gateway.call('POST', '/customers', { ...named, birthDate: '1990-12-1O' })
  await gateway.call('POST', '/quotes', payment(parties, 50_000))
  await gateway.call('GET', `/customers?umaAddress=$grace@x.example&platformCustomerId=DE89370400440532013000`)
  const query = '{ customers { edges { node { birthDate } } } }'
  await fetch(`${gateway.url}/graphql`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      authorization: basic({ clientId: 'sandbox', clientSecret: 'sandbox-secret' }),
    },
    body: JSON.stringify({ query }),
  })
  await gateway.stop('SIGTERM')
  const lines = gateway
    .output()
    .split('\n')
    .filter((line) => line.startsWith('{'))
  expect(lines.length).toBeGreaterThan(6)
  expect(lines.find((line) => line.includes('"find-me"'))).toContain('"route":"/2025-10-13/customers"')
  for (const secret of secrets) expect(lines.filter((line) => line.includes(secret))).toEqual([])
})

test('SIGTERM closes sockets with 1001 and ends with 0', async () => {
  const gateway = await startProcess(environment)
  const socket = await greeted(gateway)
  const closed = new Promise((resolve) => socket.once('close', resolve))
  expect(await gateway.stop('SIGTERM')).toBe(0)
  expect(await closed).toBe(1001)
})

test('SIGTERM does not wait for sockets that do not read', async () => {
  const gateway = await startProcess(environment)
  const socket = await greeted(gateway)
  socket.pause()
  // It gives up after ten seconds, with another exit code.
  expect(await gateway.stop('SIGTERM')).toBe(0)
  socket.terminate()
})

test('a token that is revoked, at this process or another, closes its sockets', async () => {
  const gateway = await startProcess(environment)
  const other = inject('engine') === 'server' ? await startProcess(environment) : gateway
  const { body: token } = await gateway.call('POST', '/tokens', { name: 'short-lived', permissions: ['VIEW'] })
  const socket = await greeted(other, token as Credentials)
  const closed = new Promise((resolve) => socket.once('close', (code) => resolve(code)))
  await gateway.call('DELETE', `/tokens/${token['id']}`)
  expect(await closed).toBe(4403)
  for (const one of new Set([gateway, other])) await one.stop('SIGTERM')
})

async function greeted(gateway: GatewayProcess, as: Credentials = { clientId: 'sandbox', clientSecret: 'sandbox-secret' }) {
  const socket = new WebSocket(`${gateway.url.replace('http', 'ws')}/graphql`, 'graphql-transport-ws')
  await new Promise((resolve) => socket.once('open', resolve))
  socket.send(JSON.stringify({ type: 'connection_init', payload: { authorization: basic(as) } }))
  await new Promise((resolve) => socket.once('message', resolve))
  return socket
}

test('SIGKILL in the middle of payments loses none and doubles none', async () => {
  const amount = 1_000
  const kills = 3
  const tries = 40
  let gateway = await startProcess(environment)
  const parties = await newParties(gateway, kills * tries * amount)
  const acknowledged = new Set<string>()
  let unanswered = 0
  for (let round = 0; round < kills; round += 1) {
    // Each payment with a key of its own; the process dies while they are under way.
    const keys = Array.from({ length: tries }, (_, index) => `payment-${round}-${index}`)
    const pay = async (key: string) => {
      const { status, body } = await gateway.call('POST', '/quotes', payment(parties, amount), { 'idempotency-key': key })
      if (status !== 201) throw new Error(JSON.stringify(body))
      acknowledged.add(body['id'])
    }
    let answered = 0
    const underWay = Promise.allSettled(
      keys.map(async (key) => {
        await pay(key)
        answered += 1
        if (answered === 5) gateway.child.kill('SIGKILL')
      }),
    )
    unanswered += (await underWay).filter(({ status }) => status === 'rejected').length
    await gateway.stop('SIGKILL')
    gateway = await startProcess(environment)
    // The client does not know what became of its calls, so it repeats them all.
    for (const key of keys) await pay(key)
  }
  expect(unanswered).toBeGreaterThan(0)
  await until(async () => {
    const { body } = await gateway.call(
      'GET',
      `/transactions?customerId=${parties.customer['id']}&status=COMPLETED&type=OUTGOING`,
    )
    return body['totalCount'] === kills * tries
  })
  const quotes = await gateway.call('GET', `/quotes?customerId=${parties.customer['id']}`)
  expect(quotes.body['totalCount']).toBe(kills * tries)
  expect(acknowledged.size).toBe(kills * tries)
  for (const id of acknowledged) expect((await gateway.call('GET', `/quotes/${id}`)).body['status']).toBe('COMPLETED')
  expect(
    (await gateway.call('GET', `/customers/internal-accounts?customerId=${parties.customer['id']}&currency=USD`)).body['data'][0]
      .balance.amount,
  ).toBe(0)
  await gateway.stop('SIGTERM')

  const database = await openDatabase({
    databaseUrl: environment['DATABASE_URL'],
    dataDir: environment['DATA_DIR'] ?? 'memory',
  })
  await expectBalancedBooks(database)
  const events = await database.query<{ position: bigint | null; resource: string; status: string }>(
    `select position, resource_id as resource, payload->'transaction'->>'status' as status from event where type = 'OUTGOING_PAYMENT'`,
  )
  // PROCESSING and COMPLETED of each, once, and all in their place.
  expect(new Set(events.map(({ resource, status }) => `${resource} ${status}`)).size).toBe(2 * kills * tries)
  expect(events).toHaveLength(2 * kills * tries)
  await database.close()
}, 120_000)

test.runIf(inject('engine') === 'server')(
  'two processes on one database pay as one, and each tells what the other did',
  async () => {
    const [first, second] = await Promise.all([startProcess(environment), startProcess(environment)])
    const both = (index: number) => (index % 2 === 0 ? first : second)
    const times = (count: number) => Array.from({ length: count }, (_, index) => index)
    const parties = await newParties(first, 50 * 1_000)
    const { body: quote } = await first.call('POST', '/quotes', { ...payment(parties, 1_000), immediatelyExecute: false })
    const executes = await Promise.all(times(50).map((index) => both(index).call('POST', `/quotes/${quote['id']}/execute`)))
    expect(executes.filter(({ status }) => status === 200)).toHaveLength(1)
    expect(executes.filter(({ status }) => status === 409)).toHaveLength(49)
    const key = { 'idempotency-key': 'same-through-both' }
    const keyed = await Promise.all(times(20).map((index) => both(index).call('POST', '/quotes', payment(parties, 1_000), key)))
    expect(new Set(keyed.map(({ status }) => status))).toEqual(new Set([201]))
    expect(new Set(keyed.map(({ body }) => body['id'])).size).toBe(1)
    const payments = await Promise.all(times(200).map((index) => both(index).call('POST', '/quotes', payment(parties, 1_000))))
    expect(payments.filter(({ status }) => status === 201)).toHaveLength(48)
    expect(payments.filter(({ body }) => body['code'] === 'INSUFFICIENT_BALANCE')).toHaveLength(152)
    const completed = `/transactions?customerId=${parties.customer['id']}&status=COMPLETED&type=OUTGOING`
    await until(async () => (await second.call('GET', completed)).body['totalCount'] === 50)
    await Promise.all([first.stop('SIGTERM'), second.stop('SIGTERM')])
    const database = await openDatabase({ databaseUrl: environment['DATABASE_URL'], dataDir: 'memory' })
    await expectBalancedBooks(database)
    const [positions] = await database.query<{ events: bigint; placed: bigint; distinct: bigint; last: bigint }>(
      'select count(*) as events, count(position) as placed, count(distinct position) as distinct, max(position) as last from event',
    )
    expect(new Set(Object.values(positions!)).size).toBe(1)
    await database.close()
  },
)

test.each([3_600_000, -3_600_000])(
  'a process whose clock is wrong by %d ms stamps and judges by the database',
  async (skewMs) => {
    // The embedded engine's clock is the process's own; there the two are wrong together.
    const gateway = await startProcess({
      ...environment,
      QUOTE_LIFETIME_MS: '1500',
      SKEW_MS: String(skewMs),
      NODE_OPTIONS: `--import=${new URL('./fixtures/skew.ts', import.meta.url).href}`,
    })
    const parties = await newParties(gateway, 100_000)
    const quotes: Body[] = []
    for (const _ of [1, 2]) {
      quotes.push((await gateway.call('POST', '/quotes', { ...payment(parties, 10_000), immediatelyExecute: false })).body)
    }
    if (inject('engine') === 'server') {
      expect(Math.abs(Date.parse(quotes[0]!['createdAt']) - Date.now())).toBeLessThan(30_000)
    }
    expect((await gateway.call('POST', `/quotes/${quotes[0]!['id']}/execute`)).status).toBe(200)
    await until(async () => (await gateway.call('GET', `/quotes/${quotes[1]!['id']}`)).body['status'] === 'EXPIRED')
    expect((await gateway.call('POST', `/quotes/${quotes[1]!['id']}/execute`)).body['code']).toBe('QUOTE_EXPIRED')
    await gateway.stop('SIGTERM')
  },
)

/** `npm run audit` on the data of a test. */
function runAudit(): { code: number | null; printed: string } {
  const { status, stdout, stderr } = spawnSync(process.execPath, ['scripts/audit.ts'], {
    env: { ...process.env, BASE_URL: '', DATABASE_URL: '', ...environment },
    encoding: 'utf8',
  })
  return { code: status, printed: stdout + stderr }
}

test('production carries money by the rails that RAILS names, and answers 501 for what they do not carry', async () => {
  const gateway = await startProcess({
    ...environment,
    RAILS: 'test/fixtures/rails.ts',
    BOOTSTRAP_PRODUCTION_TOKEN: 'production:production-secret',
  })
  const authorization = basic({ clientId: 'production', clientSecret: 'production-secret' })
  const call = (method: string, path: string, body?: unknown) => gateway.call(method, path, body, { authorization })
  const { body: customer } = await call('POST', '/customers', { platformCustomerId: 'p', customerType: 'INDIVIDUAL' })
  const accounts = async () =>
    (await call('GET', `/customers/internal-accounts?customerId=${customer['id']}`)).body['data'] as Body[]
  const dollars = (await accounts()).find(({ balance }) => balance.currency.code === 'USD')!
  const pesos = (await accounts()).find(({ balance }) => balance.currency.code === 'MXN')!
  expect(dollars['fundingPaymentInstructions'][0].accountOrWalletInfo.accountNumber).toBe('42')
  expect(pesos['fundingPaymentInstructions']).toEqual([])

  const { reference } = dollars['fundingPaymentInstructions'][0]
  for (const _ of [1, 2]) gateway.child.send({ railReference: 'wire-1', reference, currency: 'USD', amount: '100000' })
  await until(async () => (await accounts()).find(({ id }) => id === dollars['id'])!['balance'].amount === 100_000)

  const { body: euros } = await call('POST', '/customers/external-accounts', {
    customerId: customer['id'],
    currency: 'EUR',
    accountInfo: { accountType: 'IBAN', iban: 'DE89370400440532013000' },
  })
  const { body: quote } = await call('POST', '/quotes', payment({ customer, dollars, euros }, 50_000))
  const statusOf = async () => (await call('GET', `/transactions/${quote['transactionId']}`)).body['status']
  await until(async () => ['COMPLETED', 'REJECTED'].includes(await statusOf()))
  const clabe = { accountType: 'CLABE', clabeNumber: '111222333444555666' }
  const { body: outside } = await call('POST', '/customers/external-accounts', {
    customerId: customer['id'],
    currency: 'MXN',
    accountInfo: clabe,
  })
  expect(await call('POST', '/quotes', payment({ customer, dollars, euros: outside }, 1_000))).toMatchObject({
    status: 501,
    body: { code: 'NOT_IMPLEMENTED' },
  })
  expect(await gateway.stop('SIGTERM')).toBe(0)
  expect(runAudit()).toEqual({ code: 0, printed: expect.stringContaining('The books are in order.') })
})

test('rails that cannot be loaded end the start, and say why', async () => {
  await expect(startProcess({ ...environment, RAILS: 'test/world.ts' })).rejects.toThrow(/RAILS/)
})

test.runIf(inject('engine') === 'server')(
  'two gateways, one killed again and again: every subscriber is told everything, once and in order',
  () => {
    const options = ['--sockets', '60', '--events', '2000', '--kills', '2']
    const { status, stdout } = spawnSync(process.execPath, ['scripts/verify-events.ts', ...options], {
      env: { ...process.env, DATABASE_URL: serverUrl('postgres') },
      encoding: 'utf8',
    })
    expect(stdout).toContain('0 missing, 0 twice, 0 out of order')
    expect(status).toBe(0)
  },
)

test('the auditor exits 1 with the rows that are wrong', async () => {
  const gateway = await startProcess(environment)
  const { dollars } = await newParties(gateway, 100_000)
  await gateway.stop('SIGTERM')
  const database = await openDatabase({ databaseUrl: environment['DATABASE_URL'], dataDir: environment['DATA_DIR'] ?? 'memory' })
  const id = dollars['id'].slice('InternalAccount:'.length)
  await database.query('update ledger_account set balance = balance + 1 where id = $1', [id])
  await database.close()
  const { code, printed } = runAudit()
  expect(code).toBe(1)
  expect(printed).toContain(`a balance is the sum of its postings, and never negative: ${id} (100001 for 100000)`)
})
