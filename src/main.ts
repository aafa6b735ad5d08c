/** Starts one gateway from the environment, says where it is, and stops it in order when asked to. */
import { second } from './base/clock.ts'
import { createLogger } from './base/logger.ts'
import { readConfig, UnreadableConfig } from './config.ts'
import { UnknownDataKey } from './core/data-keys.ts'
import type { Environment } from './core/operation.ts'
import type { CreatedPlatform } from './core/platform/create-platform.ts'
import { FolderInUse } from './database/folder-lock.ts'
import { type Gateway, startGateway } from './gateway.ts'
import { leaveSandboxToken } from './sandbox-token.ts'

const stopWithinMs = 10 * second

async function main(): Promise<void> {
  const config = readConfig(process.env)
  const logger = createLogger(config.logLevel)
  const gateway = await startGateway(config, { logger })
  const dataDir = config.databaseUrl === undefined ? config.dataDir : undefined
  if (gateway.created && dataDir !== undefined && dataDir !== 'memory') leaveSandboxToken(dataDir, gateway.created)
  process.stdout.write(greeting(gateway, dataDir))

  let stopping = false
  const stop = async (signal: string) => {
    if (stopping) return
    stopping = true
    logger.info({ signal }, 'stopping')
    setTimeout(() => process.exit(1), stopWithinMs).unref()
    await gateway.close()
    process.exit(0)
  }
  process.on('SIGTERM', () => void stop('SIGTERM'))
  process.on('SIGINT', () => void stop('SIGINT'))
}

function greeting({ url, created }: Gateway, dataDir: string | undefined): string {
  const lines = [
    '',
    `  The gateway is ready at ${url}`,
    `    GraphQL    ${url}/graphql   (in a browser: GraphiQL; subscriptions: graphql-transport-ws at the same path)`,
    `    REST       ${url}/2025-10-13/…   (${url}/reference)`,
    `    Readiness  ${url}/readyz`,
  ]
  if (dataDir !== undefined) lines.push(`    Data       ${dataDir === 'memory' ? 'in memory: gone when it stops' : dataDir}`)
  if (created) lines.push('', '  First credentials (HTTP Basic, shown this once):', ...credentialLines(created))
  lines.push('', '  Next: `npm run demo` in another terminal plays a whole payment.', '')
  return `${lines.join('\n')}\n`
}

function credentialLines({ worlds }: CreatedPlatform): string[] {
  return (['SANDBOX', 'PRODUCTION'] satisfies Environment[]).map((environment) => {
    const { clientId, clientSecret } = worlds[environment].credentials
    return `    ${environment.padEnd(10)} ${clientId}:${clientSecret}`
  })
}

/** For what an operator can mend, the sentence that says how; for anything else, all there is. */
function explain(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  if (error instanceof FolderInUse || error instanceof UnreadableConfig || error instanceof UnknownDataKey) return error.message
  if ('code' in error && error.code === 'EADDRINUSE') return `${error.message}. Choose another port with PORT.`
  return error.stack ?? error.message
}

main().catch((error: unknown) => {
  process.stderr.write(`${explain(error)}\n`)
  process.exit(1)
})
