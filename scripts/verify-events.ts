/**
 * `npm run verify`: whether every subscriber is told every event exactly once and in order, while everything goes wrong. Two gateway processes
 * on one database of a PostgreSQL server (DATABASE_URL names the server, default 127.0.0.1:5432); writers on both; sockets that follow all or
 * one customer, are cut at random and resume after their last cursor at either gateway; and gateways that are killed and started again.
 * Prints the counts; exit 1 if one event was missed, told twice or out of order.
 *
 *   npm run verify -- --sockets 1000 --events 50000 --writers 12 --kills 6
 */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { parseArgs } from 'node:util'
import pg from 'pg'
import { WebSocket } from 'ws'

type Body = Record<string, any>

const { values } = parseArgs({
  options: {
    sockets: { type: 'string', default: '1000' },
    events: { type: 'string', default: '50000' },
    writers: { type: 'string', default: '12' },
    kills: { type: 'string', default: '6' },
    /** Of the sockets, one in so many follows everything; the others a customer each. */
    everything: { type: 'string', default: '20' },
  },
})
const [sockets, events, writers, kills, everything] = [
  values.sockets,
  values.events,
  values.writers,
  values.kills,
  values.everything,
].map(Number) as [number, number, number, number, number]

const authorization = `Basic ${Buffer.from('verify:verify-secret').toString('base64')}`
const serverUrl = process.env['DATABASE_URL'] ?? 'postgres://postgres@127.0.0.1:5432/postgres'
const databaseName = `gateway_verify_${process.pid}`
const databaseUrl = Object.assign(new URL(serverUrl), { pathname: `/${databaseName}` }).href

// ── Gateways ─────────────────────────────────────────────────────────────────────────────────────────────────────────────────────

class GatewayProcess {
  url = ''
  #child: ChildProcess | undefined

  async start(): Promise<void> {
    const child = spawn(process.execPath, ['src/main.ts'], {
      env: {
        ...process.env,
        DATABASE_URL: databaseUrl,
        BOOTSTRAP_SANDBOX_TOKEN: 'verify:verify-secret',
        LOG_LEVEL: 'error',
        BASE_URL: '',
        PORT: '0',
      },
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    this.#child = child
    let printed = ''
    while (this.url === '') {
      const [chunk] = (await once(child.stdout!, 'data')) as [Buffer]
      printed += chunk
      this.url = /ready at (\S+)/.exec(printed)?.[1] ?? ''
    }
    child.stdout!.resume()
  }

  async kill(signal: NodeJS.Signals): Promise<void> {
    this.url = ''
    const exited = once(this.#child!, 'exit')
    this.#child!.kill(signal)
    await exited
  }
}

const gateways = [new GatewayProcess(), new GatewayProcess()]

/** One that is up, another each time. */
let turns = 0
async function anyUrl(): Promise<string> {
  for (;;) {
    turns += 1
    const { url } = gateways[turns % gateways.length]!
    if (url !== '') return url
    await sleep(5)
  }
}

async function call(method: string, path: string, body?: object, key?: string): Promise<Body> {
  for (;;) {
    try {
      const response = await fetch(`${await anyUrl()}/2025-10-13${path}`, {
        method,
        headers: {
          authorization,
          ...(body ? { 'content-type': 'application/json' } : {}),
          ...(key ? { 'idempotency-key': key } : {}),
        },
        ...(body ? { body: JSON.stringify(body) } : {}),
      })
      if (response.ok) return (await response.json()) as Body
      if (response.status < 500) throw new Refused(`${path}: ${response.status} ${await response.text()}`)
    } catch (error) {
      if (error instanceof Refused) throw error
    }
    await sleep(20)
  }
}

class Refused extends Error {}

// ── Subscribers ──────────────────────────────────────────────────────────────────────────────────────────────────────────────────

const query = `subscription ($customerId: ID, $after: String) { events(customerId: $customerId, after: $after) { id sequence resourceId } }`

let connections = 0

class Subscriber {
  readonly customerId: string | undefined
  /** Webhook ids, as they came. */
  readonly seen: string[] = []
  outOfOrder = 0
  readonly #last = new Map<string, number>()
  #cursor: string
  #socket: WebSocket | undefined
  #over = false

  constructor(customerId: string | undefined, cursor: string) {
    this.customerId = customerId
    this.#cursor = cursor
  }

  async connect(): Promise<void> {
    const url = await anyUrl()
    if (this.#over) return
    connections += 1
    const socket = new WebSocket(`${url.replace('http', 'ws')}/graphql`, 'graphql-transport-ws', { perMessageDeflate: false })
    this.#socket = socket
    socket.on('error', () => {})
    socket.on('open', () => socket.send(JSON.stringify({ type: 'connection_init', payload: { authorization } })))
    socket.on('message', (data) => this.#hear(socket, JSON.parse(String(data))))
    socket.on('close', () => {
      if (!this.#over) setTimeout(() => void this.connect(), Math.random() * 100)
    })
  }

  cut(): void {
    this.#socket?.terminate()
  }

  end(): void {
    this.#over = true
    this.cut()
  }

  #hear(socket: WebSocket, { type, payload }: Body): void {
    // A socket that was cut may still hand out what it had read: its successor resumes before that.
    if (socket !== this.#socket) return
    if (type === 'connection_ack') {
      const variables = { after: this.#cursor, ...(this.customerId ? { customerId: this.customerId } : {}) }
      socket.send(JSON.stringify({ id: '1', type: 'subscribe', payload: { query, variables } }))
    } else if (type === 'next') {
      if (payload.errors) throw new Error(JSON.stringify(payload.errors))
      const { id, sequence, resourceId } = payload.data.events
      this.seen.push(id)
      if (sequence <= (this.#last.get(resourceId) ?? 0)) this.outOfOrder += 1
      this.#last.set(resourceId, sequence)
      this.#cursor = payload.extensions.cursor
    }
  }
}

const sleep = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms))

// ── The run ──────────────────────────────────────────────────────────────────────────────────────────────────────────────────────

const admin = new pg.Client({ connectionString: serverUrl })
await admin.connect()
await admin.query(`create database ${databaseName}`)
try {
  process.exitCode = (await verify()) ? 0 : 1
} finally {
  for (const gateway of gateways) if (gateway.url !== '') await gateway.kill('SIGKILL')
  await admin.query(`drop database if exists ${databaseName} with (force)`)
  await admin.end()
}

async function verify(): Promise<boolean> {
  await gateways[0]!.start()
  await gateways[1]!.start()
  const customers = await Promise.all(Array.from({ length: 40 }, (_, index) => newCustomer(index)))
  const start = (await call('GET', '/events?limit=1')) as { nextCursor: string }
  const subscribers = Array.from(
    { length: sockets },
    (_, index) =>
      new Subscriber(index % everything === 0 ? undefined : customers[index % customers.length]!.id, start.nextCursor),
  )
  for (let from = 0; from < subscribers.length; from += 50) {
    await Promise.all(subscribers.slice(from, from + 50).map((subscriber) => subscriber.connect()))
    await sleep(20)
  }
  console.log(`${sockets} sockets, one in ${everything} follows everything; ${writers} writers; two gateways`)

  const startedAt = performance.now()
  let written = 0
  let writing = true
  let [cuts, killed] = [0, 0]
  const write = async (writer: number) => {
    while (written < events) {
      const { account } = customers[Math.floor(Math.random() * customers.length)]!
      // Two events each: of the account, and of the payment that moved it.
      written += 2
      await call('POST', `/sandbox/internal-accounts/${account}/fund`, { amount: 1 }, `${writer}-${written}`)
    }
  }
  const cutting = (async () => {
    while (writing) {
      await sleep(50)
      subscribers[Math.floor(Math.random() * subscribers.length)]!.cut()
      cuts += 1
    }
  })()
  const killing = (async () => {
    for (; killed < kills && writing; killed += 1) {
      while (writing && written < ((killed + 1) * events) / (kills + 1)) await sleep(50)
      const victim = gateways[killed % gateways.length]!
      await victim.kill('SIGKILL')
      await victim.start()
    }
  })()
  await Promise.all(Array.from({ length: writers }, (_, writer) => write(writer)))
  writing = false
  await Promise.all([cutting, killing])
  const wroteFor = (performance.now() - startedAt) / 1000

  const books = new pg.Client({ connectionString: databaseUrl })
  await books.connect()
  while ((await books.query('select 1 from event where position is null limit 1')).rowCount) await sleep(100)
  const { rows } = await books.query<{ id: string; customer: string }>(
    `select 'Webhook:' || uuid as id, 'Customer:' || customer_id as customer from event where position > $1 order by position`,
    [Buffer.from(start.nextCursor, 'base64url').toString().slice(2)],
  )
  const misnumbered = await books.query(
    `select resource_id from event group by resource_id having max(sequence) <> count(*) or count(distinct sequence) <> count(*)`,
  )
  const misordered = await books.query(
    `select 1 from (select id, lag(id) over (partition by resource_id order by position) as before from event) e where before > id`,
  )
  await books.end()
  const expected = new Map<string | undefined, string[]>([[undefined, rows.map(({ id }) => id)]])
  for (const { id, customer } of rows) {
    const ofCustomer = expected.get(customer)
    if (ofCustomer) ofCustomer.push(id)
    else expected.set(customer, [id])
  }
  const due = subscribers.reduce((sum, { customerId }) => sum + expected.get(customerId)!.length, 0)
  const told = () => subscribers.reduce((sum, { seen }) => sum + seen.length, 0)
  for (let patience = 1200; told() < due && patience > 0; patience -= 1) await sleep(100)
  // Whatever comes too much comes now.
  await sleep(1000)
  for (const subscriber of subscribers) subscriber.end()

  let [missing, duplicate, outOfOrder] = [0, 0, 0]
  for (const { customerId, seen, outOfOrder: ofOne } of subscribers) {
    const distinct = new Set(seen)
    missing += expected.get(customerId)!.filter((id) => !distinct.has(id)).length
    duplicate += seen.length - distinct.size
    outOfOrder += ofOne
  }
  console.log(
    [
      `${rows.length} events written in ${wroteFor.toFixed(0)} s, ${cuts} sockets cut, ${connections} connections, ${killed} gateways killed`,
      `${told()} deliveries of ${due}: ${missing} missing, ${duplicate} twice, ${outOfOrder} out of order`,
      `${misnumbered.rowCount} resources whose events are not numbered 1, 2, 3 …; ${misordered.rowCount} events placed before an earlier one of their resource`,
    ].join('\n'),
  )
  return missing + duplicate + outOfOrder + misnumbered.rowCount! + misordered.rowCount! === 0
}

async function newCustomer(index: number): Promise<{ id: string; account: string }> {
  const { id } = await call('POST', '/customers', {
    platformCustomerId: `c${index}`,
    customerType: 'INDIVIDUAL',
    fullName: 'Ada Lovelace',
  })
  const { data } = await call('GET', `/customers/internal-accounts?customerId=${id}&currency=USD`)
  return { id, account: data[0].id }
}
