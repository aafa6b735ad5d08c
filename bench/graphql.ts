/**
 * The graph's reads beside the same answers put together by hand (graphql-by-hand.ts): 20 customers with their internal accounts and 10 latest
 * payments each (N1), one payment with its customer and quote (Q2), 50 payments of a large customer by status (Q3), and `{ __typename }`. Both
 * answer the same bytes before anything is timed. Rounds alternate in one run; read the CPU first.
 */
import { cpus } from 'node:os'
import pg from 'pg'
import { alternate, type Contender, comparison, type Figures, startByHand } from './contenders.ts'
import { credentials, startGateway, withDatabase } from './gateway.ts'
import { authorization, type Bodies, documents, requestsOf } from './graphql-documents.ts'
import { startPostgraphile } from './graphql-postgraphile.ts'

const rounds = Number(process.env['BENCH_ROUNDS'] ?? 3)
const seconds = Number(process.env['BENCH_SECONDS'] ?? 3)
const rows = Number(process.env['BENCH_ROWS'] ?? 100_000)
const connections = 16
const customers = 2000
const whales = 5

type Beside = NonNullable<Awaited<ReturnType<typeof startPostgraphile>>>

export async function benchGraphql(): Promise<void> {
  console.log(
    `\nGraphQL reads, ${rows} transactions, ${connections} connections, ${cpus().length} × ${cpus()[0]!.model}, medians of ${rounds} rounds of ${seconds} s\n`,
  )
  await withDatabase('gateway_bench', async (url) => {
    const gateway = await startGateway({ DATABASE_URL: url })
    const database = new pg.Client({ connectionString: url })
    await database.connect()
    const byHand = await startByHand('bench/graphql-by-hand.ts', url)
    let beside: Beside | undefined
    try {
      const asked = await fill(database)
      beside = await startPostgraphile(url, database)
      console.log(
        '| | /s | by hand | ÷ | p99 ms | by hand | CPU µs (server + PostgreSQL) | by hand | CPU ÷ by hand | PostGraphile /s | p99 ms | CPU µs | ours ÷ its /s |\n|-|-|-|-|-|-|-|-|-|-|-|-|-|',
      )
      for (const bodies of asked) {
        await expectSame(gateway.url, byHand.url, bodies)
        await compare(gateway, byHand, beside, bodies)
      }
    } finally {
      beside?.stop()
      byHand.stop()
      await database.end()
      await gateway.stop()
    }
  })
}

async function compare(gateway: Contender, byHand: Contender, beside: Beside | undefined, bodies: Bodies): Promise<void> {
  const next = requestsOf(documents[bodies.name], bodies.variables)
  const all = [gateway, byHand].map(({ url, pid }) => ({ url, pid, next }))
  if (beside) all.push({ url: beside.url, pid: beside.pid, next: await beside.requests(bodies) })
  const [ours, theirs, its] = (await alternate(all, { connections, rounds, seconds })) as [Figures, Figures, Figures?]
  const ratio = (ours.server + ours.postgres) / (theirs.server + theirs.postgres)
  const cells = [bodies.name, ...comparison(ours, theirs), ratio.toFixed(2)]
  if (its) {
    const cpu = `${Math.round(its.server)} + ${Math.round(its.postgres)}`
    cells.push(String(Math.round(its.perSecond)), its.p99Ms.toFixed(1), cpu, (ours.perSecond / its.perSecond).toFixed(2))
  }
  console.log(`| ${cells.join(' | ')} |`)
}

async function expectSame(left: string, right: string, { name, variables }: Bodies): Promise<void> {
  for (const one of variables.slice(0, 4)) {
    const [ours, theirs] = await Promise.all(
      [left, right].map(async (url) => {
        const reply = await fetch(`${url}/graphql`, {
          method: 'POST',
          headers: { authorization, 'content-type': 'application/json', accept: 'application/json' },
          body: JSON.stringify({ query: documents[name], variables: one }),
        })
        const { data, errors } = (await reply.json()) as { data: unknown; errors?: unknown }
        return JSON.stringify(errors ?? data)
      }),
    )
    if (ours !== theirs) throw new Error(`${name} answers differ:\n${ours!.slice(0, 600)}\n${theirs!.slice(0, 600)}`)
  }
}

/** 2,000 customers with two balances each; a fifth of the payments are of five of them, and a fifth follow quotes. */
async function fill(database: pg.Client): Promise<Bodies[]> {
  const { rows: found } = await database.query(`select world_id from api_token where client_id = '${credentials.split(':')[0]}'`)
  const worldId = found[0].world_id as string
  await database.query(`set jit = off`)
  await database.query(
    `insert into customer (id, world_id, platform_customer_id, customer_type, uma_address, kyc_status, full_name, is_deleted, created_at, updated_at, version)
     select gen_random_uuid(), $1, 'bench-' || n, 'INDIVIDUAL', '$bench' || n || '@bench', 'APPROVED', 'Customer ' || n, false,
       timestamptz '2026-01-01' + n * interval '1 minute', timestamptz '2026-01-01' + n * interval '1 minute', 1
     from generate_series(1, ${customers}) n`,
    [worldId],
  )
  await database.query(
    `with account as (select gen_random_uuid() as id, c.id as customer, c.created_at, currency
       from customer c cross join unnest(array['USD', 'EUR']) as currency where c.world_id = $1),
     ledger as (insert into ledger_account (id, world_id, kind, currency, balance, created_at, updated_at)
       select id, $1, 'INTERNAL', currency, 1000000, created_at, created_at from account returning 1)
     insert into internal_account (id, world_id, customer_id, currency, funding_reference, created_at)
     select id, $1, customer, currency, 'FUND-' || id, created_at from account`,
    [worldId],
  )
  await database.query(
    `with numbered as (select c.id, row_number() over (order by c.created_at) as n, a.id as inside
       from customer c join internal_account a on a.customer_id = c.id and a.currency = 'USD' where c.world_id = $1),
     payment as (select gen_random_uuid() as id, gen_random_uuid() as quote, g.i, case when g.i % 9 < 2 then 1 + g.i % ${whales} else 1 + (g.i::bigint * 7919) % ${customers} end as n
       from generate_series(1, $2::int) g(i)),
     quoted as (insert into quote (id, world_id, transaction_id, customer_id, status, source_type, source_account_id, destination_type,
         destination_account_id, sending_currency, receiving_currency, locked_currency_side, total_sending_amount, total_receiving_amount,
         exchange_rate, fees_included, rate_details, expires_at, created_at, updated_at, version)
       select p.quote, $1, p.id, c.id, 'COMPLETED', 'INTERNAL_ACCOUNT', c.inside, 'EXTERNAL_ACCOUNT', c.inside, 'USD', 'EUR', 'SENDING', p.i + 100, p.i,
         '1.08695652', 100, '{"counterpartyMultiplier": 1, "counterpartyFixedFee": 0, "serviceApiMultiplier": 1, "serviceApiFixedFee": 100, "serviceApiVariableFeeRate": 0, "serviceApiVariableFeeAmount": 0}',
         timestamptz '2026-01-01' + p.i * interval '1 second', timestamptz '2026-01-01' + p.i * interval '1 second', timestamptz '2026-01-01' + p.i * interval '1 second', 1
       from payment p join numbered c on c.n = p.n where p.i % 5 = 0 returning 1)
     insert into transaction (id, world_id, type, status, customer_id, platform_customer_id, quote_id, source_type, source_account_id, source_currency,
       destination_type, destination_account_id, destination_currency, sent_amount, received_amount, fees, reference, history,
       failure_reason, settled_at, created_at, updated_at, version)
     select p.id, $1, 'OUTGOING', case when p.i % 50 = 0 then 'FAILED' else 'COMPLETED' end::"TransactionStatus", c.id, 'bench-' || c.n,
       case when p.i % 5 = 0 then p.quote end, 'INTERNAL_ACCOUNT', c.inside, 'USD', 'EXTERNAL_ACCOUNT', c.inside, 'EUR', p.i + 100, p.i, 100, 'REF-' || p.i,
       '[{"status": "COMPLETED", "at": "2026-01-01T00:00:00.000Z"}]', null, timestamptz '2026-01-01' + p.i * interval '1 second',
       timestamptz '2026-01-01' + p.i * interval '1 second', timestamptz '2026-01-01' + p.i * interval '1 second', 1
     from payment p join numbered c on c.n = p.n`,
    [worldId, rows],
  )
  await database.query('vacuum analyze')
  const places = async (text: string) =>
    (await database.query(text)).rows as { id: string; created_at: Date; customer_id: string }[]
  const cursorOf = ({ id, created_at: at }: { id: string; created_at: Date }) =>
    Buffer.from(`${at.getTime()}.${id}`).toString('base64url')
  const only = process.env['BENCH_ONLY']?.split(',')
  const pages = await places(
    `select id, created_at from customer where world_id = '${worldId}' order by created_at desc, id desc limit 1900`,
  )
  const quoted = await places('select id, created_at from transaction where quote_id is not null order by random() limit 200')
  const large = await places(
    `select t.id, t.created_at, t.customer_id from (select customer_id, count(*) from transaction group by 1 order by 2 desc limit ${whales}) w
     cross join lateral (select * from transaction where customer_id = w.customer_id order by created_at desc, id desc limit 1000) t
     where t.received_amount % 50 = 7`,
  )
  const all: Bodies[] = [
    { name: 'typename', variables: [{}] },
    { name: 'N1', variables: pages.filter((_page, index) => index % 19 === 0).map((row) => ({ after: cursorOf(row) })) },
    { name: 'Q2', variables: quoted.map(({ id }) => ({ id: `Transaction:${id}` })) },
    {
      name: 'Q3',
      variables: large.map((row) => ({ customerId: `Customer:${row.customer_id}`, after: cursorOf(row) })),
    },
  ]
  return all.filter(({ name }) => only?.includes(name) ?? true)
}
