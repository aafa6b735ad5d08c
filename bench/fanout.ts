/**
 * Deliveries of subscriptions: N sockets in a process of their own, all following the same. The gateway (an account is funded over REST, the
 * whole way through commit, log and execution to the socket) beside a raw `ws` server that writes a pre-built frame, and graphql-ws with one
 * execution per subscriber. A few events are always under way; then, with 1,000 sockets, 100 events a second: how long from the commit to the
 * socket.
 */
import { type ChildProcess, fork, spawn } from 'node:child_process'
import { once } from 'node:events'
import { cpus } from 'node:os'
import {
  collectGarbage,
  cpuMs,
  credentials,
  inspectorOf,
  median,
  type Running,
  residentMiB,
  startGateway,
  withDatabase,
} from './gateway.ts'

const rounds = Number(process.env['BENCH_ROUNDS'] ?? 3)
const deliveries = Number(process.env['BENCH_DELIVERIES'] ?? 400_000)
const underWay = 4
const authorization = `Basic ${Buffer.from(credentials).toString('base64')}`

interface Figure {
  perSecond: number
  cpuMicroseconds: number
  kibPerSubscriber: number
}

interface Contender {
  running: Running
  publish: () => Promise<void>
}

export async function benchFanout(): Promise<void> {
  console.log(
    `\nSubscriptions, ${cpus().length} × ${cpus()[0]!.model}, medians of ${rounds} rounds of ${deliveries} deliveries\n`,
  )
  await withDatabase('gateway_bench_fanout', async (url) => {
    for (const sockets of [1000, 5000]) {
      const figures = new Map<string, Figure[]>()
      for (let round = 0; round < rounds; round += 1) {
        for (const [name, open] of [
          ['raw ws, one pre-built frame', () => contender('raw')],
          ['the gateway', () => gateway(url)],
          ['graphql-ws, one execution per subscriber', () => contender('naive')],
        ] as const) {
          const figure = await measure(await open(), sockets, name.startsWith('graphql-ws') ? deliveries / 4 : deliveries)
          figures.set(name, [...(figures.get(name) ?? []), figure])
        }
      }
      console.log(`${sockets} sockets\n\n| | deliveries/s | CPU, µs each | × raw | KiB a subscriber |\n|-|-|-|-|-|`)
      const raw = median(figures.get('raw ws, one pre-built frame')!.map(({ cpuMicroseconds }) => cpuMicroseconds))
      for (const [name, all] of figures) {
        const of = (key: keyof Figure) => median(all.map((figure) => figure[key]))
        console.log(
          `| ${name} | ${Math.round(of('perSecond'))} | ${of('cpuMicroseconds').toFixed(1)} | ${(of('cpuMicroseconds') / raw).toFixed(2)} | ${of('kibPerSubscriber').toFixed(1)} |`,
        )
      }
      console.log('')
    }
    await latency(url)
  })
}

async function measure({ running, publish }: Contender, sockets: number, wanted: number): Promise<Figure> {
  // A process grows while it warms up, whoever listens.
  for (let warm = 0; warm < 500; warm += 1) await publish()
  await running.collectGarbage()
  const before = residentMiB(running.pid)
  const clients = await connect(running.url, sockets)
  let published = 0
  const publishMore = async (count: number) => {
    published += count
    const arrived = received(clients, published * sockets)
    await Promise.all(Array.from({ length: count }, publish))
    await arrived
  }
  for (let warm = 0; warm < 20; warm += 1) await publishMore(underWay)
  await running.collectGarbage()
  const resident = residentMiB(running.pid)
  const events = Math.max(Math.ceil(wanted / sockets / underWay), 5) * underWay
  const [cpu, startedAt] = [cpuMs(running.pid), performance.now()]
  for (let sent = 0; sent < events; sent += underWay) await publishMore(underWay)
  const took = performance.now() - startedAt
  const figure = {
    perSecond: ((events * sockets) / took) * 1000,
    cpuMicroseconds: ((cpuMs(running.pid) - cpu) * 1000) / (events * sockets),
    kibPerSubscriber: ((resident - before) * 1024) / sockets,
  }
  clients.kill()
  await running.stop()
  return figure
}

/** 100 events a second to 1,000 sockets. */
async function latency(url: string): Promise<void> {
  const { running, publish } = await gateway(url)
  const clients = await connect(running.url, 1000)
  for (let warm = 0; warm < 50; warm += 1) await publish()
  clients.send({ ask: 'latencies' })
  await once(clients, 'message')
  const cpu = cpuMs(running.pid)
  const startedAt = performance.now()
  const sent: Promise<void>[] = []
  for (let event = 0; event < 1000; event += 1) {
    const waitMs = startedAt + event * 10 - performance.now()
    if (waitMs > 0) await new Promise((resolve) => setTimeout(resolve, waitMs))
    sent.push(publish())
  }
  await Promise.all(sent)
  await new Promise((resolve) => setTimeout(resolve, 1000))
  const busy = (cpuMs(running.pid) - cpu) / (performance.now() - startedAt)
  clients.send({ ask: 'latencies' })
  const [latencies] = (await once(clients, 'message')) as [number[]]
  const at = (share: number) => latencies[Math.floor(latencies.length * share)]
  console.log(
    `100 events/s to 1,000 sockets: from commit to socket p50 ${at(0.5)} ms, p99 ${at(0.99)} ms; the gateway is busy ${Math.round(busy * 100)} % of a core\n`,
  )
  clients.kill()
  await running.stop()
}

async function connect(url: string, count: number): Promise<ChildProcess> {
  const clients = fork(new URL('fanout-clients.ts', import.meta.url), { execArgv: ['--no-warnings'] })
  clients.send({ ask: 'connect', url, authorization, count })
  await once(clients, 'message')
  return clients
}

async function received(clients: ChildProcess, total: number): Promise<void> {
  clients.send({ ask: 'received', total })
  await once(clients, 'message')
}

async function gateway(url: string): Promise<Contender> {
  const running = await startGateway({ DATABASE_URL: url, BASE_URL: '' }, ['--inspect=127.0.0.1:0'])
  const call = async (method: string, path: string, body?: object) => {
    const response = await fetch(`${running.url}/2025-10-13${path}`, {
      method,
      headers: { authorization, ...(body ? { 'content-type': 'application/json' } : {}) },
      ...(body ? { body: JSON.stringify(body) } : {}),
    })
    if (!response.ok) throw new Error(`${path}: ${response.status} ${await response.text()}`)
    return response.json()
  }
  const customer = await call('POST', '/customers', {
    platformCustomerId: 'c',
    customerType: 'INDIVIDUAL',
    fullName: 'Ada Lovelace',
  })
  const { data } = await call('GET', `/customers/internal-accounts?customerId=${customer.id}&currency=USD`)
  const path = `/sandbox/internal-accounts/${data[0].id}/fund`
  return { running, publish: async () => void (await call('POST', path, { amount: 1 })) }
}

async function contender(mode: 'raw' | 'naive'): Promise<Contender> {
  const child = spawn(process.execPath, ['--inspect=127.0.0.1:0', 'bench/fanout-servers.ts', mode], {
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const inspector = inspectorOf(child)
  const [line] = (await once(child.stdout!, 'data')) as [Buffer]
  const url = /ready at (\S+)/.exec(String(line))![1]!
  return {
    running: {
      url,
      pid: child.pid!,
      startMs: 0,
      collectGarbage: async () => collectGarbage(await inspector),
      async stop() {
        child.kill()
        await once(child, 'exit')
      },
    },
    publish: async () => void (await (await fetch(url, { method: 'POST' })).text()),
  }
}
