/** A gateway as a process of its own, started and killed the way an operator would. */
import { type ChildProcess, spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { inject } from 'vitest'
import { asAdmin, serverUrl } from './template.ts'
import { type Body, basic } from './world.ts'

export interface GatewayProcess {
  url: string
  child: ChildProcess
  /** Everything it has printed. */
  output(): string
  call(method: string, path: string, body?: unknown, headers?: Record<string, string>): Promise<{ status: number; body: Body }>
  /** Resolves to the exit code, or to the name of the signal. */
  stop(signal: NodeJS.Signals): Promise<number | string>
}

const credentials = { clientId: 'sandbox', clientSecret: 'sandbox-secret' }

/** Resolves once /readyz answers 200. Rejects with what it printed if it ends before that. */
export async function startProcess(environment: Record<string, string>): Promise<GatewayProcess> {
  const child: ChildProcess = spawn(process.execPath, ['src/main.ts'], {
    env: {
      ...process.env,
      // The test runner sets one of its own.
      BASE_URL: '',
      DATABASE_URL: '',
      LOG_LEVEL: 'error',
      ALLOW_LOCAL_WEBHOOKS: '1',
      BOOTSTRAP_SANDBOX_TOKEN: 'sandbox:sandbox-secret',
      ...environment,
      PORT: '0',
    },
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
  })
  let printed = ''
  child.stdout!.on('data', (chunk) => {
    printed += chunk
  })
  child.stderr!.on('data', (chunk) => {
    printed += chunk
  })
  const url = await new Promise<string>((resolve, reject) => {
    child.stdout!.on('data', () => {
      const found = /ready at (\S+)/.exec(printed)
      if (found) resolve(found[1]!)
    })
    child.once('exit', (code) => reject(new Error(`exit ${code}: ${printed}`)))
  })
  return {
    url,
    child,
    output: () => printed,
    async call(method, path, body, headers = {}) {
      const response = await fetch(`${url}/2025-10-13${path}`, {
        method,
        headers: {
          authorization: basic(credentials),
          ...(body === undefined ? {} : { 'content-type': 'application/json' }),
          ...headers,
        },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      })
      const text = await response.text()
      return { status: response.status, body: text === '' ? {} : JSON.parse(text) }
    },
    async stop(signal) {
      if (child.exitCode !== null || child.signalCode !== null) return child.exitCode ?? child.signalCode!
      const exited = once(child, 'exit')
      child.kill(signal)
      const [code, name] = await exited
      return code ?? name
    },
  }
}

/** Where the processes of one test keep their data. */
export async function newOwnData(): Promise<{ environment: Record<string, string>; cleanUp: () => Promise<void> }> {
  if (inject('engine') === 'embedded') {
    const folder = mkdtempSync(join(tmpdir(), 'gateway-process-'))
    return { environment: { DATA_DIR: folder }, cleanUp: async () => rmSync(folder, { recursive: true, force: true }) }
  }
  const name = `gateway_process_${randomBytes(4).toString('hex')}`
  await asAdmin(`create database ${name}`)
  return {
    environment: { DATABASE_URL: serverUrl(name) },
    cleanUp: () => asAdmin(`drop database if exists ${name} with (force)`),
  }
}

export async function until(condition: () => Promise<boolean>): Promise<void> {
  const deadline = Date.now() + 20_000
  while (!(await condition())) {
    if (Date.now() > deadline) throw new Error('it did not come to pass')
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
}
