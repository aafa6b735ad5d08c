/** PostGraphile over the same tables, asked for the same things in its own schema; where it is installed (`npm ci --prefix bench/postgraphile`). */
import { existsSync } from 'node:fs'
import type pg from 'pg'
import { startByHand } from './contenders.ts'
import { type Bodies, requestsOf } from './graphql-documents.ts'

/** What is asked of it. Its lists are said to be of the world, since every index begins with that. */
const asked = {
  N1: `query N1($world: UUID!, $after: Cursor) { allCustomers(first: 20, after: $after, orderBy: [CREATED_AT_DESC, ROW_ID_DESC], condition: { worldId: $world }) {
  edges { node { rowId fullName kycStatus
    internalAccountsByCustomerId(condition: { worldId: $world }, orderBy: [CREATED_AT_DESC, ROW_ID_DESC]) { edges { node { rowId currency ledgerAccountByRowId { balance } } } }
    transactionsByCustomerId(first: 10, condition: { worldId: $world }, orderBy: [CREATED_AT_DESC, ROW_ID_DESC]) {
      edges { node { rowId status type sentAmount receivedAmount destinationCurrency createdAt } } } } }
  pageInfo { hasNextPage endCursor } } }`,
  Q2: `query Q2($id: UUID!) { transactionByRowId(rowId: $id) { rowId status sentAmount receivedAmount destinationCurrency createdAt
  customerByCustomerId { rowId fullName } quoteByQuoteId { rowId status exchangeRate totalSendingAmount } } }`,
  Q3: `query Q3($world: UUID!, $customerId: UUID!, $after: Cursor) {
  allTransactions(first: 50, after: $after, orderBy: [CREATED_AT_DESC, ROW_ID_DESC], condition: { worldId: $world, customerId: $customerId }) {
  edges { cursor node { rowId status type sentAmount sourceCurrency receivedAmount destinationCurrency createdAt } } pageInfo { hasNextPage endCursor } } }`,
  typename: '{ __typename }',
} as const

/** Undefined where it is not installed. */
export async function startPostgraphile(url: string, database: pg.Client) {
  if (!existsSync(new URL('postgraphile/node_modules/postgraphile', import.meta.url))) return undefined
  // The gateway's tables have no foreign keys between what is written often: it is told of them.
  await database.query(`
    comment on table internal_account is E'@foreignKey (customer_id) references customer (id)';
    comment on table transaction is E'@foreignKey (customer_id) references customer (id)\\n@foreignKey (quote_id) references quote (id)';
  `)
  const contender = await startByHand('bench/postgraphile/server.mjs', url)
  const { rows } = await database.query('select world_id from customer limit 1')
  const world = rows[0].world_id as string

  async function ask(query: string, variables: object): Promise<any> {
    const reply = await fetch(`${contender.url}/graphql`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', accept: 'application/json' },
      body: JSON.stringify({ query, variables }),
    })
    const { data, errors } = (await reply.json()) as { data: any; errors?: unknown }
    if (errors) throw new Error(JSON.stringify(errors).slice(0, 2000))
    return data
  }

  /** Its cursors are its own: they are got by going from page to page. */
  async function pages(query: string, variables: object, list: string, count: number): Promise<object[]> {
    const found: object[] = []
    let after: string | undefined
    while (found.length < count) {
      const { pageInfo } = (await ask(query, { ...variables, after }))[list]
      if (!pageInfo.hasNextPage) break
      after = pageInfo.endCursor
      found.push({ ...variables, after })
    }
    return found
  }

  return {
    ...contender,
    /** The like of what the others are asked. */
    async requests({ name, variables }: Bodies): Promise<() => string> {
      const query = asked[name]
      const bare = (id: string) => id.slice(id.indexOf(':') + 1)
      if (name === 'N1') return requestsOf(query, await pages(query, { world }, 'allCustomers', 90))
      if (name === 'Q3') {
        const customers = new Set(variables.map((one) => (one as { customerId: string }).customerId))
        const of = [...customers].map((id) => pages(query, { world, customerId: bare(id) }, 'allTransactions', 19))
        return requestsOf(query, (await Promise.all(of)).flat())
      }
      const own = name === 'Q2' ? variables.map((one) => ({ id: bare((one as { id: string }).id) })) : [{}]
      await ask(query, own[0]!)
      return requestsOf(query, own)
    },
  }
}
