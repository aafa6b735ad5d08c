/** A new platform: both its worlds, each with a first token of every permission, a signing key, and accounts in the default currencies. */
import { newId } from '../../base/ids.ts'
import { randomCode } from '../../base/random.ts'
import { newCurrencyAccounts } from '../accounts/internal.ts'
import type { Commit } from '../commit.ts'
import { type Environment, permissions } from '../operation.ts'
import { newSigningKey } from './signing-keys.ts'
import { type Credentials, newToken } from './tokens.ts'
import { type SupportedCurrency, type World, worldRow } from './world.ts'

export interface NewPlatform {
  /** Given where it must not be created twice. */
  id?: string
  name: string
  /** First credentials, where they are preset. */
  credentials?: { [Of in Environment]?: Credentials | undefined }
}

export interface CreatedPlatform {
  id: string
  worlds: { [Of in Environment]: { id: string; credentials: Credentials } }
}

const environments: readonly Environment[] = ['SANDBOX', 'PRODUCTION']

/** Spec silent: what a platform supports before it configures anything. Limits in the smallest unit. */
const defaultCurrencies: readonly SupportedCurrency[] = (
  [
    ['USD', 100n, 1_000_000_000n],
    ['EUR', 100n, 1_000_000_000n],
    ['GBP', 100n, 1_000_000_000n],
    ['MXN', 1_000n, 20_000_000_000n],
    ['BRL', 100n, 5_000_000_000n],
    ['INR', 5_000n, 100_000_000_000n],
    ['BTC', 1_000n, 10_000_000_000n],
    ['USDC', 1_000_000n, 10_000_000_000_000n],
  ] as const
).map(([currencyCode, minAmount, maxAmount]) => ({
  currencyCode,
  minAmount,
  maxAmount,
  enabledTransactionTypes: ['INCOMING', 'OUTGOING'],
  requiredCounterpartyFields: [],
  providerRequiredCustomerFields: [],
}))

/** Undefined when a platform with this id exists. */
export async function createPlatform(
  commit: Commit,
  platform: NewPlatform,
  now: Date,
  domainSuffix = '',
): Promise<CreatedPlatform | undefined> {
  const id = platform.id ?? newId()
  const worlds = environments.map((environment) => newWorld(id, platform, environment, now, domainSuffix))
  const outcome = await commit({
    reply: undefined,
    insert: {
      platform: [{ id, name: platform.name, createdAt: now }],
      world: worlds.map(({ world }) => worldRow(world)),
      api_token: worlds.map(({ token }) => token.row),
      signing_key: worlds.map(({ world }) => newSigningKey(world.id, 1, newId(), now)),
      ledger_account: worlds.flatMap(({ accounts }) => accounts.flatMap(({ ledger_account }) => ledger_account)),
      internal_account: worlds.flatMap(({ accounts }) => accounts.flatMap(({ internal_account }) => internal_account)),
    },
  })
  // Another platform of the same name: its domains get an ending.
  if (outcome.kind === 'exists' && outcome.constraint === 'world_uma_domain_key') {
    return createPlatform(commit, { ...platform, id }, now, `-${randomCode(6).toLowerCase()}`)
  }
  if (outcome.kind === 'exists') return undefined
  if (outcome.kind !== 'done') throw new Error(`the platform could not be created: ${JSON.stringify(outcome)}`)
  const created = (environment: Environment) => {
    const { world, token } = worlds.find((one) => one.world.environment === environment)!
    return { id: world.id, credentials: token.credentials }
  }
  return { id, worlds: { SANDBOX: created('SANDBOX'), PRODUCTION: created('PRODUCTION') } }
}

function newWorld(
  platformId: string,
  { name, credentials }: NewPlatform,
  environment: Environment,
  now: Date,
  domainSuffix: string,
) {
  const slug = name.toLowerCase().replace(/[^a-z0-9]+/g, '-')
  const world: World = {
    id: newId(),
    platformId,
    environment,
    umaDomain: `${slug}${domainSuffix}.${environment.toLowerCase()}.uma.localhost`,
    proxyUmaSubdomain: null,
    webhookEndpoint: null,
    isRegulated: true,
    webhookEnvelope: 'FLAT',
    graphqlDocuments: 'ANY',
    incomingPaymentApproval: 'WEBHOOK',
    supportedCurrencies: defaultCurrencies,
    createdAt: now,
    updatedAt: now,
    version: 1,
  }
  const token = newToken(
    { worldId: world.id, name: 'First token', permissions, credentials: credentials?.[environment] },
    newId(),
    now,
  )
  const accounts = defaultCurrencies.map(({ currencyCode }) => newCurrencyAccounts(world.id, currencyCode, newId, now))
  return { world, token, accounts }
}
