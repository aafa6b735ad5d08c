/** A gateway as a process of its own, started and killed the way an operator would. */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
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
