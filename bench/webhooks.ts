/**
 * Webhooks of twenty platforms, each with an endpoint of its own, in two runs: all endpoints answer; two of the twenty are dead, one of them
 * silent and one refusing connections. First at a steady pace, how long from the commit to the endpoints that answer; then a pile, how many a
 * second.
 */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { cpus } from 'node:os'
import { systemClock } from '../src/base/clock.ts'
import { createCommitter } from '../src/core/commit.ts'
import { prepareDataKeys } from '../src/core/data-keys.ts'
import { createPlatform } from '../src/core/platform/create-platform.ts'
import { openServerDatabase } from '../src/database/server.ts'
import { authorizationOf, call, cpuMs, median, startGateway, withDatabase } from './gateway.ts'

const rounds = Number(process.env['BENCH_ROUNDS'] ?? 3)
const seconds = Number(process.env['BENCH_SECONDS'] ?? 8)
const platforms = 20
const perSecond = 100
const pile = 1500

interface Figure {
  p50: number
  p95: number
  deliveriesPerSecond: number
  cpuMicroseconds: number
}

export async function benchWebhooks(): Promise<void> {
  console.log(`\nWebhooks, ${cpus().length} × ${cpus()[0]!.model}, ${platforms} endpoints, medians of ${rounds} rounds\n`)
  const figures = new Map<string, Figure[]>()
  for (let round = 0; round < rounds; round += 1) {
    for (const dead of [0, 2]) {
      const name = dead === 0 ? 'all endpoints answer' : `${dead} of ${platforms} are dead`
      figures.set(name, [...(figures.get(name) ?? []), await withDatabase('gateway_bench_webhooks', (url) => measure(url, dead))])
    }
  }
  console.log('| | p50 / p95 ms to those that answer | deliveries/s | CPU of the gateway, µs each |\n|-|-|-|-|')
  for (const [name, all] of figures) {
    const of = (key: keyof Figure) => Math.round(median(all.map((figure) => figure[key])))
    console.log(`| ${name} | ${of('p50')} / ${of('p95')} | ${of('deliveriesPerSecond')} | ${of('cpuMicroseconds')} |`)
  }
  console.log('')
}

async function measure(url: string, dead: number): Promise<Figure> {
  const running = await startGateway({ DATABASE_URL: url, BASE_URL: '', ALLOW_LOCAL_WEBHOOKS: '1' })
  const tokens = await makePlatforms(url)
  const latencies: number[] = []
  let received = 0
  const receiver = createServer((request, response) => {
    let body = ''
    request.on('data', (chunk) => {
      body += chunk
    })
    request.on('end', () => {
      if (request.url === '/silent') return
      received += 1
      latencies.push(Date.now() - Date.parse(JSON.parse(body).timestamp))
      response.end()
    })
  })
  await new Promise<void>((resolve) => receiver.listen(0, '127.0.0.1', resolve))
  const { port } = receiver.address() as AddressInfo
  const accounts = await Promise.all(
    tokens.map(async (token, index) => {
      const endpoint =
        index >= dead
          ? `http://127.0.0.1:${port}/${index}`
          : index % 2 === 0
            ? `http://127.0.0.1:${port}/silent`
            : 'http://127.0.0.1:1/'
      await call(running, 'PATCH', '/config', { webhookEndpoint: endpoint }, token)
      const { id } = await call(
        running,
        'POST',
        '/customers',
        {
          platformCustomerId: 'c',
          customerType: 'INDIVIDUAL',
          fullName: 'Ada Lovelace',
        },
        token,
      )
      const { data } = await call(running, 'GET', `/customers/internal-accounts?customerId=${id}&currency=USD`, undefined, token)
      return { token, id: data[0].id as string }
    }),
  )
  const fund = (turn: number) => {
    const { token, id } = accounts[turn % accounts.length]!
    return call(running, 'POST', `/sandbox/internal-accounts/${id}/fund`, { amount: 1 }, token)
  }
  const allReceived = async (expected: number) => {
    while (received < expected) await new Promise((resolve) => setTimeout(resolve, 5))
  }
  const healthy = platforms - dead
  // The TESTs; and whatever has to warm up, the breaker of the dead ones too.
  for (let turn = 0; turn < platforms * 20; turn += platforms) {
    await Promise.all(Array.from({ length: platforms }, (_, index) => fund(turn + index)))
  }
  await allReceived(healthy * 41)
  latencies.length = 0

  const startedAt = performance.now()
  const steady: Promise<unknown>[] = []
  for (let turn = 0; turn < perSecond * seconds; turn += 1) {
    const waitMs = startedAt + (turn * 1000) / perSecond - performance.now()
    if (waitMs > 0) await new Promise((resolve) => setTimeout(resolve, waitMs))
    steady.push(fund(turn))
  }
  await Promise.all(steady)
  const ofTurns = (turns: number) =>
    Array.from({ length: turns }, (_, turn) => turn % platforms >= dead).filter(Boolean).length * 2
  let expected = healthy * 41 + ofTurns(perSecond * seconds)
  await allReceived(expected)
  latencies.sort((left, right) => left - right)
  const [p50, p95] = [0.5, 0.95].map((share) => latencies[Math.floor(latencies.length * share)]!) as [number, number]

  const [pileAt, cpu] = [performance.now(), cpuMs(running.pid)]
  for (let turn = 0; turn < pile; turn += 50) await Promise.all(Array.from({ length: 50 }, (_, index) => fund(turn + index)))
  expected += ofTurns(pile)
  await allReceived(expected)
  const took = performance.now() - pileAt
  const figure = {
    p50,
    p95,
    deliveriesPerSecond: (ofTurns(pile) / took) * 1000,
    cpuMicroseconds: ((cpuMs(running.pid) - cpu) * 1000) / ofTurns(pile),
  }
  receiver.closeAllConnections()
  receiver.close()
  await running.stop()
  return figure
}

async function makePlatforms(url: string): Promise<string[]> {
  const database = await openServerDatabase(url)
  const clock = systemClock()
  await prepareDataKeys(database, [], clock.now())
  const { commit } = createCommitter(database, clock, () => {})
  const tokens: string[] = []
  for (let index = 0; index < platforms; index += 1) {
    const created = await createPlatform(commit, { name: `Platform ${index}` }, clock.now())
    const { clientId, clientSecret } = created!.worlds.SANDBOX.credentials
    tokens.push(authorizationOf(`${clientId}:${clientSecret}`))
  }
  await database.close()
  return tokens
}
