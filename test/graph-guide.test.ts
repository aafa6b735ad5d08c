/** docs/graphql.md: each of its documents run, from the first to the last; and linted and typed by the tools of others, where they are installed. */
import { execFile } from 'node:child_process'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { createClient } from 'graphql-ws'
import { describe, expect, inject, test } from 'vitest'
import { type Body, basic, useWorld } from './world.ts'

const world = useWorld({ background: true })
const guide = readFileSync(new URL('../docs/graphql.md', import.meta.url), 'utf8')

/** A document, and the variables that stand below it. */
const documents = [...guide.matchAll(/```graphql\n([\s\S]*?)```(?:\s*```json\n([\s\S]*?)```)?/g)].map(([, query, variables]) => ({
  name: /\b(?:query|mutation|subscription) (\w+)/.exec(query!)![1]!,
  query: query!,
  variables: JSON.parse(variables ?? '{}') as Body,
}))

/** Ids that the answers have brought. */
const known: Body = {}

test('has the ten documents a team needs first', () => {
  expect(documents).toHaveLength(10)
})

describe('the guide', () => {
  test.each(documents.map((document) => [document.name, document] as const))('%s', async (name, { query, variables }) => {
    const given = { ...known, ...variables }
    if (query.startsWith('subscription')) return follow(query, given)
    const { body } = await world.graphql(query, given)
    expect(body['errors']).toBeUndefined()
    const [answer] = Object.values(body['data']) as [Body]
    expect(answer['errors'] ?? []).toEqual([])
    learn(name, answer)
  })

  test('ends with a payment that was heard of until it was COMPLETED', async () => {
    await expect.poll(() => heard.at(-1), { timeout: 10_000 }).toBe('COMPLETED')
  })
})

const heard: string[] = []

async function follow(query: string, variables: Body): Promise<void> {
  const client = createClient({
    url: `${world.gateway.url.replace('http', 'ws')}/graphql`,
    connectionParams: { authorization: basic(world.sandbox) },
    lazy: false,
  })
  client.subscribe<Body>(
    { query, variables },
    { next: ({ data }) => heard.push(data!['transactionUpdated'].status), error: () => {}, complete: () => {} },
  )
  await new Promise<void>((resolve) => client.on('connected', () => resolve()))
}

function learn(name: string, answer: Body): void {
  if (name === 'CreateCustomer') known['customerId'] = answer['customer'].id
  if (name === 'AddAccount') known['to'] = answer['externalAccount'].id
  if (name === 'CreateQuote') Object.assign(known, { quoteId: answer['quote'].id, transactionId: answer['quote'].transaction.id })
  if (name !== 'Balances') return
  const dollars = answer['internalAccounts'].edges.find(({ node }: Body) => node.balance.currency.code === 'USD').node.id
  Object.assign(known, { from: dollars, accountId: dollars })
}

// ── The tools of others ──────────────────────────────────────────────────────────────────────────────────────────────────────────

const root = new URL('../', import.meta.url).pathname
const folder = join(root, 'test/graphql-tools')
// Once, though the suite runs on several engines: they write files.
const installed = inject('engine') === 'embedded' && existsSync(join(folder, 'node_modules'))

const tool = (cwd: string, path: string, ...args: string[]) =>
  promisify(execFile)(process.execPath, [join(folder, 'node_modules', path), ...args], { cwd }).catch(
    (error: { stdout: string; stderr: string }) => {
      throw new Error(`${error.stdout}\n${error.stderr}`)
    },
  )

test.runIf(installed)('where the tools are installed, graphql-eslint finds nothing wrong with the schema', async () => {
  const config = join(folder, 'eslint.config.mjs')
  await tool(root, 'eslint/bin/eslint.js', '--no-config-lookup', '--max-warnings', '0', '--config', config, 'schema.graphql')
})

test.runIf(installed)('where the tools are installed, a client typed from the guide compiles, and pays', async () => {
  writeFileSync(join(folder, 'documents.graphql'), documents.map(({ query }) => query).join('\n'))
  await tool(folder, '@graphql-codegen/cli/esm/bin.js', '--config', 'codegen.json')
  await tool(folder, 'typescript/bin/tsc', '-p', '.')
  const { stdout } = await promisify(execFile)(process.execPath, [
    join(folder, 'pay.ts'),
    world.gateway.url,
    basic(world.sandbox),
  ])
  expect(JSON.parse(stdout)).toEqual({ status: 'PROCESSING', refused: 'QUOTE_ALREADY_EXECUTED' })
})
