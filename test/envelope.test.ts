/** Webhooks in the form that a platform chose: the payload under `data`, and what happened in the type. */
import { verify } from 'node:crypto'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { newCustomer, newPayer, newQuote } from './people.ts'
import { openReceiver, type Receiver } from './receiver.ts'
import { type Body, useWorld } from './world.ts'

const world = useWorld()
let receiver: Receiver

beforeAll(async () => {
  receiver = await openReceiver()
  await world.rest('PATCH', '/config', { webhookEndpoint: receiver.url })
  await world.drain()
})

afterAll(() => receiver.close())

const typesSince = async (work: () => Promise<unknown>) => {
  receiver.received.length = 0
  await work()
  await world.drain()
  return receiver.received.map(({ body }) => body['type'] as string)
}

test('stays the specification’s until the platform asks for the other', async () => {
  expect((await typesSince(() => newPayer(world))).sort()).toEqual(['ACCOUNT_STATUS', 'INCOMING_PAYMENT'])
  const { body } = await world.rest('PATCH', '/config', { webhookEnvelope: 'NESTED' })
  expect(body['webhookEnvelope']).toBe('NESTED')
  expect((await typesSince(() => newPayer(world))).sort()).toEqual([
    'INCOMING_PAYMENT.COMPLETED',
    'INTERNAL_ACCOUNT.BALANCE_UPDATED',
  ])
})

test('says what happened in the type, and the thing itself under data; signed like any other', async () => {
  await world.rest('PATCH', '/config', { webhookEnvelope: 'NESTED' })
  const payer = await newPayer(world)
  await world.drain()
  let quote: Body = {}
  const types = await typesSince(async () => {
    quote = await newQuote(world, payer, { immediatelyExecute: true })
  })
  expect(types).toEqual(
    expect.arrayContaining(['OUTGOING_PAYMENT.PROCESSING', 'OUTGOING_PAYMENT.COMPLETED', 'INTERNAL_ACCOUNT.BALANCE_UPDATED']),
  )
  const { body, raw, headers } = receiver.received.find(({ body: { type } }) => type === 'OUTGOING_PAYMENT.COMPLETED')!
  expect(Object.keys(body)).toEqual(['id', 'type', 'timestamp', 'data'])
  expect(body).toMatchObject({
    id: expect.stringMatching(/^Webhook:/),
    data: { id: quote['transactionId'], status: 'COMPLETED', direction: 'DEBIT' },
  })
  const { data: keys } = (await world.rest('GET', '/webhooks/keys')).body as { data: Body[] }
  const { s } = JSON.parse(headers['x-service-signature'] as string)
  expect(verify('sha256', Buffer.from(raw), keys[0]!['publicKey'], Buffer.from(s, 'base64'))).toBe(true)
})

test('has a type of its own for everything that is told', async () => {
  await world.rest('PATCH', '/config', { webhookEnvelope: 'NESTED' })
  const types = await typesSince(async () => {
    await world.rest('PATCH', '/config', { webhookEndpoint: receiver.url })
    await newCustomer(world, { fullName: 'Somebody 002' })
    const inviter = await newCustomer(world)
    const { body } = await world.rest('POST', '/invitations', { inviterUma: inviter['umaAddress'] })
    await world.rest('POST', `/invitations/${body['code']}/claim`, { inviteeUma: '$bob@elsewhere.example' })
    const link = await world.rest('POST', '/bank-link/link-tokens', { customerId: inviter['id'] })
    await world.rest('POST', `/bank-link/callback/${link.body['linkToken']}`, { publicToken: 'public-sandbox-1' })
  })
  expect(types.sort()).toEqual(['CUSTOMER.KYC_REJECTED', 'EXTERNAL_ACCOUNT.ACTIVE', 'INVITATION.CLAIMED', 'TEST'])
})
