import fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { endpoints } from './endpoints.ts'
import { newPayer, newQuote } from './people.ts'
import { type Body, useWorld } from './world.ts'

const world = useWorld()

/** Of each endpoint; FUZZ_RUNS for more. */
const runs = Number(process.env['FUZZ_RUNS'] ?? 30)

let slowest = { ms: 0, request: '' }

afterAll(() => {
  if (process.env['FUZZ_RUNS'])
    process.stdout.write(`the slowest of all replies: ${Math.round(slowest.ms)} ms, ${slowest.request}\n`)
})

/** Ids that exist, so that what lies behind them is reached. */
const known: string[] = []

beforeAll(async () => {
  const payer = await newPayer(world)
  const quote = await newQuote(world, payer)
  known.push(
    payer.customer['id'],
    payer.customer['umaAddress'],
    payer.dollars['id'],
    payer.euros['id'],
    quote['id'],
    quote['transactionId'],
  )
})

const text = fc.oneof(
  fc.constantFrom(
    '',
    ' ',
    '\u0000',
    'a\u0000b',
    '\ud800',
    '\udfff\ud800',
    '\uffff',
    '💸',
    '__proto__',
    'constructor',
    "'; drop table quote; --",
    '%00',
    '../..',
  ),
  fc.constantFrom(
    'USD',
    'EUR',
    'INDIVIDUAL',
    '$success.usd@sandbox.uma.localhost',
    'Customer:x',
    'Quote:00000000-0000-0000-0000-000000000000',
    '2026-01-15',
    '2026-13-45T99:99:99Z',
  ),
  fc.string({ unit: 'binary', maxLength: 40 }),
  fc.string({ minLength: 300, maxLength: 5000 }),
)

const number = fc.constantFrom(0, -0, -1, 0.5, 1e308, -1e308, 2 ** 53, 2 ** 63, 9_000_000_000_000_001, Number.MIN_VALUE, 100)

const deep = fc.integer({ min: 10, max: 2000 }).map((depth) => `${'['.repeat(depth)}${']'.repeat(depth)}`)

const value: fc.Arbitrary<unknown> = fc.letrec((tie) => ({
  value: fc.oneof(
    { maxDepth: 3 },
    text,
    number,
    fc.boolean(),
    fc.constant(null),
    fc.integer({ min: 0, max: 5 }).map((index) => known[index] ?? ''),
    fc.array(tie('value'), { maxLength: 4 }),
    fc.dictionary(
      fc.oneof(text, fc.constantFrom('accountId', 'currency', 'accountInfo', 'accountType', 'amount')),
      tie('value'),
      { maxKeys: 4 },
    ),
  ),
})).value

/** An object with some of the fields that are meant, and some that are not. */
function objectWith(properties: object): fc.Arbitrary<object> {
  const fields = Object.fromEntries(Object.keys(properties).map((name) => [name, fc.option(value, { nil: undefined })]))
  return fc
    .tuple(fc.record(fields), fc.dictionary(text, value, { maxKeys: 2 }))
    .map(([meant, others]) => ({ ...others, ...meant }))
}

/** JSON as it goes over the wire, also what only looks like it. */
function bodyOf(schema: Body | undefined): fc.Arbitrary<string> {
  return fc.oneof(
    { weight: 6, arbitrary: objectWith(schema?.['properties'] ?? {}).map((body) => JSON.stringify(body)) },
    { weight: 1, arbitrary: value.map((body) => JSON.stringify(body) ?? '') },
    { weight: 1, arbitrary: deep },
    {
      weight: 1,
      arbitrary: fc.constantFrom(
        '{',
        '{"a":1e400}',
        '{"amount":123456789012345678901234567890}',
        '{"__proto__":{"x":1}}',
        '"\\ud800"',
        '\u0000',
        '{"a":NaN}',
      ),
    },
  )
}

const written = (part: unknown) =>
  encodeURIComponent((typeof part === 'string' ? part : (JSON.stringify(part) ?? '')).toWellFormed())

test.each(endpoints)('$method $path bears whatever it is sent', async ({ method, path, operation }) => {
  const parameters: Body[] = operation['parameters'] ?? []
  const inQuery = Object.fromEntries(parameters.filter((one) => one['in'] === 'query').map(({ name }) => [name, 0]))
  const json = operation['requestBody']?.content['application/json']?.schema
  const request = fc.record({
    id: fc.oneof(
      text,
      fc.integer({ min: 0, max: 5 }).map((index) => known[index] ?? ''),
    ),
    query: objectWith(inQuery),
    body: bodyOf(json),
  })
  await fc.assert(
    fc.asyncProperty(request, async ({ id, query, body }) => {
      const search = Object.entries(query)
        .filter(([, part]) => part !== undefined)
        .map(([name, part]) => `${written(name)}=${written(part)}`)
        .join('&')
      const url = `${path.replace(/\{[^}]+\}/g, written(id) || '%20')}${search && `?${search}`}`
      // The reply is held against openapi.json on its way.
      const startedAt = performance.now()
      const { status } = await world.rest(method, url.slice(0, 6000), method === 'GET' ? undefined : body)
      const ms = performance.now() - startedAt
      if (ms > slowest.ms) slowest = { ms, request: `${method} ${path} ${status}` }
      expect(status).toBeLessThan(500)
    }),
    // Shrinking would send thousands more.
    { numRuns: runs, endOnFailure: true },
  )
})
