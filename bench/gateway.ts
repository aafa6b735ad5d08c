/** A gateway process on a database of its own, and what it costs. */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync, readFileSync } from 'node:fs'
import { type AddressInfo, createServer } from 'node:net'
import pg from 'pg'
import { WebSocket } from 'ws'

export const serverUrl = process.env['BENCH_DATABASE_URL'] ?? 'postgres://postgres@127.0.0.1:5432/postgres'

export function databaseUrl(name: string): string {
  const url = new URL(serverUrl)
  url.pathname = `/${name}`
  return url.href
}

export async function withDatabase<Result>(name: string, work: (url: string) => Promise<Result>): Promise<Result> {
  const admin = new pg.Client({ connectionString: serverUrl })
  await admin.connect()
  await admin.query(`drop database if exists ${name} with (force)`)
  await admin.query(`create database ${name}`)
  try {
    return await work(databaseUrl(name))
  } finally {
    await admin.query(`drop database if exists ${name} with (force)`)
    await admin.end()
  }
}

/** A port that nobody listens on just now. */
export async function freePort(): Promise<number> {
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  await new Promise((resolve) => server.close(resolve))
  return port
}

export interface Running {
  url: string
  pid: number
  /** From spawn until it said that it was ready. */
  startMs: number
  /** So that what is resident is what is needed; a process started with `--inspect=0`. */
  collectGarbage(): Promise<void>
  stop(): Promise<void>
}

/** The address of a process's inspector, where it has one; whatever else it says on stderr is passed on. */
export function inspectorOf(child: ChildProcess): Promise<string> {
  return new Promise((resolve) => {
    child.stderr!.on('data', (chunk: Buffer) => {
      const found = /Debugger listening on (ws:\S+)/.exec(String(chunk))
      if (found) resolve(found[1]!)
      else if (!/Debugger|debugg|inspector/.test(String(chunk))) process.stderr.write(chunk)
    })
  })
}

export async function collectGarbage(inspector: string): Promise<void> {
  const socket = new WebSocket(inspector)
  await once(socket, 'open')
  socket.send(JSON.stringify({ id: 1, method: 'HeapProfiler.collectGarbage' }))
  await once(socket, 'message')
  socket.terminate()
}

export const credentials = 'bench:bench-secret'

export async function startGateway(environment: Record<string, string>, nodeOptions: readonly string[] = []): Promise<Running> {
  const startedAt = performance.now()
  const child: ChildProcess = spawn(
    process.execPath,
    [...nodeOptions, ...(process.env['BENCH_NODE'] ?? '').split(' ').filter(Boolean), 'src/main.ts'],
    {
      env: {
        ...process.env,
        BOOTSTRAP_SANDBOX_TOKEN: credentials,
        LOG_LEVEL: 'error',
        REQUESTS_PER_MINUTE: '100000000',
        PORT: '0',
        ...environment,
      },
      stdio: ['ignore', 'pipe', 'pipe'],
    },
  )
  const inspector = inspectorOf(child)
  const url = await new Promise<string>((resolve, reject) => {
    let printed = ''
    child.stdout!.on('data', (chunk) => {
      printed += chunk
      const found = /ready at (\S+)/.exec(printed)
      if (found) resolve(found[1]!)
    })
    child.once('exit', (code) => reject(new Error(`the gateway ended with ${code}`)))
  })
  return {
    url,
    pid: child.pid!,
    startMs: performance.now() - startedAt,
    collectGarbage: async () => collectGarbage(await inspector),
    stop: () =>
      new Promise((resolve) => {
        child.once('exit', () => resolve())
        child.kill('SIGTERM')
      }),
  }
}

/** User and system time of a process so far. */
export function cpuMs(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  return (Number(fields[11]) + Number(fields[12])) * 10
}

/** User and system time of the PostgreSQL server of this machine so far, of backends that have ended too. */
export function postgresCpuMs(): number {
  let ticks = 0
  for (const name of readdirSync('/proc')) {
    if (!/^\d+$/.test(name)) continue
    try {
      const stat = readFileSync(`/proc/${name}/stat`, 'utf8')
      if (!stat.includes('(postgres)')) continue
      const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
      ticks += Number(fields[11]) + Number(fields[12]) + Number(fields[13]) + Number(fields[14])
    } catch {
      // It has ended meanwhile, and is counted with its parent.
    }
  }
  return ticks * 10
}

/** Resident memory. */
export function residentMiB(pid: number): number {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8')
  return Math.round(Number(/VmRSS:\s+(\d+)/.exec(status)![1]) / 1024)
}

export function median(values: readonly number[]): number {
  return values.toSorted((left, right) => left - right)[Math.floor(values.length / 2)]!
}

export function authorizationOf(token: string): string {
  return `Basic ${Buffer.from(token).toString('base64')}`
}

/** A call over REST that must succeed. */
export async function call(
  { url }: Pick<Running, 'url'>,
  method: string,
  path: string,
  body?: object,
  authorization = authorizationOf(credentials),
): Promise<any> {
  const response = await fetch(`${url}/2025-10-13${path}`, {
    method,
    headers: { authorization, ...(body ? { 'content-type': 'application/json' } : {}) },
    ...(body ? { body: JSON.stringify(body) } : {}),
  })
  if (!response.ok) throw new Error(`${path}: ${response.status} ${await response.text()}`)
  return response.json()
}
