/** What only whoever listens is told of: how far an import has come, and that nobody has claimed an invitation in time. */
import { type Client, createClient } from 'graphql-ws'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { WebSocket } from 'ws'
import { newCustomer } from './people.ts'
import { openReceiver, type Receiver } from './receiver.ts'
import { type Body, basic, useWorld } from './world.ts'

const world = useWorld()
const clients: Client[] = []
let receiver: Receiver

beforeAll(async () => {
  receiver = await openReceiver()
  await world.rest('PATCH', '/config', { webhookEndpoint: receiver.url })
})

afterEach(async () => {
  for (const client of clients.splice(0)) await client.dispose()
})

afterAll(() => receiver.close())

/** Everything a subscription is told until `work` is done and a query on the same socket has been answered. */
async function heard(query: string, variables: Body, work: () => Promise<unknown>): Promise<Body[]> {
  const client = createClient({
    url: `${world.gateway.url.replace('http', 'ws')}/graphql`,
    webSocketImpl: WebSocket,
    retryAttempts: 0,
    connectionParams: { authorization: basic(world.sandbox) },
  })
  clients.push(client)
  const seen: Body[] = []
  client.subscribe<Body>(
    { query, variables },
    { next: ({ data }) => data && seen.push(data), error: (error) => seen.push({ error }), complete: () => {} },
  )
  for await (const _ of client.iterate({ query: '{ __typename }' })) break
  await work()
  await world.drain()
  for await (const _ of client.iterate({ query: '{ __typename }' })) break
  return seen
}

async function upload(rows: number): Promise<string> {
  const lines = Array.from(
    { length: rows },
    (_, index) => `p-${index},INDIVIDUAL,Row ${'x'.repeat(3)},1980-01-01,1 Main,Town,CA,90001,US`,
  )
  const form = new FormData()
  const header = 'platformCustomerId,customerType,fullName,birthDate,addressLine1,city,state,postalCode,country'
  form.append('file', new Blob([[header, ...lines].join('\n')]), 'customers.csv')
  const response = await fetch(`${world.gateway.url}/2025-10-13/customers/bulk/csv`, {
    method: 'POST',
    headers: { authorization: basic(world.sandbox) },
    body: form,
  })
  return ((await response.json()) as { jobId: string }).jobId
}

test('an import is followed portion by portion to its end, and its webhook comes once', async () => {
  receiver.received = []
  const query = `subscription { bulkImportUpdated { jobId: id status total processed successful } }`
  const seen = await heard(query, {}, () => upload(50))
  const jobs = seen.map(({ bulkImportUpdated }) => bulkImportUpdated)
  expect(jobs.map(({ status, processed }) => [status, processed])).toEqual([
    ['PROCESSING', 20],
    ['PROCESSING', 40],
    ['PROCESSING', 50],
    ['COMPLETED', 50],
  ])
  expect(receiver.received.map(({ body }) => body['type']).filter((type) => type.startsWith('BULK'))).toEqual(['BULK_UPLOAD'])
  const { body: shown } = await world.rest('GET', '/events?types=BULK_UPLOAD_PROGRESS')
  expect(shown['data']).toHaveLength(3)
})

test('an invitation that nobody claims in time is told to listeners of its inviter; one that was claimed is not', async () => {
  receiver.received = []
  const inviter = await newCustomer(world)
  const invite = async () => {
    const expiresAt = new Date(world.clock.now().getTime() + 60_000).toISOString()
    return (await world.rest('POST', '/invitations', { inviterUma: inviter['umaAddress'], expiresAt })).body
  }
  const query = `subscription ($customerId: ID!) { events(customerId: $customerId, types: [INVITATION_EXPIRED]) {
    __typename ... on InvitationExpiredEvent { invitation { code status } } } }`
  const [lost, claimed, cancelled] = [await invite(), await invite(), await invite()]
  const seen = await heard(query, { customerId: inviter['id'] }, async () => {
    await world.rest('POST', `/invitations/${claimed['code']}/claim`, { inviteeUma: '$bob@elsewhere.example' })
    await world.rest('POST', `/invitations/${cancelled['code']}/cancel`)
    world.clock.advance(59_999)
    await world.drain()
    world.clock.advance(1)
  })
  expect(seen).toEqual([
    { events: { __typename: 'InvitationExpiredEvent', invitation: { code: lost['code'], status: 'EXPIRED' } } },
  ])
  expect(receiver.received.map(({ body }) => body['type'])).not.toContain('INVITATION_EXPIRED')
})
