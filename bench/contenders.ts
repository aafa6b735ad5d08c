/** Contenders that answer over HTTP: the gateway, and what is put together by hand beside it. */
import { spawn } from 'node:child_process'
import { cpuMs, median, postgresCpuMs } from './gateway.ts'
import { load } from './http.ts'

export interface Contender {
  url: string
  pid: number
}

export interface Figures {
  perSecond: number
  p99Ms: number
  /** CPU microseconds a request, of the contender's process and of PostgreSQL. */
  server: number
  postgres: number
}

/** A contender as a process of its own, which prints its port. */
export async function startByHand(script: string, ...args: string[]): Promise<Contender & { stop(): void }> {
  const env = { ...process.env, NODE_ENV: 'production', GRAPHILE_ENV: 'production' }
  const child = spawn(process.execPath, [script, ...args], { env, stdio: ['ignore', 'pipe', 'inherit'] })
  const port = await new Promise<string>((resolve) => {
    child.stdout.on('data', (chunk) => {
      const found = /port (\d+)/.exec(String(chunk))
      if (found) resolve(found[1]!)
    })
  })
  return { url: `http://127.0.0.1:${port}`, pid: child.pid!, stop: () => child.kill() }
}

/** Medians of rounds that alternate between the contenders, after each has been warmed up; in their order. `next`: each one's next request. */
export async function alternate(
  contenders: readonly (Contender & { next: () => string })[],
  { connections, rounds, seconds }: { connections: number; rounds: number; seconds: number },
): Promise<Figures[]> {
  const measured: Figures[][] = contenders.map(() => [])
  for (const { url, next } of contenders) await load(url, connections, 2, 200, next)
  for (let round = 0; round < rounds; round += 1) {
    for (const [index, { url, pid, next }] of contenders.entries()) {
      const [serverBefore, postgresBefore] = [cpuMs(pid), postgresCpuMs()]
      const { answered, perSecond, p99Ms } = await load(url, connections, seconds, 200, next)
      const server = ((cpuMs(pid) - serverBefore) * 1000) / answered
      measured[index]!.push({ perSecond, p99Ms, server, postgres: ((postgresCpuMs() - postgresBefore) * 1000) / answered })
    }
  }
  const of = (all: readonly Figures[], key: keyof Figures) => median(all.map((figures) => figures[key]))
  return measured.map((all) => ({
    perSecond: of(all, 'perSecond'),
    p99Ms: of(all, 'p99Ms'),
    server: of(all, 'server'),
    postgres: of(all, 'postgres'),
  }))
}

/** The columns that both benches print: throughput, its ratio, latency, CPU. */
export function comparison(ours: Figures, theirs: Figures): string[] {
  const cpu = ({ server, postgres }: Figures) => `${Math.round(server)} + ${Math.round(postgres)}`
  return [
    String(Math.round(ours.perSecond)),
    String(Math.round(theirs.perSecond)),
    (ours.perSecond / theirs.perSecond).toFixed(2),
    ours.p99Ms.toFixed(1),
    theirs.p99Ms.toFixed(1),
    cpu(ours),
    cpu(theirs),
  ]
}
