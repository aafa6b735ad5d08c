/** The examples of the reference, played from the first to the last: each answers the success that its endpoint documents. */
import { readFileSync } from 'node:fs'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { type Example, examples, webhookEndpoint } from '../src/rest/examples.ts'
import { openReceiver, type Receiver } from './receiver.ts'
import { type Body, basic, useWorld } from './world.ts'

const world = useWorld({ background: true })
let receiver: Receiver

const { paths } = JSON.parse(readFileSync(new URL('../openapi.json', import.meta.url), 'utf8')) as {
  paths: Record<string, Record<string, Body>>
}
const endpoints = Object.entries(paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, operation]) => ({ method: method.toUpperCase(), path, operation })),
)

/** What the ids of the examples really are. */
const real = new Map<string, string>()

beforeAll(async () => {
  receiver = await openReceiver()
  // Approvals are deferred to the calls that decide.
  receiver.answer = ({ type, transaction }) => ({
    status: type === 'INCOMING_PAYMENT' && transaction.status === 'PENDING' ? 202 : 200,
  })
  real.set(webhookEndpoint, receiver.url)
})

afterAll(() => receiver.close())

function withRealIds<Value>(value: Value): Value {
  if (value === undefined) return value
  let text = JSON.stringify(value)
  for (const [example, id] of real) text = text.replaceAll(example, id)
  return JSON.parse(text)
}

test('there is one of each endpoint', () => {
  const ids = endpoints.map(({ operation }) => operation['operationId'])
  expect([...new Set(examples.map(({ of }) => of))].sort()).toEqual([...ids].sort())
})

// Whatever it shows has happened by then.
beforeEach(() => world.drain())

test.each(examples.map((example) => [example.of, example] as const))('%s', async (of, example) => {
  const { method, path, operation } = endpoints.find(({ operation: { operationId } }) => operationId === of)!
  const wanted = Number(Object.keys(operation['responses']).find((status) => status.startsWith('2')))
  const { status, body } = await play(method, path, withRealIds(example))
  expect([status, body]).toEqual([wanted, body])
  for (const [id, place] of Object.entries(example.brings ?? {})) real.set(id, valueAt(body, place))
})

async function play(method: string, path: string, { path: params = {}, query = {}, body, file }: Example) {
  const url = path.replace(/\{(\w+)\}/g, (_all, name: string) => encodeURIComponent(params[name]!))
  const search = new URLSearchParams(Object.entries(query).map(([name, value]) => [name, String(value)])).toString()
  if (file === undefined) return world.rest(method, search ? `${url}?${search}` : url, body)
  const form = new FormData()
  form.append('file', new File([file], 'customers.csv'))
  const headers = { authorization: basic(world.sandbox) }
  const reply = await fetch(`${world.gateway.url}/2025-10-13${url}`, { method, headers, body: form })
  return { status: reply.status, body: (await reply.json()) as Body }
}

function valueAt(body: Body, place: string): string {
  const value = place.split('.').reduce<unknown>((at, key) => (at as Body)[key], body)
  expect(value, place).toEqual(expect.any(String))
  return value as string
}
