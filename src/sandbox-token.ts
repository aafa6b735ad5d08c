/**
 * The first sandbox token of a gateway on the embedded engine, left beside its data: for `npm run demo`, GraphiQL and whoever lost the first
 * lines. Whoever can read that folder can read the data itself.
 */
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Config } from './config.ts'
import type { CreatedPlatform } from './core/platform/create-platform.ts'

const name = 'sandbox-token'

export function leaveSandboxToken(dataDir: string, { worlds }: CreatedPlatform): void {
  const { clientId, clientSecret } = worlds.SANDBOX.credentials
  writeFileSync(join(dataDir, name), `${clientId}:${clientSecret}\n`, { mode: 0o600 })
}

/** `id:secret`; undefined where it is not ours to show. */
export function readSandboxToken({ databaseUrl, dataDir, bootstrap }: Config): string | undefined {
  if (databaseUrl !== undefined) return undefined
  if (bootstrap.SANDBOX) return `${bootstrap.SANDBOX.clientId}:${bootstrap.SANDBOX.clientSecret}`
  try {
    return readFileSync(join(dataDir, name), 'utf8').trim()
  } catch {
    return undefined
  }
}
