/**
 * A gateway of its own for a test file: a fresh database, a clock that moves only when told to, nothing in the background, and clients for
 * its doors over real HTTP. After every test the books are checked.
 */
import { randomBytes } from 'node:crypto'
import { readFileSync } from 'node:fs'
import pino from 'pino'
import { afterAll, afterEach, beforeAll, expect, inject } from 'vitest'
import { type ManualClock, manualClock } from '../src/base/clock.ts'
import { parseJson, stringifyJson } from '../src/base/json.ts'
import { readConfig } from '../src/config.ts'
import { audit } from '../src/core/audit.ts'
import { type CreatedPlatform, createPlatform } from '../src/core/platform/create-platform.ts'
import { openEmbeddedDatabase } from '../src/database/embedded.ts'
import type { Database } from '../src/database/port.ts'
import { openServerDatabase } from '../src/database/server.ts'
import { type Gateway, type Substitutes, startGateway } from '../src/gateway.ts'
import type { Rails } from '../src/rails/port.ts'
import { faultOf } from './openapi.ts'
import { asAdmin, serverUrl } from './template.ts'

export type Body = Record<string, any>

interface Reply {
  status: number
  body: Body
  /** The bytes, for comparing. */
  text: string
  headers: Headers
}

export interface Credentials {
  clientId: string
  clientSecret: string
}

export interface World {
  gateway: Gateway
  database: Database
  clock: ManualClock
  /** By how much the process is wrong about the time, whatever the database says. */
  skew: { ms: number }
  engine: 'embedded' | 'server'
  /** The first platform's sandbox, unless a call says otherwise. */
  sandbox: Credentials
  production: Credentials
  /** Another platform's sandbox. */
  stranger: Credentials
  rest(method: string, path: string, body?: unknown, options?: CallOptions): Promise<Reply>
  graphql(query: string, variables?: Body, options?: CallOptions): Promise<Reply>
  drain(): Promise<void>
}

export interface CallOptions {
  as?: Credentials | null
  idempotencyKey?: string
  headers?: Record<string, string>
}

export interface WorldOptions {
  environment?: Record<string, string>
  background?: boolean
  /** Where it begins; by default long ago. */
  startsAt?: Date
  /** For tests that write entries which belong to no payment: only the ledger is checked after each. */
  ledgerOnly?: boolean
  /** Instead of the sandbox's own. */
  sandboxRails?: Rails
  webhookTimeouts?: NonNullable<Substitutes['webhookTimeouts']>
  patience?: NonNullable<Substitutes['patience']>
}

/** Call at the top of a test file. The world is there inside its tests and hooks. */
export function useWorld(options: WorldOptions = {}): World {
  const world = {} as World
  let release: () => Promise<void>
  beforeAll(async () => {
    const opened = await openWorld(options)
    release = opened.release
    Object.assign(world, opened.world)
  })
  afterEach(() => expectBalancedBooks(world.database, options.ledgerOnly))
  afterAll(() => release())
  return world
}

async function openWorld(options: WorldOptions = {}): Promise<{ world: World; release: () => Promise<void> }> {
  const engine = inject('engine')
  const { database, drop } = await freshDatabase()
  const clock = manualClock(options.startsAt ?? new Date('2026-01-15T12:00:00.000Z'))
  const config = readConfig({
    PORT: '0',
    ALLOW_LOCAL_WEBHOOKS: '1',
    BOOTSTRAP_SANDBOX_TOKEN: 'sandbox:sandbox-secret',
    BOOTSTRAP_PRODUCTION_TOKEN: 'production:production-secret',
    ...options.environment,
  })
  const skew = { ms: 0 }
  const logger = pino({ level: process.env['TEST_LOG'] ?? 'silent' })
  const gateway = await startGateway(config, {
    database,
    clock: { ...clock, now: () => new Date(clock.now().getTime() + skew.ms) },
    logger,
    background: options.background ?? false,
    ...(options.sandboxRails ? { sandboxRails: options.sandboxRails } : {}),
    ...(options.patience ? { patience: options.patience } : {}),
    ...(options.webhookTimeouts ? { webhookTimeouts: options.webhookTimeouts } : {}),
  })
  const stranger = (await createPlatform(gateway.core.commit, { name: 'Stranger' }, clock.now())) as CreatedPlatform
  const world: World = {
    gateway,
    database,
    clock,
    skew,
    engine,
    sandbox: gateway.created!.worlds.SANDBOX.credentials,
    production: gateway.created!.worlds.PRODUCTION.credentials,
    stranger: stranger.worlds.SANDBOX.credentials,
    rest: (method, path, body, call = {}) =>
      send(`${gateway.url}/2025-10-13${path}`, method, body, { as: world.sandbox, ...call }),
    graphql: (query, variables = {}, call = {}) =>
      send(`${gateway.url}/graphql`, 'POST', { query, variables }, { as: world.sandbox, ...call }),
    drain: () => gateway.drain(),
  }
  return {
    world,
    async release() {
      await gateway.close()
      await drop()
    },
  }
}

export async function freshDatabase(): Promise<{ database: Database; drop: () => Promise<void> }> {
  const template = inject('template')
  if (inject('engine') === 'embedded') {
    const dump = readFileSync(template)
    const bytes = dump.buffer.slice(dump.byteOffset, dump.byteOffset + dump.byteLength) as ArrayBuffer
    return { database: await openEmbeddedDatabase({ dump: bytes }), drop: async () => {} }
  }
  const name = `gateway_test_${process.pid}_${randomBytes(4).toString('hex')}`
  await asAdmin(`create database ${name} template ${template}`)
  return {
    database: await openServerDatabase(serverUrl(name)),
    drop: () => asAdmin(`drop database if exists ${name} with (force)`),
  }
}

async function send(url: string, method: string, body: unknown, { as, idempotencyKey, headers }: CallOptions): Promise<Reply> {
  const response = await fetch(url, {
    method,
    headers: {
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      ...(as ? { authorization: basic(as) } : {}),
      ...(idempotencyKey === undefined ? {} : { 'idempotency-key': idempotencyKey }),
      ...headers,
    },
    ...(body === undefined ? {} : { body: typeof body === 'string' ? body : stringifyJson(body) }),
  })
  const text = await response.text()
  const [, path] = url.split('/2025-10-13')
  const fault = path === undefined ? undefined : faultOf(method, path, response.status, text)
  if (fault) throw new Error(`a reply is not what openapi.json says: ${fault}`)
  return { status: response.status, text, body: text === '' ? {} : (parseJson(text) as Body), headers: response.headers }
}

export function basic({ clientId, clientSecret }: Credentials): string {
  return `Basic ${Buffer.from(`${clientId}:${clientSecret}`).toString('base64')}`
}

/** What must hold whatever has happened. */
export async function expectBalancedBooks(database: Database, ledgerOnly = false): Promise<void> {
  const findings = await audit(database)
  expect(ledgerOnly ? findings.filter(({ rule }) => ledgerRules.includes(rule)) : findings).toEqual([])
}

const ledgerRules = [
  'an entry sums to zero',
  "a posting has an entry and an account, and stays in the entry's currency and world",
  'a balance is the sum of its postings, and never negative',
  'a posting says the balance it left, and time never goes back along an account',
]
