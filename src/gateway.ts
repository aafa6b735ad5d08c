/** One gateway, put together: configuration → database → core → followers of the log → doors. Tests start it here too. */
import { type Clock, second, systemClock } from './base/clock.ts'
import { derivedUuid } from './base/ids.ts'
import { createLogger, type Logger } from './base/logger.ts'
import { createPoster, type Poster } from './base/outgoing.ts'
import type { Config } from './config.ts'
import { commitFunction } from './core/commit.sql.ts'
import { createCommitter } from './core/commit.ts'
import { prepareDataKeys, sealAnew } from './core/data-keys.ts'
import type { Core } from './core/operation.ts'
import { createAdmission } from './core/platform/admission.ts'
import { createTokens } from './core/platform/authentication.ts'
import { type CreatedPlatform, createPlatform } from './core/platform/create-platform.ts'
import { createPersistedOperations } from './core/platform/persisted-operations.ts'
import { createWorlds } from './core/platform/world.ts'
import { railReports } from './core/transactions/payment-work.ts'
import { coreWork } from './core/work.ts'
import { migrate } from './database/migrate.ts'
import { openDatabase } from './database/open.ts'
import type { Database } from './database/port.ts'
import type { TaskRow } from './database/tables.ts'
import { type Revocations, watchRevocations } from './graphql/revocations.ts'
import { createGraphqlDoor } from './graphql/server.ts'
import { type Feed, openFeed } from './log/feed.ts'
import { outboxRoutine } from './log/outbox.ts'
import { placeEvents, sequencerRoutine } from './log/sequencer.ts'
import { runDueTasks } from './log/tasks.ts'
import { createWorker, type Worker } from './log/worker.ts'
import { addOperatorDoor } from './operator/operator.ts'
import { addPages } from './pages/pages.ts'
import { loadRails, type ProvidedRails } from './rails/load.ts'
import type { Rails } from './rails/port.ts'
import { fixedRates } from './rails/rates.ts'
import { sandboxRails } from './rails/sandbox.ts'
import { addRestDoor } from './rest/router.ts'
import { readSandboxToken } from './sandbox-token.ts'
import { createServer, defaultPatience, type Patience } from './server.ts'
import { addUmaDoor } from './uma/door.ts'
import { createUmaNetwork } from './uma/network.ts'
import { createTrust } from './uma/trust.ts'
import { followLog, prepareFollower } from './webhooks/follow.ts'
import { createSender, defaultTimeouts, type SenderOptions } from './webhooks/send.ts'

export interface Gateway {
  core: Core
  /** Where it listens: http://host:port. */
  url: string
  /** The first platform, if this start has created it. */
  created: CreatedPlatform | undefined
  /** Does everything that is due now, until nothing is. */
  drain(): Promise<void>
  /** Finishes what is under way and lets go of everything. */
  close(): Promise<void>
}

/** What a test puts in the place of the real thing. */
export interface Substitutes {
  clock?: Clock
  database?: Database
  logger?: Logger
  /** False: nothing happens by itself; `drain` makes it happen. */
  background?: boolean
  /** What carries the sandbox's money, instead of its own rails. */
  sandboxRails?: Rails
  webhookTimeouts?: SenderOptions['timeouts']
  patience?: Patience
}

const pollMs = second / 2

export async function startGateway(config: Config, substitutes: Substitutes = {}): Promise<Gateway> {
  const logger = substitutes.logger ?? createLogger(config.logLevel)
  const clock = substitutes.clock ?? systemClock()
  const onConnectionError = (error: Error) => logger.warn({ err: error }, 'a database connection broke')
  const database =
    substitutes.database ?? (await openDatabase({ ...config, connections: config.databaseConnections, onConnectionError }))
  try {
    const { background = true, sandboxRails: rails, webhookTimeouts = defaultTimeouts, patience = defaultPatience } = substitutes
    return await assemble(config, {
      logger,
      clock,
      database,
      background,
      webhookTimeouts,
      patience,
      sandbox: rails ?? sandboxRails(clock, config.sandboxUmaDomains),
    })
  } catch (error) {
    await database.close()
    throw error
  }
}

interface Parts {
  logger: Logger
  clock: Clock
  database: Database
  background: boolean
  sandbox: Rails
  webhookTimeouts: SenderOptions['timeouts']
  patience: Patience
}

async function assemble(config: Config, parts: Parts): Promise<Gateway> {
  const { logger, clock, database, sandbox } = parts
  await migrate(database, [commitFunction, sequencerRoutine, outboxRoutine])
  const keys = await prepareDataKeys(database, config.dataKeys, clock.now())
  if (keys.unprotected && database.engine === 'server') {
    logger.warn('Personal data is sealed with a key that lies in the same database: set DATA_KEYS')
  }
  await prepareFollower(database)
  await followDatabaseClock(database, clock)

  const committer = createCommitter(database, clock, () => followers.wake())
  // Spec silent: production carries money only where rails are configured for it.
  const reports = railReports(() => core)
  const provided: ProvidedRails | undefined =
    config.rails === undefined ? undefined : await loadRails(config.rails, { clock, reports })
  const settings = {
    quoteLifetimeMs: config.quoteLifetimeMs,
    allowLocalWebhooks: config.allowLocalWebhooks,
    // Where no port was chosen, it is known once it listens.
    baseUrl: config.baseUrl ?? `http://${config.host}:${config.port}`,
  }
  const tokens = createTokens(database)
  const poster = createPoster()
  const trust = createTrust(database, clock, poster)
  const core: Core = {
    database,
    clock,
    commit: committer.commit,
    rates: provided?.rates ?? fixedRates,
    rails: { SANDBOX: sandbox, PRODUCTION: provided?.rails },
    providers: config.umaProviders,
    uma: createUmaNetwork(poster, trust, logger),
    worlds: createWorlds(database),
    tokens,
    persisted: createPersistedOperations(database),
    admission: createAdmission(tokens, clock, config),
    settings,
  }
  const feed = await openFeed(database)
  const revocations = watchRevocations(database, clock)
  const followers = createFollowers(core, feed, revocations, poster, parts)
  const created = await createFirstPlatform(core, config)
  const state = { closing: false }
  const graphql = createGraphqlDoor(core, feed, revocations, logger, {
    graphiql: config.graphiql ? { sandboxToken: () => readSandboxToken(config) } : undefined,
  })
  const app = await createServer({ logger, database, corsOrigins: config.corsOrigins, patience: parts.patience }, state, graphql)
  addRestDoor(app, core, logger)
  addPages(app, core, logger)
  addUmaDoor(app, core, trust, logger)
  addOperatorDoor(app, core, config.operatorToken, logger)
  await app.listen({ host: config.host, port: config.port })
  const { port } = app.server.address() as { port: number }
  settings.baseUrl = config.baseUrl ?? `http://${config.host}:${port}`
  followers.start()
  // Nothing waits for it, and what it has not reached opens with the earlier keys.
  const sealing = parts.background
    ? sealAnew(database, keys, { logger, stopped: () => state.closing }).catch((error: unknown) =>
        logger.error({ err: error }, 'personal data could not be sealed anew'),
      )
    : undefined

  return {
    core,
    url: settings.baseUrl,
    created,
    drain: () => followers.drain(),
    async close() {
      state.closing = true
      // Sockets first: they are told to come back (1001), not that their subscriptions are over.
      await graphql.close()
      await app.close()
      await committer.idle()
      await followers.stop()
      await sealing
      await provided?.close?.()
      await poster.close()
      await database.close()
    },
  }
}

/** Before anything is stamped or judged; afterwards every commit corrects it. */
async function followDatabaseClock(database: Database, clock: Clock): Promise<void> {
  const [row] = await database.query<{ now: Date }>('select clock_timestamp() as now')
  clock.observe(row!.now)
}

interface Followers {
  start(): void
  /** Something was committed. */
  wake(): void
  drain(): Promise<void>
  stop(): Promise<void>
}

/** What happens after a commit, each step waking those that go on from it: positions → feed, deliveries → sending; and tasks. */
function createFollowers(
  core: Core,
  feed: Feed,
  revocations: Revocations,
  poster: Poster,
  { logger, background, webhookTimeouts: timeouts }: Parts,
): Followers {
  const { database, clock } = core
  const handlers = coreWork(core)
  const onError = (error: unknown) => logger.error({ err: error }, 'a follower failed')
  const onTaskError = (error: unknown, { kind, id }: TaskRow) => logger.error({ err: error, kind, task: id }, 'a task failed')
  const worker = (step: () => Promise<boolean>, options: { pauseMs?: number; next?: readonly Worker[] } = {}) =>
    createWorker(
      async () => {
        const did = await step()
        if (did) for (const { wake } of options.next ?? []) wake()
        return did
      },
      { pollMs, pauseMs: options.pauseMs ?? 0, background, onError },
    )
  const sender = createSender(core, poster, {
    timeouts,
    onSent: () => sending.wake(),
    onError: (error, { id }) => logger.error({ err: error, delivery: id }, 'a webhook could not be sent'),
  })
  const tasks = worker(() => runDueTasks(database, clock, handlers, onTaskError))
  const sending = worker(() => sender.sendDue())
  const feeding = worker(() => feed.read())
  // Each of their portions is a durable commit, however small: under load it pays to let some gather.
  const delivering = worker(() => followLog(database, clock), { pauseMs: 25, next: [sending] })
  const placing = async () => {
    const placed = (await placeEvents(database)) > 0
    if (placed) database.signals?.send()
    return placed
  }
  const sequencing = worker(placing, { pauseMs: 10, next: [feeding, delivering] })
  const revoking = worker(async () => {
    await revocations.check()
    return false
  })
  const all = [sequencing, feeding, delivering, sending, tasks, revoking]
  let started = false

  return {
    start() {
      started = true
      for (const { wake } of all) wake()
      // Another process may have placed them.
      database.signals?.listen(feeding.wake)
    },
    wake() {
      if (!started) return
      sequencing.wake()
      tasks.wake()
    },
    async drain() {
      for (let did = true; did; ) {
        did = false
        for (const { run } of all) if (await run()) did = true
        await sender.idle()
      }
    },
    async stop() {
      await Promise.all(all.map(({ stop }) => stop()))
      await sender.idle()
    },
  }
}

/** On an empty database: the platform of the first credentials. Of several processes that start at once, one creates it. */
async function createFirstPlatform(
  { database: { prisma }, commit, clock }: Core,
  config: Config,
): Promise<CreatedPlatform | undefined> {
  if (await prisma.platform.findFirst({ select: { id: true } })) return undefined
  return createPlatform(commit, { id: derivedUuid('first platform'), name: 'Demo', credentials: config.bootstrap }, clock.now())
}
