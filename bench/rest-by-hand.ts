/**
 * What the REST reads are measured against: the same two handlers written by hand on node:http and pg, with prepared statements and the same
 * credentials, checks, shapes and counting. `node bench/rest-by-hand.ts <database url> <count up to>`; prints its port.
 */
import { createHash, timingSafeEqual } from 'node:crypto'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import pg from 'pg'
import { currencyOf } from '../src/base/currency.ts'

const [, , connectionString, most] = process.argv as [string, string, string, string]
const mostCounted = Number(most)
pg.types.setTypeParser(20, Number)
const pool = new pg.Pool({ connectionString, max: 10 })
const columns = `id, type, status, customer_id, platform_customer_id, quote_id, source_type, source_account_id, source_uma_address, source_currency,
  destination_type, destination_account_id, destination_uma_address, destination_currency, sent_amount, received_amount, exchange_rate, fees,
  rate_details, description, remittance_information, reference, counterparty_information, failure_reason, refund, settled_at, created_at, updated_at`

const tokens = new Map<string, { hash: Buffer; world: string; until: number }>()

async function worldOf({ headers: { authorization = '' } }: IncomingMessage): Promise<string | undefined> {
  const [name = '', secret = ''] = Buffer.from(authorization.slice(6), 'base64').toString('utf8').split(':')
  let token = tokens.get(name)
  if (!token || token.until < Date.now()) {
    const { rows } = await pool.query('select secret_hash, world_id from api_token where client_id = $1', [name])
    if (!rows[0]) return undefined
    token = { hash: Buffer.from(rows[0].secret_hash, 'hex'), world: rows[0].world_id, until: Date.now() + 800 }
    tokens.set(name, token)
  }
  return timingSafeEqual(token.hash, createHash('sha256').update(secret).digest()) ? token.world : undefined
}

function shape(row: any): object {
  const end = (side: string) => ({
    [`${side}Type`]: 'ACCOUNT',
    accountId: `${row[`${side}_type`] === 'INTERNAL_ACCOUNT' ? 'InternalAccount' : 'ExternalAccount'}:${row[`${side}_account_id`]}`,
    currency: row[`${side}_currency`],
  })
  const outgoing = row.type === 'OUTGOING'
  const shaped: Record<string, unknown> = {
    id: `Transaction:${row.id}`,
    status: row.status,
    type: row.type,
    direction: outgoing ? 'DEBIT' : 'CREDIT',
    source: end('source'),
    destination: end('destination'),
  }
  if (row.customer_id) shaped['customerId'] = `Customer:${row.customer_id}`
  if (row.platform_customer_id) shaped['platformCustomerId'] = row.platform_customer_id
  if (outgoing) shaped['sentAmount'] = { amount: row.sent_amount, currency: currencyOf(row.source_currency) }
  shaped['receivedAmount'] = { amount: row.received_amount, currency: currencyOf(row.destination_currency) }
  if (row.exchange_rate) shaped['exchangeRate'] = Number(row.exchange_rate)
  if (outgoing) shaped['fees'] = row.fees
  if (row.quote_id) shaped['quoteId'] = `Quote:${row.quote_id}`
  if (row.settled_at) shaped['settledAt'] = row.settled_at
  shaped['createdAt'] = row.created_at
  shaped['updatedAt'] = row.updated_at
  if (row.description) shaped['description'] = row.description
  if (row.remittance_information) shaped['remittanceInformation'] = row.remittance_information
  if (row.status !== 'CREATED') shaped['reconciliationInstructions'] = { reference: row.reference }
  if (row.rate_details) shaped['rateDetails'] = row.rate_details
  if (row.counterparty_information) shaped['counterpartyInformation'] = row.counterparty_information
  if (row.failure_reason) shaped['failureReason'] = row.failure_reason
  if (row.refund) shaped['refund'] = row.refund
  return shaped
}

function answer(response: ServerResponse, status: number, body: object): void {
  const text = JSON.stringify(body)
  response.writeHead(status, { 'content-type': 'application/json; charset=utf-8', 'content-length': Buffer.byteLength(text) })
  response.end(text)
}

const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/

async function one(world: string, id: string, response: ServerResponse): Promise<void> {
  const bare = id.startsWith('Transaction:') ? id.slice(12) : ''
  if (!uuid.test(bare)) return answer(response, 400, { status: 400, code: 'INVALID_INPUT', message: 'transactionId' })
  const { rows } = await pool.query({
    name: 'one',
    text: `select ${columns} from transaction where id = $2 and world_id = $1`,
    values: [world, bare],
  })
  if (rows[0]) answer(response, 200, shape(rows[0]))
  else answer(response, 404, { status: 404, code: 'TRANSACTION_NOT_FOUND', message: 'There is no such transaction' })
}

async function list(world: string, query: URLSearchParams, response: ServerResponse): Promise<void> {
  const limit = Number(query.get('limit') ?? 20)
  const customer = query.get('customerId')?.slice(9) ?? ''
  const cursor = query.get('cursor')
  const status = query.get('status')
  if (!(limit >= 1 && limit <= 100) || !uuid.test(customer)) {
    return answer(response, 400, { status: 400, code: 'INVALID_INPUT', message: 'limit' })
  }
  const [at, id] = cursor ? Buffer.from(cursor, 'base64url').toString().split('.') : []
  const where = `world_id = $1 and customer_id = $2 and status = $3::"TransactionStatus"`
  const [found, counted] = await Promise.all([
    pool.query({
      name: cursor ? 'after' : 'first',
      text: `select ${columns} from transaction where ${where} ${cursor ? 'and (created_at, id) < ($5, $6)' : ''} order by created_at desc, id desc limit $4`,
      values: [world, customer, status, limit + 1, ...(cursor ? [new Date(Number(at)), id] : [])],
    }),
    pool.query({
      name: 'count',
      text: `select count(*) as count from (select 1 from transaction where ${where} limit ${mostCounted + 1}) matching`,
      values: [world, customer, status],
    }),
  ])
  const hasMore = found.rows.length > limit
  const rows = hasMore ? found.rows.slice(0, limit) : found.rows
  const last = rows.at(-1)
  const count = counted.rows[0].count
  answer(response, 200, {
    data: rows.map(shape),
    hasMore,
    ...(hasMore ? { nextCursor: Buffer.from(`${last.created_at.getTime()}.${last.id}`).toString('base64url') } : {}),
    ...(count > mostCounted ? {} : { totalCount: count }),
  })
}

const server = createServer(async (request, response) => {
  const world = await worldOf(request)
  if (!world) return answer(response, 401, { status: 401, code: 'UNAUTHORIZED', message: 'Missing or invalid credentials' })
  const url = new URL(request.url!, 'http://host')
  const id = /^\/2025-10-13\/transactions\/([^/]+)$/.exec(url.pathname)?.[1]
  if (id) await one(world, decodeURIComponent(id), response)
  else await list(world, url.searchParams, response)
})
server.listen(0, '127.0.0.1', () => console.log(`port ${(server.address() as AddressInfo).port}`))
