/** Everything that can be set from outside, read once. Durations carry their unit in the name. */
import { readFileSync } from 'node:fs'
import { z } from 'zod'
import { minute } from './base/clock.ts'
import { type DataKey, dataKey } from './base/vault.ts'

const flag = z.enum(['0', '1', 'true', 'false']).transform((value) => value === '1' || value === 'true')

/** `id:secret` */
const credentials = z
  .string()
  .regex(/^[^:\s]+:[^:\s]+$/, 'expected id:secret')
  .transform((value) => {
    const [clientId, clientSecret] = value.split(':') as [string, string]
    return { clientId, clientSecret }
  })

/** Base64 of 32 bytes each. */
const dataKeys = z
  .string()
  .default('')
  .transform((list, context) => {
    const secrets = list.split(',').map((key) => Buffer.from(key.trim(), 'base64'))
    const wanted = secrets.filter(({ length }) => length > 0)
    if (wanted.every(({ length }) => length === 32)) return wanted.map(dataKey)
    context.addIssue({ code: 'custom', message: 'expected keys of 32 bytes each in base64, with commas between them' })
    return z.NEVER
  })

const umaProviders = z.array(
  z.strictObject({
    name: z.string().min(1),
    domain: z.string().regex(/^[a-z0-9.-]+(:[0-9]{1,5})?$/, 'expected a domain in lower case'),
    environment: z.enum(['SANDBOX', 'PRODUCTION']),
    allowed: z.boolean().default(true),
    regions: z.array(z.string().regex(/^[A-Z]{2}$/)).default([]),
    currencies: z.array(z.string()).default([]),
    logoUrl: z.url().optional(),
    lei: z.string().optional(),
  }),
)

/** JSON, or the path of a file of it. */
const providerList = z.string().transform((text, context) => {
  try {
    return umaProviders.parse(JSON.parse(/^\s*\[/.test(text) ? text : readFileSync(text, 'utf8')))
  } catch (error) {
    context.addIssue({ code: 'custom', message: `expected a list of providers: ${(error as Error).message}` })
    return z.NEVER
  }
})

const environment = z.object({
  HOST: z.string().default('127.0.0.1'),
  PORT: z.coerce.number().int().min(0).max(65_535).default(4000),
  BASE_URL: z.url({ protocol: /^https?$/ }).optional(),
  DATABASE_URL: z.string().min(1).optional(),
  DATABASE_CONNECTIONS: z.coerce.number().int().min(2).max(200).default(10),
  DATA_DIR: z.string().min(1).default('.data'),
  REQUESTS_PER_MINUTE: z.coerce.number().int().min(0).max(100_000_000).default(120_000),
  TRUSTED_PROXIES: z.coerce.number().int().min(0).max(10).default(0),
  LOG_LEVEL: z.enum(['silent', 'fatal', 'error', 'warn', 'info', 'debug', 'trace']).default('info'),
  DATA_KEYS: dataKeys,
  OPERATOR_TOKEN: z.string().min(16, 'expected at least 16 characters').optional(),
  UMA_PROVIDERS: providerList.optional(),
  ALLOW_LOCAL_WEBHOOKS: flag.optional(),
  BOOTSTRAP_SANDBOX_TOKEN: credentials.optional(),
  BOOTSTRAP_PRODUCTION_TOKEN: credentials.optional(),
  RAILS: z.string().min(1).optional(),
  GRAPHIQL: flag.optional(),
  CORS_ORIGINS: z
    .string()
    .default('')
    .transform((list) =>
      list
        .split(',')
        .map((origin) => origin.trim())
        .filter(Boolean),
    ),
  SANDBOX_UMA_DOMAINS: z
    .string()
    .default('sandbox.uma.localhost,sandbox.uma.money')
    .transform((list) => list.split(',').map((domain) => domain.trim().toLowerCase())),
  QUOTE_LIFETIME_MS: z.coerce
    .number()
    .int()
    .min(1000)
    .max(15 * minute)
    .default(5 * minute),
})

export interface Config {
  host: string
  port: number
  /** What generated links carry; absent, the address that is listened on. */
  baseUrl: string | undefined
  databaseUrl: string | undefined
  databaseConnections: number
  dataDir: string
  logLevel: string
  /** Opens the operator's door; absent, there is none. */
  operatorToken: string | undefined
  /** Other providers of UMA addresses. */
  umaProviders: readonly z.output<typeof umaProviders>[number][]
  /** What personal data is sealed with: the first one seals, all of them open. None: the gateway makes one and keeps it in the database. */
  dataKeys: readonly DataKey[]
  /** Of one token, in each process; 0: as many as it likes. */
  requestsPerMinute: number
  /** How many proxies in front of the gateway append to X-Forwarded-For. */
  trustedProxies: number
  /** Sandbox worlds may have http:// and loopback webhook endpoints. */
  allowLocalWebhooks: boolean
  bootstrap: { [Of in 'SANDBOX' | 'PRODUCTION']: { clientId: string; clientSecret: string } | undefined }
  quoteLifetimeMs: number
  /** Whether a browser that opens /graphql gets a page to ask it with. */
  graphiql: boolean
  /** Origins whose pages may read answers; `*`: all. */
  corsOrigins: readonly string[]
  /** Path of the module that makes production's rails. */
  rails: string | undefined
  /** Domains of the sandbox's test addresses. */
  sandboxUmaDomains: readonly string[]
}

export class UnreadableConfig extends Error {
  override readonly name = 'UnreadableConfig'
}

/** Throws an UnreadableConfig that names every variable that cannot be read. An empty variable counts as absent. */
export function readConfig(variables: Readonly<Record<string, string | undefined>>): Config {
  const given = Object.fromEntries(Object.entries(variables).filter(([, value]) => value !== ''))
  const result = environment.safeParse(given)
  if (!result.success) {
    const faults = result.error.issues.map(({ path, message }) => `${path.join('.')}: ${message}`)
    throw new UnreadableConfig(`The configuration cannot be read: ${faults.join('; ')}`)
  }
  const set = result.data
  return {
    host: set.HOST,
    port: set.PORT,
    baseUrl: set.BASE_URL?.replace(/\/+$/, ''),
    databaseUrl: set.DATABASE_URL,
    databaseConnections: set.DATABASE_CONNECTIONS,
    dataDir: set.DATA_DIR,
    logLevel: set.LOG_LEVEL,
    operatorToken: set.OPERATOR_TOKEN,
    umaProviders: set.UMA_PROVIDERS ?? [],
    dataKeys: set.DATA_KEYS,
    requestsPerMinute: set.REQUESTS_PER_MINUTE,
    trustedProxies: set.TRUSTED_PROXIES,
    // Whoever tries it out on the embedded engine has their receiver on the same machine; whoever runs it says so.
    allowLocalWebhooks: set.ALLOW_LOCAL_WEBHOOKS ?? set.DATABASE_URL === undefined,
    bootstrap: { SANDBOX: set.BOOTSTRAP_SANDBOX_TOKEN, PRODUCTION: set.BOOTSTRAP_PRODUCTION_TOKEN },
    quoteLifetimeMs: set.QUOTE_LIFETIME_MS,
    graphiql: set.GRAPHIQL ?? set.DATABASE_URL === undefined,
    corsOrigins: set.CORS_ORIGINS,
    rails: set.RAILS,
    sandboxUmaDomains: set.SANDBOX_UMA_DOMAINS,
  }
}
