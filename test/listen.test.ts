import { type ChildProcess, spawn } from 'node:child_process'
import { createPublicKey, verify } from 'node:crypto'
import { once } from 'node:events'
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest'
import { fund, newCustomer, newPayer } from './people.ts'
import { openReceiver, type Receiver } from './receiver.ts'
import { type Body, useWorld } from './world.ts'

const world = useWorld()

let receiver: Receiver
let child: ChildProcess
let printed: string

beforeAll(async () => {
  receiver = await openReceiver()
})

afterAll(() => receiver.close())

beforeEach(() => {
  receiver.received = []
  receiver.answer = () => ({ status: 200 })
})

afterEach(() => child.kill())

async function listen(...options: string[]): Promise<void> {
  printed = ''
  const { clientId, clientSecret } = world.sandbox
  child = spawn(process.execPath, ['scripts/listen.ts', ...options], {
    env: { ...process.env, GATEWAY_URL: world.gateway.url, GATEWAY_TOKEN: `${clientId}:${clientSecret}` },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  for (const stream of [child.stdout!, child.stderr!]) {
    stream.on('data', (chunk) => {
      printed += chunk
    })
  }
}

/** Resolves once it has printed so, doing meanwhile what is due. */
async function says(what: RegExp): Promise<void> {
  for (let patience = 2000; !what.test(printed); patience -= 1) {
    if (patience === 0) throw new Error(`it never said ${what}: ${printed}`)
    await world.drain()
    await new Promise((resolve) => setTimeout(resolve, 5))
  }
}

test('posts what happens to a local server, signed as webhooks are, and decides on approvals by its answers', async () => {
  await world.rest('PATCH', '/config', { incomingPaymentApproval: 'API' })
  const payer = await newPayer(world, { balance: 0 })
  await world.drain()
  await listen('--forward-to', receiver.url)
  await says(/Following/)
  await fund(world, payer.dollars['id'], 5)
  await says(/ACCOUNT_STATUS.* 200\n(.*\n)*.*INCOMING_PAYMENT.* 200/)
  const { body: events } = await world.rest('GET', `/events?customerId=${payer.customer['id']}`)
  expect(receiver.received.map(({ body }) => body)).toEqual(events['data'].map(({ event }: Body) => event))
  const { body: keys } = await world.rest('GET', '/webhooks/keys')
  for (const { raw, headers } of receiver.received) {
    const { s } = JSON.parse(String(headers['x-service-signature']))
    expect(verify('sha256', Buffer.from(raw), createPublicKey(keys['data'][0].publicKey), Buffer.from(s, 'base64'))).toBe(true)
  }

  const receive = async (customer: Body) =>
    (
      await world.rest('POST', '/sandbox/uma/receive', {
        senderUmaAddress: '$success.usd@sandbox.uma.localhost',
        customerId: customer['id'],
        receivingCurrencyCode: 'USD',
        receivingCurrencyAmount: 500,
      })
    ).body
  const statusOf = async ({ id }: Body) => (await world.rest('GET', `/transactions/${id}`)).body['status']
  receiver.answer = () => ({ status: 200, body: '{"receiverUserInfo":{"FULL_NAME":"Ada"}}' })
  const approved = await receive(await newCustomer(world, { fullName: undefined }))
  await says(/approved/)
  await world.drain()
  expect(await statusOf(approved)).toBe('COMPLETED')
  receiver.answer = () => ({ status: 403 })
  const rejected = await receive(await newCustomer(world))
  await says(/rejected/)
  expect(await statusOf(rejected)).toBe('REJECTED')
})

test('begins after a cursor, with some types only, and says what cannot be delivered', async () => {
  const payer = await newPayer(world, { balance: 0 })
  await world.drain()
  const { body: before } = await world.rest('GET', `/events?customerId=${payer.customer['id']}`)
  await fund(world, payer.dollars['id'], 5)
  await world.drain()
  await listen('--forward-to', receiver.url, '--types', 'ACCOUNT_STATUS', '--after', before['nextCursor'])
  await says(/ACCOUNT_STATUS.* 200/)
  expect(receiver.received.map(({ body }) => body['newBalance'].amount)).toEqual([5])
  child.kill()
  const gone = await openReceiver()
  gone.close()
  await listen('--forward-to', gone.url, '--after', before['nextCursor'])
  await says(/not delivered: .*ECONNREFUSED/)
})

test('says how it is used, and that credentials are wrong', async () => {
  await listen()
  expect((await once(child, 'exit'))[0]).toBe(2)
  expect(printed).toContain('--forward-to')
  world.sandbox = { ...world.sandbox, clientSecret: 'wrong' }
  await listen('--forward-to', receiver.url)
  expect((await once(child, 'exit'))[0]).toBe(1)
  expect(printed).toContain('does not accept')
})
