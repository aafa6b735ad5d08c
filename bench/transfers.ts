/**
 * Transfers per second through the REST door on server PostgreSQL, beside pgbench writing the same rows: (a) as separate statements in a
 * transaction, (b) as one function call. A transfer is `POST /transfer-out` with an idempotency key, from authentication to reply, and its
 * settlement through the sandbox rail, which counts into the time; pgbench writes both halves too. Rounds alternate in one run.
 */
import { spawnSync } from 'node:child_process'
import { mkdtempSync, writeFileSync } from 'node:fs'
import { cpus, tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import { stringifyJson } from '../src/base/json.ts'
import { type SystemKind, systemAccount } from '../src/ledger/chart.ts'
import { cpuMs, credentials, median, postgresCpuMs, type Running, residentMiB, startGateway, withDatabase } from './gateway.ts'
import { load } from './http.ts'

const rounds = Number(process.env['BENCH_ROUNDS'] ?? 3)
const seconds = Number(process.env['BENCH_SECONDS'] ?? 8)
const customers = 1000
const hot = 5

export async function benchTransfers(): Promise<void> {
  await withGateway(async (gateway, database, url) => {
    const payers = await makePayers(gateway)
    const [{ server_version: version, synchronous_commit: durable }] = (
      await database.query(
        `select current_setting('server_version') as server_version, current_setting('synchronous_commit') as synchronous_commit`,
      )
    ).rows
    console.log(
      `\nTransfers per second, PostgreSQL ${version}, synchronous_commit=${durable}, ${cpus().length} × ${cpus()[0]!.model}, medians of ${rounds} rounds of ${seconds} s\n`,
    )
    await load32(gateway, payers, 2)
    const figures = new Map<string, Figure[]>()
    const note = async (name: string, figure: Promise<Figure>) => {
      figures.set(name, [...(figures.get(name) ?? []), await figure])
    }
    for (let round = 0; round < rounds; round += 1) {
      await note('POST /transfer-out, 32 connections', transfers(gateway, database, payers, 32))
      await note('(a) pgbench, separate statements', pgbench(gateway, database, url, 'statements', payers))
      await note(`the same on ${hot} hot accounts`, transfers(gateway, database, payers.slice(0, hot), 32))
      await note('(b) pgbench, one function call', pgbench(gateway, database, url, 'function', payers))
      await note('POST /transfer-out, 256 connections', transfers(gateway, database, payers, 256))
    }
    const reference = median(figures.get('(a) pgbench, separate statements')!.map(({ perSecond }) => perSecond))
    console.log('| | /s | ÷ (a) | p50 / p99 ms | CPU of the gateway, µs each | CPU of PostgreSQL, µs each |\n|-|-|-|-|-|-|')
    for (const [name, all] of figures) {
      const of = (key: keyof Figure) => median(all.map((figure) => figure[key]))
      const ratio = (of('perSecond') / reference).toFixed(2)
      const ours = of('gatewayMicroseconds') > 0
      const latency = ours ? `${of('p50Ms').toFixed(1)} / ${of('p99Ms').toFixed(1)}` : ''
      console.log(
        `| ${name} | ${Math.round(of('perSecond'))} | ${ratio} | ${latency} | ${ours ? Math.round(of('gatewayMicroseconds')) : ''} | ${Math.round(of('postgresMicroseconds'))} |`,
      )
    }
    await expectBalanced(database)
  })
}

/** Resident memory while a million transfers go through. */
export async function benchMemory(): Promise<void> {
  const transfersInAll = Number(process.env['BENCH_TRANSFERS'] ?? 1_000_000)
  await withGateway(async (gateway, database) => {
    const payers = await makePayers(gateway)
    console.log('\n| transfers | resident MiB |\n|-|-|')
    for (let done = 0; done < transfersInAll; ) {
      done += (await load32(gateway, payers, 20)).answered
      await settled(database)
      console.log(`| ${done} | ${residentMiB(gateway.pid)} |`)
    }
  })
}

async function withGateway(work: (gateway: Running, database: pg.Client, url: string) => Promise<void>): Promise<void> {
  await withDatabase('gateway_bench', async (url) => {
    const gateway = await startGateway({ DATABASE_URL: url })
    const database = new pg.Client({ connectionString: url })
    await database.connect()
    try {
      await work(gateway, database, url)
    } finally {
      await database.end()
      await gateway.stop()
    }
  })
}

interface Figure {
  perSecond: number
  p50Ms: number
  p99Ms: number
  gatewayMicroseconds: number
  postgresMicroseconds: number
}

// ── Through the door ─────────────────────────────────────────────────────────────────────────────────────────────────────────────

interface Payer {
  customerId: string
  accountId: string
  externalId: string
}

const authorization = `Basic ${Buffer.from(credentials).toString('base64')}`

async function makePayers({ url }: Running): Promise<Payer[]> {
  const call = async (method: string, path: string, body?: unknown) => {
    const reply = await fetch(`${url}/2025-10-13${path}`, {
      method,
      headers: { authorization, 'content-type': 'application/json' },
      ...(body === undefined ? {} : { body: stringifyJson(body) }),
    })
    if (!reply.ok) throw new Error(await reply.text())
    return (await reply.json()) as { id: string; data: { id: string }[] }
  }
  const one = async (index: number): Promise<Payer> => {
    const { id: customerId } = await call('POST', '/customers', {
      platformCustomerId: `bench-${index}`,
      customerType: 'INDIVIDUAL',
    })
    const { data } = await call('GET', `/customers/internal-accounts?customerId=${customerId}&currency=USD`)
    const accountId = data[0]!.id
    await call('POST', `/sandbox/internal-accounts/${accountId}/fund`, { amount: 100_000_000_000 })
    const accountNumber = `${String(index).padStart(10, '0')}100`
    const { id: externalId } = await call('POST', '/customers/external-accounts', {
      customerId,
      currency: 'USD',
      accountInfo: { accountType: 'US_ACCOUNT', accountNumber, routingNumber: '021000021', accountCategory: 'CHECKING' },
    })
    return { customerId, accountId, externalId }
  }
  const payers: Payer[] = []
  for (let index = 0; index < customers; index += 20) {
    payers.push(...(await Promise.all(Array.from({ length: 20 }, (_, offset) => one(index + offset)))))
  }
  return payers
}

let sent = 0

function request(payers: readonly Payer[]): () => string {
  return () => {
    sent += 1
    const { accountId, externalId } = payers[sent % payers.length]!
    const body = `{"source":{"accountId":"${accountId}"},"destination":{"accountId":"${externalId}"},"amount":1000}`
    return `POST /2025-10-13/transfer-out HTTP/1.1\r\nhost: bench\r\nauthorization: ${authorization}\r\ncontent-type: application/json\r\nidempotency-key: bench-${sent}\r\ncontent-length: ${body.length}\r\n\r\n${body}`
  }
}

function load32({ url }: Running, payers: readonly Payer[], forSeconds: number) {
  return load(url, 32, forSeconds, 201, request(payers))
}

async function transfers(gateway: Running, database: pg.Client, payers: readonly Payer[], clients: number): Promise<Figure> {
  const [gatewayBefore, postgresBefore, startedAt] = [cpuMs(gateway.pid), postgresCpuMs(), performance.now()]
  const { answered, p50Ms, p99Ms } = await load(gateway.url, clients, seconds, 201, request(payers))
  await settled(database)
  return {
    perSecond: (answered / (performance.now() - startedAt)) * 1000,
    p50Ms,
    p99Ms,
    gatewayMicroseconds: ((cpuMs(gateway.pid) - gatewayBefore) * 1000) / answered,
    postgresMicroseconds: ((postgresCpuMs() - postgresBefore) * 1000) / answered,
  }
}

async function settled(database: pg.Client): Promise<void> {
  for (;;) {
    const { rowCount } = await database.query(`select 1 from task where kind = 'pay' limit 1`)
    if (rowCount === 0) return
    await new Promise((resolve) => setTimeout(resolve, 10))
  }
}

// ── pgbench ──────────────────────────────────────────────────────────────────────────────────────────────────────────────────────

/** Both halves of a transfer, as statements over these names: an account, new ids, the world and the system accounts. */
function halves(of: (name: string) => string, worldId: string): [transfer: string, settlement: string] {
  const system = (kind: SystemKind) => `'${systemAccount(worldId, kind, 'USD').id}'`
  const entry = (name: string, kind: string, legs: [account: string, amount: number, after: string][]) => `
insert into ledger_entry (id, world_id, transaction_id, kind, currency, created_at) values (${of(name)}, '${worldId}', ${of('tx')}, '${kind}', 'USD', now());
${legs.map(([account, amount, after]) => `insert into ledger_posting (entry_id, account_id, amount, balance_after, created_at) values (${of(name)}, ${account}, ${amount}, ${after}, now());`).join('\n')}`
  const event = (
    type: string,
  ) => `insert into event (uuid, world_id, type, resource_id, customer_id, transaction_id, payload, created_at)
select gen_random_uuid(), '${worldId}', type, 'Transaction:' || ${of('tx')}, null, ${of('tx')}, payload, now() from bench_payload where type = '${type}';`
  const columns = (changed: Record<string, string>) => transactionColumns.map((column) => changed[column] ?? column).join(', ')
  return [
    `
insert into transaction (${transactionColumns.join(', ')}) select ${columns({ id: of('tx'), status: "'PROCESSING'", reference: `${of('tx')}::text`, settled_at: 'null' })} from bench_transaction;
insert into task (id, world_id, kind, subject_id, due_at, attempts) values (${of('tx')}, '${worldId}', 'bench', ${of('tx')}, now(), 0);
update ledger_account set balance = balance - 1000, updated_at = now() where id = ${of('account')};
${entry('e1', 'DEBIT', [
  [of('account'), -1000, `(select balance from ledger_account where id = ${of('account')})`],
  [system('IN_FLIGHT'), 1000, 'null'],
])}
${event('ACCOUNT_STATUS')}
insert into idempotency_key (world_id, operation, key, input_hash, reply, created_at)
select '${worldId}', 'bench', ${of('tx')}::text, md5(${of('tx')}::text), payload, now() from bench_payload where type = 'reply';`,
    `
update transaction set status = 'COMPLETED', history = (select history from bench_transaction), settled_at = now(), updated_at = now(), version = version + 1 where id = ${of('tx')};
${entry('e2', 'SETTLEMENT', [
  [system('IN_FLIGHT'), -1000, 'null'],
  [system('CLEARING'), 1000, 'null'],
])}
${event('OUTGOING_PAYMENT')}
delete from task where id = ${of('tx')};`,
  ]
}

const transactionColumns =
  'id, world_id, type, status, customer_id, platform_customer_id, quote_id, source_type, source_account_id, source_uma_address, source_currency, destination_type, destination_account_id, destination_uma_address, destination_currency, sent_amount, received_amount, exchange_rate, fees, rate_details, description, reference, counterparty_information, failure_reason, refund, history, settled_at, created_at, updated_at, version'.split(
    ', ',
  )

function script(kind: 'statements' | 'function', worldId: string, payers: readonly Payer[]): string {
  const ids = `
\\set n random(1, ${payers.length})
select gen_random_uuid() as tx, gen_random_uuid() as e1, gen_random_uuid() as e2, id as account from bench_account where n = :n \\gset`
  if (kind === 'function') {
    return `${ids}
select bench_transfer(:account::uuid, :tx::uuid, :e1::uuid);
select bench_settle(:tx::uuid, :e2::uuid);
`
  }
  const [transfer, settlement] = halves((name) => `:${name}::uuid`, worldId)
  return `${ids}
begin;
select balance from ledger_account where id = :account::uuid for update;
${transfer}
commit;
begin;
select version from transaction where id = :tx::uuid for update;
${settlement}
commit;
`
}

function functions(worldId: string): string {
  const [transfer, settlement] = halves((name) => `p_${name}`, worldId)
  return `
create or replace function bench_transfer(p_account uuid, p_tx uuid, p_e1 uuid) returns void language plpgsql as $$
begin perform 1 from ledger_account where id = p_account for update; ${transfer} end $$;
create or replace function bench_settle(p_tx uuid, p_e2 uuid) returns void language plpgsql as $$
begin perform 1 from transaction where id = p_tx for update; ${settlement} end $$;`
}

/** The rows the scripts copy: taken from a transfer the gateway has made. */
const samples = `
drop table if exists bench_transaction, bench_payload, bench_account;
create table bench_transaction as select * from transaction where type = 'OUTGOING' and status = 'COMPLETED' limit 1;
create table bench_payload as
  select distinct on (type) type, payload from event where type in ('ACCOUNT_STATUS', 'OUTGOING_PAYMENT')
  union all select 'reply', (select reply from idempotency_key limit 1);
create table bench_account as select row_number() over () as n, l.id from ledger_account l join internal_account i on i.id = l.id where l.currency = 'USD' and i.customer_id is not null;
create unique index on bench_account (n);
analyze;`

/** With 12 clients. The gateway stands still meanwhile, and finds none of it to do afterwards: it would follow pgbench's rows as its own. */
async function pgbench(
  gateway: Running,
  database: pg.Client,
  url: string,
  kind: 'statements' | 'function',
  payers: readonly Payer[],
): Promise<Figure> {
  const { world_id: worldId } = (await database.query<{ world_id: string }>('select world_id from customer limit 1')).rows[0]!
  await database.query(samples)
  await database.query(functions(worldId))
  const file = join(mkdtempSync(join(tmpdir(), 'gateway-bench-')), 'transfer.sql')
  writeFileSync(file, script(kind, worldId, payers))
  process.kill(gateway.pid, 'SIGSTOP')
  const cpuBefore = postgresCpuMs()
  try {
    const run = spawnSync(
      process.env['PGBENCH'] ?? 'pgbench',
      ['-n', '-c', '12', '-j', '2', '-T', String(seconds), '-M', 'prepared', '-f', file, url],
      { encoding: 'utf8' },
    )
    const perSecond = Number(/tps = ([\d.]+)/.exec(run.stdout)?.[1])
    const done = Number(/actually processed: (\d+)/.exec(run.stdout)?.[1])
    if (!perSecond) throw new Error(run.stderr)
    return {
      perSecond,
      p50Ms: 0,
      p99Ms: 0,
      gatewayMicroseconds: 0,
      postgresMicroseconds: ((postgresCpuMs() - cpuBefore) * 1000) / done,
    }
  } finally {
    await database.query(`delete from event where position is null; delete from task where kind = 'bench'`)
    process.kill(gateway.pid, 'SIGCONT')
  }
}

/** What both wrote is balanced: neither was fast by writing less. */
async function expectBalanced(database: pg.Client): Promise<void> {
  const { rowCount } = await database.query(
    `select 1 from ledger_posting p join ledger_entry e on e.id = p.entry_id group by e.currency having sum(p.amount) <> 0
     union all
     select 1 from ledger_account a where a.kind = 'INTERNAL' and a.balance <>
       (select coalesce(sum(p.amount), 0) from ledger_posting p where p.account_id = a.id)`,
  )
  if (rowCount !== 0) throw new Error('the books are out of balance')
}
