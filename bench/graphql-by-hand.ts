/**
 * What the graph is measured against: the three answers of the bench put together by hand on node:http, with prepared row statements and
 * JSON as text; no credentials, no worlds, no limits. `node bench/graphql-by-hand.ts <database url>`; prints its port.
 */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import pg from 'pg'
import { documents } from './graphql-documents.ts'

const pool = new pg.Pool({ connectionString: process.argv[2]!, max: 8 })
// Amounts and instants go from the database's text to the answer's.
for (const oid of [20, 1184]) pg.types.setTypeParser(oid, String)
/** Every index begins with the world: there is one whose customers the bench has made. */
let world = ''
const worldId = async () => {
  world ||= (await pool.query('select world_id from customer limit 1')).rows[0].world_id
  return world
}

const iso = (text: string) => new Date(text).toISOString()
const cursor = (row: { created_at: string; id: string }) =>
  Buffer.from(`${Date.parse(row.created_at)}.${row.id}`).toString('base64url')
const place = (text: string): [Date, string] => {
  const [at, id] = Buffer.from(text, 'base64url').toString().split('.') as [string, string]
  return [new Date(Number(at)), id]
}
const bare = (id: string) => id.slice(id.indexOf(':') + 1)

type Row = Record<string, any>

async function customers({ after }: Row): Promise<string> {
  const { rows } = await pool.query({
    name: after ? 'customers after' : 'customers',
    text: `select id, created_at, full_name, kyc_status from customer where world_id = $1 ${after ? 'and (created_at, id) < ($3, $4)' : ''}
           order by created_at desc, id desc limit $2`,
    values: [await worldId(), 21, ...(after ? place(after) : [])],
  })
  const page = rows.slice(0, 20)
  const ids = page.map(({ id }: Row) => id)
  const [accounts, transactions] = await Promise.all([
    pool.query({
      name: 'accounts',
      text: `select a.id, a.customer_id, a.currency, l.balance from internal_account a join ledger_account l on l.id = a.id
             where a.world_id = $2 and a.customer_id = any($1::uuid[]) order by a.created_at desc, a.id desc`,
      values: [ids, world],
    }),
    pool.query({
      name: 'latest',
      text: `select t.* from unnest($1::uuid[]) as owner(id) cross join lateral (
               select id, customer_id, status, type, sent_amount, received_amount, destination_currency, created_at from transaction
               where world_id = $3 and customer_id = owner.id order by created_at desc, id desc limit $2) t`,
      values: [ids, 10, world],
    }),
  ])
  const accountsOf = Map.groupBy(accounts.rows as Row[], ({ customer_id }) => customer_id)
  const transactionsOf = Map.groupBy(transactions.rows as Row[], ({ customer_id }) => customer_id)
  const edges = page.map((row: Row) => {
    const inside = (accountsOf.get(row['id']) ?? []).map(
      ({ id, balance, currency }) =>
        `{"node":{"id":"InternalAccount:${id}","balance":{"amount":"${balance}","currency":{"code":"${currency}"}}}}`,
    )
    const latest = (transactionsOf.get(row['id']) ?? []).map(
      (one) =>
        `{"node":{"id":"Transaction:${one['id']}","status":"${one['status']}","type":"${one['type']}","sentAmount":{"amount":"${one['sent_amount']}"},"receivedAmount":{"amount":"${one['received_amount']}","currency":{"code":"${one['destination_currency']}"}},"createdAt":"${iso(one['created_at'])}"}}`,
    )
    return `{"node":{"id":"Customer:${row['id']}","fullName":${JSON.stringify(row['full_name'])},"kycStatus":"${row['kyc_status']}","internalAccounts":{"edges":[${inside.join()}]},"transactions":{"edges":[${latest.join()}]}}}`
  })
  return `{"data":{"customers":{"edges":[${edges.join()}],"pageInfo":{"hasNextPage":${rows.length > 20},"endCursor":"${cursor(page.at(-1))}"}}}}`
}

async function transaction({ id }: Row): Promise<string> {
  const { rows } = await pool.query({
    name: 'transaction',
    text: `select t.id, t.status, t.sent_amount, t.received_amount, t.destination_currency, t.created_at, c.id as customer_id, c.full_name,
             q.id as quote_id, q.status as quote_status, q.exchange_rate, q.total_sending_amount
           from transaction t left join customer c on c.id = t.customer_id left join quote q on q.id = t.quote_id where t.id = $1`,
    values: [bare(id)],
  })
  const [row] = rows as Row[]
  if (!row) return '{"data":{"transaction":null}}'
  const quote = row['quote_id']
    ? `{"id":"Quote:${row['quote_id']}","status":"${row['quote_status']}","exchangeRate":${row['exchange_rate']},"totalSendingAmount":{"amount":"${row['total_sending_amount']}"}}`
    : 'null'
  return `{"data":{"transaction":{"id":"Transaction:${row['id']}","status":"${row['status']}","sentAmount":{"amount":"${row['sent_amount']}"},"receivedAmount":{"amount":"${row['received_amount']}","currency":{"code":"${row['destination_currency']}"}},"createdAt":"${iso(row['created_at'])}","customer":{"id":"Customer:${row['customer_id']}","fullName":${JSON.stringify(row['full_name'])}},"quote":${quote}}}}`
}

async function transactions({ customerId, after }: Row): Promise<string> {
  const { rows } = await pool.query({
    name: 'transactions',
    text: `select id, status, type, sent_amount, source_currency, received_amount, destination_currency, created_at from transaction
           where world_id = $5 and customer_id = $1 and status = 'COMPLETED' and (created_at, id) < ($2, $3) order by created_at desc, id desc limit $4`,
    values: [bare(customerId), ...place(after), 51, await worldId()],
  })
  const page = (rows as Row[]).slice(0, 50)
  const edges = page.map(
    (row) =>
      `{"cursor":"${cursor(row as never)}","node":{"id":"Transaction:${row['id']}","status":"${row['status']}","type":"${row['type']}","sentAmount":{"amount":"${row['sent_amount']}","currency":{"code":"${row['source_currency']}"}},"receivedAmount":{"amount":"${row['received_amount']}","currency":{"code":"${row['destination_currency']}"}},"createdAt":"${iso(row['created_at'])}"}}`,
  )
  return `{"data":{"transactions":{"edges":[${edges.join()}],"pageInfo":{"hasNextPage":${rows.length > 50},"endCursor":"${cursor(page.at(-1) as never)}"}}}}`
}

const answers = new Map<string, (variables: Row) => Promise<string> | string>([
  [documents.N1, customers],
  [documents.Q2, transaction],
  [documents.Q3, transactions],
  [documents.typename, () => '{"data":{"__typename":"Query"}}'],
])

const server = createServer((request, response) => {
  let text = ''
  request.setEncoding('utf8').on('data', (chunk) => {
    text += chunk
  })
  request.on('end', async () => {
    const { query, variables } = JSON.parse(text)
    const body = await answers.get(query)!(variables ?? {})
    response.writeHead(200, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) })
    response.end(body)
  })
})
server.listen(0, '127.0.0.1', () => console.log(`port ${(server.address() as AddressInfo).port}`))
