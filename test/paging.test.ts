/** Lists of the graph from both ends: whichever way they are walked, each item is met once, in the order of the list. */
import { beforeAll, describe, expect, test } from 'vitest'
import { fund, newCustomer, newPayer, newQuote } from './people.ts'
import { type Body, useWorld } from './world.ts'

const world = useWorld()
let owner: string
let account: string

beforeAll(async () => {
  const payer = await newPayer(world)
  owner = payer.customer['id']
  account = payer.dollars['id']
  for (let count = 0; count < 7; count += 1) {
    await fund(world, account, 100)
    await world.rest('POST', '/tokens', { name: 'x', permissions: ['VIEW'] })
  }
  // Of one instant, so that ids alone tell them apart.
  for (let count = 0; count < 7; count += 1) await newQuote(world, payer)
  for (let count = 0; count < 6; count += 1) await newCustomer(world)
})

const root = (args: string) => `{ list: customers(${args}) { ...Page } }`
const nested = (args: string) => `{ node(id: "${owner}") { ... on Customer { list: quotes(${args}) { ...Quotes } } } }`
const statement = (args: string) =>
  `{ node(id: "${account}") { ... on InternalAccount { list: statement(${args}) { ...Lines } } } }`
const tokens = (args: string) => `{ list: tokens(${args}) { ...Tokens } }`
const oldestFirst = (args: string) => `{ list: transactions(sortOrder: ASC, ${args}) { ...Transactions } }`
const page = 'edges { cursor node { id } } pageInfo { hasNextPage hasPreviousPage startCursor endCursor }'

const fragments = new Map([
  [root, `fragment Page on CustomerConnection { ${page} }`],
  [nested, `fragment Quotes on QuoteConnection { ${page} }`],
  [statement, `fragment Lines on StatementConnection { ${page.replace('node { id }', 'node { transaction { id } }')} }`],
  [tokens, `fragment Tokens on ApiTokenConnection { ${page} }`],
  [oldestFirst, `fragment Transactions on TransactionConnection { ${page} }`],
])

async function read(form: typeof root, args: string): Promise<Body> {
  const { body } = await world.graphql(`${form(args)} ${fragments.get(form)}`)
  expect(body['errors']).toBeUndefined()
  return body['data'].list ?? body['data'].node.list
}

const idsOf = ({ edges }: Body) => edges.map(({ node }: Body) => node.id ?? node.transaction.id)

describe.each([
  ['a root list', root],
  ['a nested list', nested],
  ['a statement', statement],
  ['a list of credentials', tokens],
  ['a list with the oldest first', oldestFirst],
] as const)('%s', (_name, form) => {
  test.each([1, 2, 3, 100])('is the same from both ends, %i at a time', async (size) => {
    const forth: string[] = []
    for (let after = ''; ; ) {
      const here = await read(form, `first: ${size}${after && `, after: "${after}"`}`)
      expect(here['pageInfo'].hasPreviousPage).toBe(after !== '')
      forth.push(...idsOf(here))
      if (!here['pageInfo'].hasNextPage) break
      after = here['pageInfo'].endCursor
    }
    const back: string[] = []
    for (let before = ''; ; ) {
      const here = await read(form, `last: ${size}${before && `, before: "${before}"`}`)
      expect(here['pageInfo'].hasNextPage).toBe(before !== '')
      back.unshift(...idsOf(here))
      if (!here['pageInfo'].hasPreviousPage) break
      before = here['pageInfo'].startCursor
    }
    expect(new Set(forth).size).toBe(forth.length)
    expect(forth.length).toBeGreaterThanOrEqual(7)
    expect(back).toEqual(forth)
  })

  test.each([
    'first: 2, last: 2',
    'last: 2, after: "x"',
    'before: "x"',
    'last: 0',
    'last: 101',
    'first: -1',
    'last: 2, before: "x"',
  ])('refuses %s', async (args) => {
    const { body } = await world.graphql(`${form(args)} ${fragments.get(form)}`)
    expect(body['errors'][0].extensions).toMatchObject({ code: 'INVALID_INPUT' })
  })
})

test('the oldest first is the newest first the other way round', async () => {
  const ids = async (order: string) => {
    const { body } = await world.graphql(`{ transactions(first: 100, sortOrder: ${order}) { edges { node { id } } } }`)
    return body['data'].transactions.edges.map(({ node }: Body) => node.id) as string[]
  }
  expect(await ids('ASC')).toEqual((await ids('DESC')).reverse())
})
