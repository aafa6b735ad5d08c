import { describe, expect, test } from 'vitest'
import { examine } from '../src/core/audit.ts'
import { fund, newPayer, newQuote, newUsAccount, paymentOf } from './people.ts'
import { type Body, useWorld } from './world.ts'

const world = useWorld()

async function ask(query: string, variables: Body): Promise<Body> {
  const { body } = await world.graphql(query, variables)
  expect(body['errors']).toBeUndefined()
  return body['data']
}

const statementOf = (id: string, first = 20, after?: string) =>
  ask(
    `query ($id: ID!, $first: Int!, $after: String) { node(id: $id) { ... on InternalAccount {
      statement(first: $first, after: $after) { totalCount pageInfo { hasNextPage endCursor }
        edges { node { kind amount { amount display } balanceAfter { amount } createdAt transaction { id type } } } } } } }`,
    { id, first, after },
  ).then(({ node }) => node.statement as Body)

describe('the statement of an account', () => {
  test('has every movement with its reason, its payment and the balance it left, newest first', async () => {
    const payer = await newPayer(world)
    const outside = await newUsAccount(world, payer.customer['id'], '004')
    world.clock.advance(1000)
    const quote = await newQuote(world, payer, { immediatelyExecute: true })
    world.clock.advance(1000)
    const { body: transfer } = await world.rest('POST', '/transfer-out', {
      source: { accountId: payer.dollars['id'] },
      destination: { accountId: outside['id'] },
      amount: 2_500,
    })
    world.clock.advance(1000)
    await world.drain()
    const { edges, totalCount } = await statementOf(payer.dollars['id'])
    const line = (kind: string, amount: number, display: string, balanceAfter: number, transaction: Body) => ({
      node: {
        kind,
        amount: { amount: String(amount), display },
        balanceAfter: { amount: String(balanceAfter) },
        createdAt: expect.any(String),
        transaction,
      },
    })
    expect(totalCount).toBe(4)
    expect(edges).toEqual([
      line('REFUND', 2_500, '25.00', 900_000, { id: transfer['id'], type: 'OUTGOING' }),
      line('DEBIT', -2_500, '-25.00', 897_500, { id: transfer['id'], type: 'OUTGOING' }),
      line('DEBIT', -100_000, '-1000.00', 900_000, { id: quote['transactionId'], type: 'OUTGOING' }),
      line('FUNDING', 1_000_000, '10000.00', 1_000_000, { id: expect.any(String), type: 'INCOMING' }),
    ])
  })

  test('is paged without a gap or a repeat, also where many lines have one instant', async () => {
    const payer = await newPayer(world, { balance: 0 })
    for (let amount = 1; amount <= 7; amount += 1) await fund(world, payer.dollars['id'], amount)
    const seen: string[] = []
    let after: string | undefined
    for (;;) {
      const page = await statementOf(payer.dollars['id'], 3, after)
      seen.push(...page['edges'].map(({ node }: Body) => node.amount.amount))
      if (!page['pageInfo'].hasNextPage) break
      after = page['pageInfo'].endCursor
    }
    expect(seen).toEqual(['7', '6', '5', '4', '3', '2', '1'])
    const wrong = await world.graphql(
      'query ($id: ID!) { node(id: $id) { ... on InternalAccount { statement(after: "nonsense") { totalCount } } } }',
      { id: payer.dollars['id'] },
    )
    expect(wrong.body['errors'][0].extensions.code).toBe('INVALID_INPUT')
  })

  test('gives the balance at any instant', async () => {
    const payer = await newPayer(world, { balance: 0 })
    const instants: string[] = [world.clock.now().toISOString()]
    for (const amount of [100, 20, 3]) {
      world.clock.advance(1000)
      await fund(world, payer.dollars['id'], amount)
      instants.push(world.clock.now().toISOString())
    }
    const between = new Date(Date.parse(instants[2]!) + 999).toISOString()
    const data = await ask(
      `query ($id: ID!, $a: DateTime!, $b: DateTime!, $c: DateTime!, $d: DateTime!) { node(id: $id) { ... on InternalAccount {
        before: balanceAt(at: $a) { amount } first: balanceAt(at: $b) { amount } between: balanceAt(at: $c) { amount }
        last: balanceAt(at: $d) { amount currency { code } } } } }`,
      { id: payer.dollars['id'], a: instants[0], b: instants[1], c: between, d: instants[3] },
    )
    expect(data['node']).toEqual({
      before: { amount: '0' },
      first: { amount: '100' },
      between: { amount: '120' },
      last: { amount: '123', currency: { code: 'USD' } },
    })
  })
})

test('the timeline of a payment has its states, its entries and what was told, in order', async () => {
  const payer = await newPayer(world)
  const quote = await newQuote(world, payer)
  world.clock.advance(1000)
  await world.rest('POST', `/quotes/${quote['id']}/execute`)
  world.clock.advance(1000)
  await world.drain()
  const { transaction } = await ask(
    `query ($id: ID!) { transaction(id: $id) { timeline { at __typename
      ... on StatusChange { status }
      ... on LedgerEntry { kind postings { accountKind account { id } amount { amount currency { code } } } }
      ... on TimelineEvent { event { type cursor ... on PaymentEvent { transaction { status } } } } } } }`,
    { id: quote['transactionId'] },
  )
  const timeline: Body[] = transaction.timeline
  expect(timeline.map((item) => [item['__typename'], item['status'] ?? item['kind'] ?? item['event'].type])).toEqual([
    ['StatusChange', 'PENDING'],
    ['StatusChange', 'PROCESSING'],
    ['LedgerEntry', 'DEBIT'],
    ['TimelineEvent', 'ACCOUNT_STATUS'],
    ['TimelineEvent', 'OUTGOING_PAYMENT'],
    ['StatusChange', 'COMPLETED'],
    ['LedgerEntry', 'SETTLEMENT'],
    ['LedgerEntry', 'PAYOUT'],
    ['TimelineEvent', 'OUTGOING_PAYMENT'],
  ])
  expect(timeline[2]!['postings']).toEqual([
    { accountKind: 'INTERNAL', account: { id: payer.dollars['id'] }, amount: { amount: '-100000', currency: { code: 'USD' } } },
    { accountKind: 'IN_FLIGHT', account: null, amount: { amount: '100000', currency: { code: 'USD' } } },
  ])
  expect(timeline[8]!['event'].transaction.status).toBe('COMPLETED')
  const { body } = await world.graphql(
    'query ($id: ID!) { transaction(id: $id) { timeline { at } } }',
    { id: quote['transactionId'] },
    { as: world.stranger },
  )
  expect(body['data']).toEqual({ transaction: null })
})

describe('the auditor', () => {
  /** What it finds after something has been done to the rows that no operation would do; undone afterwards. */
  async function findingsAfter(...statements: string[]): Promise<string[]> {
    const undo = new Error('undo')
    let rules: string[] = []
    await world.database
      .transaction(async (tx) => {
        for (const sql of ['alter table ledger_posting disable trigger all', ...statements]) await tx.script(sql)
        const findings = await examine(tx)
        rules = [...new Set(findings.map(({ rule }) => rule))].sort()
        throw undo
      })
      .catch((error) => {
        if (error !== undo) throw error
      })
    return rules
  }

  test('finds nothing while all is well, and each thing that is not', async () => {
    const payer = await newPayer(world)
    const done = await newQuote(world, payer, { immediatelyExecute: true })
    await world.drain()
    const waiting = await newQuote(world, payer)
    const underWay = await newQuote(world, payer, { immediatelyExecute: true })
    await world.rest('PATCH', '/config', { incomingPaymentApproval: 'API' })
    const { body: incoming } = await world.rest('POST', '/sandbox/uma/receive', {
      senderUmaAddress: '$success.usd@sandbox.uma.localhost',
      customerId: payer.customer['id'],
      receivingCurrencyCode: 'USD',
      receivingCurrencyAmount: 500,
    })
    await world.rest('POST', `/transactions/${incoming['id']}/approve`)
    const id = (quote: Body) => `'${quote['transactionId'].slice('Transaction:'.length)}'`
    const account = `'${payer.dollars['id'].slice('InternalAccount:'.length)}'`
    expect(await findingsAfter()).toEqual([])
    const cases: [string, string[]][] = [
      [
        `update ledger_posting set amount = amount + 1 where id = (select max(p.id) from ledger_posting p where account_id = ${account})`,
        ['an entry sums to zero', 'a balance is the sum of its postings, and never negative'],
      ],
      [
        `update ledger_account set balance = balance + 1 where id = ${account}`,
        ['a balance is the sum of its postings, and never negative'],
      ],
      [
        `update ledger_posting set balance_after = 5 where id = (select max(id) from ledger_posting where account_id = ${account})`,
        ['a posting says the balance it left, and time never goes back along an account'],
      ],
      [`update transaction set status = 'FAILED' where id = ${id(done)}`, ['a payment has come to its state by allowed moves']],
      [
        `update transaction set history = '[{"status":"PENDING"},{"status":"COMPLETED"}]' where id = ${id(done)}`,
        ['a payment has come to its state by allowed moves'],
      ],
      [`update quote set status = 'PENDING' where transaction_id = ${id(done)}`, ['a quote and its payment agree']],
      [`update quote set total_sending_amount = 1 where transaction_id = ${id(done)}`, ['a quote and its payment agree']],
      [
        `update transaction set sent_amount = 1 where id = ${id(underWay)}`,
        ['what is in flight is what payments under way and returns under way hold'],
      ],
      [`update transaction set received_amount = 1 where id = ${id(done)}`, ['a payment moved what it says, once']],
      [
        `insert into deposit select gen_random_uuid(), world_id, 'x', 'x', 'USD', 5, transaction_id, 'CREDITED', now(), now(), 1
         from deposit where status = 'CREDITED' limit 1`,
        ['what came in from outside is in the books, and what went back too'],
      ],
      [
        `delete from event where transaction_id = ${id(done)} and type = 'OUTGOING_PAYMENT'`,
        ['every state that is told has its event'],
      ],
      [
        `update event set payload = jsonb_set(payload, '{transaction,status}', '"REFUNDED"') where transaction_id = ${id(underWay)} and type = 'OUTGOING_PAYMENT'`,
        ['an event of a payment tells a state it had'],
      ],
      [
        `delete from event where transaction_id = ${id(done)} and type = 'ACCOUNT_STATUS'`,
        ['every movement of a balance is told, with the balance before and after'],
      ],
      [
        `update event set payload = jsonb_set(payload, '{newBalance,amount}', '1') where transaction_id = ${id(done)} and type = 'ACCOUNT_STATUS'`,
        ['no balance is told to have moved that did not'],
      ],
      [
        `update approval set decided_by = null where decided_by is not null`,
        ['an incoming UMA payment went on only when the platform approved of it'],
      ],
      [
        `update event set sequence = sequence + 5 where transaction_id = ${id(done)} and type = 'OUTGOING_PAYMENT'`,
        ['events about a thing are numbered from one on, in the order of their positions'],
      ],
      [`delete from task where id = ${id(underWay)}`, ['whatever is under way has a task that takes it further']],
      [
        `delete from task where id = (select id from quote where transaction_id = ${id(waiting)})`,
        ['whatever is under way has a task that takes it further'],
      ],
    ]
    for (const [sql, expected] of cases) {
      expect([sql, await findingsAfter(sql)]).toEqual([sql, expect.arrayContaining(expected)])
    }
    expect((await paymentOf(world, done))['status']).toBe('COMPLETED')
  })
})
