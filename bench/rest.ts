/**
 * REST reads: GET one transaction, and a list of 50 of a customer with a fifth of all, by status, its first page and its thousandth, at 10,000,
 * 100,000 and 1,000,000 rows; beside the same handlers written by hand on node:http and pg (rest-by-hand.ts). Rounds alternate in one run.
 */
import { cpus } from 'node:os'
import pg from 'pg'
import { mostCounted } from '../src/core/page.ts'
import { alternate, comparison, type Figures, startByHand } from './contenders.ts'
import { credentials, startGateway, withDatabase } from './gateway.ts'

const rounds = Number(process.env['BENCH_ROUNDS'] ?? 3)
const seconds = Number(process.env['BENCH_SECONDS'] ?? 4)
const sizes = (process.env['BENCH_ROWS'] ?? '10000,100000,1000000').split(',').map(Number)
const connections = 16
const customers = 20
const authorization = `Basic ${Buffer.from(credentials).toString('base64')}`

export async function benchRest(): Promise<void> {
  console.log(
    `\nREST reads, ${connections} connections, ${cpus().length} × ${cpus()[0]!.model}, medians of ${rounds} rounds of ${seconds} s\n`,
  )
  console.log('| rows | | /s | by hand | ÷ | p99 ms | by hand | CPU µs (server + PostgreSQL) | by hand |\n|-|-|-|-|-|-|-|-|-|')
  const perSecond = new Map<string, number>()
  for (const rows of sizes) await withDatabase('gateway_bench', (url) => measure(url, rows, perSecond))
  const [least, most] = [sizes[0]!, sizes.at(-1)!]
  const ratio = (left: string, right: string) => ((perSecond.get(left) ?? 0) / (perSecond.get(right) ?? 1)).toFixed(2)
  for (const rows of sizes.filter((size) => size >= 250_000)) {
    console.log(
      `\nat ${rows} rows the first page is answered ${ratio(`${rows} page 1`, `${rows} page 1,000`)} × as often as the thousandth`,
    )
  }
  console.log(`at ${least} rows the list is answered ${ratio(`${least} page 1`, `${most} page 1`)} × as often as at ${most}`)
}

async function measure(url: string, rows: number, perSecond: Map<string, number>): Promise<void> {
  const gateway = await startGateway({ DATABASE_URL: url })
  const database = new pg.Client({ connectionString: url })
  await database.connect()
  const byHand = await startByHand('bench/rest-by-hand.ts', url, String(mostCounted))
  try {
    const { ids, customerId, cursor } = await fill(database, rows)
    const requests = requestsFor(ids, customerId, cursor)
    for (const [name, next] of Object.entries(requests)) {
      const [ours, theirs] = (await alternate(
        [gateway, byHand].map((contender) => ({ ...contender, next })),
        { connections, rounds, seconds },
      )) as [Figures, Figures]
      perSecond.set(`${rows} ${name}`, ours.perSecond)
      console.log(`| ${[rows, name, ...comparison(ours, theirs)].join(' | ')} |`)
    }
  } finally {
    byHand.stop()
    await database.end()
    await gateway.stop()
  }
}

function requestsFor(ids: readonly string[], customerId: string, cursor: string | undefined): Record<string, () => string> {
  let asked = 0
  const get = (path: string) =>
    `GET /2025-10-13${path} HTTP/1.1\r\nhost: bench\r\nauthorization: ${authorization}\r\naccept: application/json\r\n\r\n`
  const list = `/transactions?customerId=Customer:${customerId}&status=COMPLETED&limit=50`
  return {
    'one transaction': () => {
      asked += 1
      return get(`/transactions/Transaction:${ids[asked % ids.length]}`)
    },
    'page 1': () => get(list),
    ...(cursor === undefined ? {} : { 'page 1,000': () => get(`${list}&cursor=${cursor}`) }),
  }
}

/** Completed transfers of twenty customers, the first of whom has a fifth of all; some failed. */
async function fill(database: pg.Client, rows: number) {
  const { rows: found } = await database.query(`select world_id from api_token where client_id = '${credentials.split(':')[0]}'`)
  const worldId = found[0].world_id as string
  await database.query(
    `with customer as (select n, gen_random_uuid() as id, gen_random_uuid() as inside, gen_random_uuid() as outside from generate_series(1, ${customers}) n)
     insert into transaction (id, world_id, type, status, customer_id, platform_customer_id, source_type, source_account_id, source_currency,
       destination_type, destination_account_id, destination_currency, sent_amount, received_amount, fees, reference, history,
       failure_reason, settled_at, created_at, updated_at, version)
     select gen_random_uuid(), $1, 'OUTGOING', case when g.i % 50 = 0 then 'FAILED' else 'COMPLETED' end::"TransactionStatus", c.id, 'bench-' || c.n,
       'INTERNAL_ACCOUNT', c.inside, 'USD', 'EXTERNAL_ACCOUNT', c.outside, 'USD', g.i % 100000 + 1, g.i % 100000 + 1, 0, 'REF-' || g.i,
       '[{"status": "COMPLETED", "at": "2026-01-01T00:00:00.000Z"}]', case when g.i % 50 = 0 then 'OFFRAMP_FAILED' end,
       timestamptz '2026-01-01' + g.i * interval '1 second', timestamptz '2026-01-01' + g.i * interval '1 second', timestamptz '2026-01-01' + g.i * interval '1 second', 1
     from generate_series(1, $2::int) g(i) join customer c on c.n = case when g.i % 5 = 0 then 1 else 2 + g.i % ${customers - 1} end`,
    [worldId, rows],
  )
  await database.query('vacuum analyze transaction')
  const sample = await database.query('select id from transaction order by random() limit 2000')
  const busiest = await database.query(
    'select customer_id from transaction group by customer_id order by count(*) desc, customer_id limit 1',
  )
  const customerId = busiest.rows[0].customer_id as string
  const place = await database.query(
    `select created_at, id from transaction where customer_id = $1 and status = 'COMPLETED' order by created_at desc, id desc offset 49949 limit 1`,
    [customerId],
  )
  const [last] = place.rows
  const cursor = last ? Buffer.from(`${last.created_at.getTime()}.${last.id}`).toString('base64url') : undefined
  return { ids: sample.rows.map(({ id }) => id as string), customerId, cursor }
}
