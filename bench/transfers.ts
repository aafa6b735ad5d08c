/**
 * Payments per second through the REST door on server PostgreSQL, beside pgbench writing the same rows as separate statements. A payment is
 * `POST /quotes` with `immediatelyExecute` and an idempotency key: authentication, pricing, debit, reply; and then its settlement through the
 * sandbox rail, which counts into the time. Rounds of both alternate in one run.
 */
import { spawnSync } from 'node:child_process'
import { mkdtempSync, writeFileSync } from 'node:fs'
import { cpus, tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import { Pool } from 'undici'
import { stringifyJson } from '../src/base/json.ts'
import { type SystemKind, systemAccount } from '../src/ledger/chart.ts'
import { cpuMs, credentials, median, type Running, residentMiB, startGateway, withDatabase } from './gateway.ts'

const rounds = 3
const seconds = 8
const customers = 200
const connections = [32, 256]

export async function benchTransfers(): Promise<void> {
  await withDatabase('gateway_bench', async (url) => {
    const gateway = await startGateway({ DATABASE_URL: url })
    try {
      await measure(gateway, url)
    } finally {
      await gateway.stop()
    }
  })
}

async function measure(gateway: Running, url: string): Promise<void> {
  const database = new pg.Client({ connectionString: url })
  await database.connect()
  try {
    const payers = await makePayers(gateway)
    const [{ server_version: version }] = (await database.query('show server_version')).rows
    console.log(
      `\nPayments per second, PostgreSQL ${version}, ${cpus().length} × ${cpus()[0]!.model}, medians of ${rounds} rounds of ${seconds} s\n`,
    )
    for (const clients of connections) await compare(gateway, database, url, payers, clients)
    console.log(`\nresident memory of the gateway at the end: ${residentMiB(gateway.pid)} MiB`)
    await expectBalanced(database)
  } finally {
    await database.end()
  }
}

interface Round {
  perSecond: number
  cpuMicroseconds: number
}

async function compare(gateway: Running, database: pg.Client, url: string, payers: readonly Payer[], clients: number) {
  const ours: Round[] = []
  const worldId = (await database.query<{ world_id: string }>('select world_id from customer limit 1')).rows[0]!.world_id
  const theirs: number[] = []
  await load(gateway, database, payers, clients, 2)
  for (let round = 0; round < rounds; round += 1) {
    ours.push(await load(gateway, database, payers, clients, seconds))
    theirs.push(await undisturbed(gateway, database, () => pgbench(url, payers, worldId)))
  }
  const perSecond = median(ours.map((round) => round.perSecond))
  const reference = median(theirs)
  console.log(`| at ${clients} connections | /s | ÷ pgbench | CPU of the gateway, µs each |\n|-|-|-|-|`)
  const cpu = median(ours.map((round) => round.cpuMicroseconds))
  console.log(
    `| POST /quotes, executed and settled | ${Math.round(perSecond)} | ${(perSecond / reference).toFixed(2)} | ${Math.round(cpu)} |`,
  )
  console.log(`| pgbench, the same rows as separate statements (12 clients) | ${Math.round(reference)} | 1 | |\n`)
}

// ── Through the door ─────────────────────────────────────────────────────────────────────────────────────────────────────────────

interface Payer {
  customerId: string
  accountId: string
  externalId: string
}

const headers = {
  authorization: `Basic ${Buffer.from(credentials).toString('base64')}`,
  'content-type': 'application/json',
}

async function makePayers({ url }: Running): Promise<Payer[]> {
  const call = async (method: string, path: string, body?: unknown) => {
    const reply = await fetch(`${url}/2025-10-13${path}`, {
      method,
      headers,
      ...(body === undefined ? {} : { body: stringifyJson(body) }),
    })
    if (!reply.ok) throw new Error(await reply.text())
    return (await reply.json()) as { id: string; data: { id: string }[] }
  }
  const payers: Payer[] = []
  for (let index = 0; index < customers; index += 1) {
    const { id: customerId } = await call('POST', '/customers', {
      platformCustomerId: `bench-${index}`,
      customerType: 'INDIVIDUAL',
    })
    const { data } = await call('GET', `/customers/internal-accounts?customerId=${customerId}&currency=USD`)
    const accountId = data[0]!.id
    await call('POST', `/sandbox/internal-accounts/${accountId}/fund`, { amount: 100_000_000_000 })
    const { id: externalId } = await call('POST', '/customers/external-accounts', {
      customerId,
      currency: 'EUR',
      accountInfo: { accountType: 'IBAN', iban: `DE89${String(index).padStart(15, '0')}100` },
    })
    payers.push({ customerId, accountId, externalId })
  }
  return payers
}

let payments = 0

async function load(
  { url, pid }: Running,
  database: pg.Client,
  payers: readonly Payer[],
  clients: number,
  forSeconds: number,
): Promise<Round> {
  const pool = new Pool(url, { connections: clients, pipelining: 1 })
  const cpuBefore = cpuMs(pid)
  const startedAt = performance.now()
  const endsAt = startedAt + forSeconds * 1000
  let done = 0
  const client = async () => {
    while (performance.now() < endsAt) {
      payments += 1
      const { accountId, externalId } = payers[payments % payers.length]!
      const { statusCode, body } = await pool.request({
        method: 'POST',
        path: '/2025-10-13/quotes',
        headers: { ...headers, 'idempotency-key': `bench-${payments}` },
        body: `{"source":{"accountId":"${accountId}"},"destination":{"accountId":"${externalId}"},"lockedCurrencySide":"SENDING","lockedCurrencyAmount":10000,"immediatelyExecute":true}`,
      })
      const text = await body.text()
      if (statusCode !== 201) throw new Error(text)
      done += 1
    }
  }
  await Promise.all(Array.from({ length: clients }, client))
  await settled(database)
  const took = performance.now() - startedAt
  await pool.close()
  return { perSecond: (done / took) * 1000, cpuMicroseconds: ((cpuMs(pid) - cpuBefore) * 1000) / done }
}

async function settled(database: pg.Client): Promise<void> {
  for (;;) {
    const { rowCount } = await database.query(`select 1 from task where kind = 'pay' limit 1`)
    if (rowCount === 0) return
    await new Promise((resolve) => setTimeout(resolve, 10))
  }
}

// ── pgbench ──────────────────────────────────────────────────────────────────────────────────────────────────────────────────────

/** The rows of one payment, execution and settlement, as an application that writes statement by statement would send them. */
function script(payers: readonly Payer[], worldId: string): string {
  const customer = payers[0]!.customerId.slice('Customer:'.length)
  const entry = (name: string, kind: string, currency: string, legs: [string, number][]) => `
insert into ledger_entry (id, world_id, transaction_id, kind, currency, created_at) values (:${name}::uuid, :world::uuid, :tx::uuid, '${kind}', '${currency}', now());
${legs.map(([of, amount]) => `insert into ledger_posting (entry_id, account_id, amount) values (:${name}::uuid, ${of}, ${amount});`).join('\n')}`
  const system = (kind: SystemKind, currency: string) => `'${systemAccount(worldId, kind, currency).id}'`
  const event = (type: string) => `insert into event (uuid, world_id, type, resource_id, customer_id, payload, created_at)
select gen_random_uuid(), :world::uuid, '${type}', 'Transaction:' || :tx::text, '${customer}', payload, now() from bench_payload where type = '${type}';`
  return `
\\set n random(1, ${payers.length})
select gen_random_uuid() as quote, gen_random_uuid() as tx, gen_random_uuid() as e1, gen_random_uuid() as e2, gen_random_uuid() as e3,
  '${worldId}' as world, id as account from bench_account where n = :n \\gset
begin;
select balance from ledger_account where id = :account::uuid for update;
insert into quote select :quote::uuid, world_id, :tx::uuid, customer_id, 'PROCESSING', source_type, source_account_id, source_uma_address, destination_type,
  destination_account_id, destination_uma_address, sending_currency, receiving_currency, locked_currency_side, total_sending_amount,
  total_receiving_amount, exchange_rate, fees_included, rate_details, payment_instructions, description, expires_at, executed_at, created_at,
  updated_at, version from bench_quote;
insert into transaction select :tx::uuid, world_id, type, 'PROCESSING', customer_id, platform_customer_id, :quote::uuid, source_type, source_account_id,
  source_uma_address, source_currency, destination_type, destination_account_id, destination_uma_address, destination_currency, sent_amount,
  received_amount, exchange_rate, fees, rate_details, description, :tx::text, counterparty_information, failure_reason, refund, settled_at,
  created_at, updated_at, version from bench_transaction;
insert into task (id, world_id, kind, subject_id, due_at, attempts) values (:tx::uuid, :world::uuid, 'bench', :tx::uuid, now(), 0);
${entry('e1', 'DEBIT', 'USD', [
  [':account::uuid', -10000],
  [system('IN_FLIGHT', 'USD'), 10000],
])}
update ledger_account set balance = balance - 10000, updated_at = now() where id = :account::uuid;
${event('ACCOUNT_STATUS')}
${event('OUTGOING_PAYMENT')}
insert into idempotency_key (world_id, operation, key, input_hash, reply, created_at)
select :world::uuid, 'bench', :tx::text, md5(:tx::text), payload, now() from bench_payload where type = 'reply';
commit;
begin;
select version from transaction where id = :tx::uuid for update;
select version from quote where id = :quote::uuid for update;
update transaction set status = 'COMPLETED', settled_at = now(), updated_at = now(), version = version + 1 where id = :tx::uuid;
update quote set status = 'COMPLETED', updated_at = now(), version = version + 1 where id = :quote::uuid;
${entry('e2', 'SETTLEMENT', 'USD', [
  [system('IN_FLIGHT', 'USD'), -10000],
  [system('FEES', 'USD'), 40],
  [system('FX_POSITION', 'USD'), 9960],
])}
${entry('e3', 'PAYOUT', 'EUR', [
  [system('FX_POSITION', 'EUR'), -9163],
  [system('COUNTERPARTY_FEES', 'EUR'), 10],
  [system('CLEARING', 'EUR'), 9153],
])}
${event('OUTGOING_PAYMENT')}
delete from task where id = :tx::uuid;
commit;
`
}

/** The gateway stands still meanwhile, and finds none of it to do afterwards: it would follow pgbench's events and tasks as its own. */
async function undisturbed(gateway: Running, database: pg.Client, work: () => number): Promise<number> {
  process.kill(gateway.pid, 'SIGSTOP')
  try {
    return work()
  } finally {
    await database.query(`delete from event where position is null; delete from task where kind = 'bench'`)
    process.kill(gateway.pid, 'SIGCONT')
  }
}

/** The rows the script copies: taken from a payment the gateway has made. */
const samples = `
drop table if exists bench_quote, bench_transaction, bench_payload, bench_account;
create table bench_transaction as select * from transaction where type = 'OUTGOING' and status = 'COMPLETED' limit 1;
create table bench_quote as select q.* from quote q join bench_transaction t on t.quote_id = q.id;
create table bench_payload as
  select distinct on (type) type, payload from event where type in ('ACCOUNT_STATUS', 'OUTGOING_PAYMENT')
  union all select 'reply', (select reply from idempotency_key limit 1);
create table bench_account as select row_number() over () as n, l.id from ledger_account l join internal_account i on i.id = l.id where l.currency = 'USD' and i.customer_id is not null;
create unique index on bench_account (n);
analyze;`

function pgbench(url: string, payers: readonly Payer[], worldId: string): number {
  const psql = spawnSync('psql', [url, '-q', '-v', 'ON_ERROR_STOP=1', '-c', samples], { encoding: 'utf8' })
  if (psql.status !== 0) throw new Error(psql.stderr)
  const binary = process.env['PGBENCH'] ?? 'pgbench'
  const file = join(mkdtempSync(join(tmpdir(), 'gateway-bench-')), 'payment.sql')
  writeFileSync(file, script(payers, worldId))
  const run = spawnSync(binary, ['-n', '-c', '12', '-j', '2', '-T', String(seconds), '-M', 'prepared', '-f', file, url], {
    encoding: 'utf8',
  })
  const found = /tps = ([\d.]+)/.exec(run.stdout)
  if (!found) throw new Error(run.stderr)
  return Number(found[1])
}

/** What both wrote is balanced: neither was fast by writing less. */
async function expectBalanced(database: pg.Client): Promise<void> {
  const { rowCount } = await database.query(
    'select 1 from ledger_posting p join ledger_entry e on e.id = p.entry_id group by e.currency having sum(p.amount) <> 0',
  )
  if (rowCount !== 0) throw new Error('the books are out of balance')
}
