/** Looking up a receiver before paying: what they can receive, about how much of it, and what their provider wants to know. */
import { z } from 'zod'
import { minute } from '../../base/clock.ts'
import { currencyOf } from '../../base/currency.ts'
import { toId } from '../../base/ids.ts'
import { divide, ratio, toSignificantDecimal } from '../../base/money.ts'
import { DomainError, type RefusalCode } from '../../base/refusal.ts'
import type { Database } from '../../database/port.ts'
import { type Sight, sees } from '../../database/sight.ts'
import { type LookupRow, selectList } from '../../database/tables.ts'
import { newTask } from '../../log/tasks.ts'
import type { RateSource, Terms, UmaCurrency, UmaReceiver } from '../../rails/port.ts'
import { externalAccountsById } from '../accounts/external.ts'
import { accountNotFound, requireActive } from '../accounts/payable.ts'
import { requireUmaAddress } from '../customers/uma-address.ts'
import { currencyObject, idOf, int64, largestAmount } from '../input.ts'
import { type Caller, type Core, type Moment, operation } from '../operation.ts'
import { supportOf, type World } from '../platform/world.ts'
import { umaIdentity } from '../uma/identity.ts'
import { termsOfProvider } from '../uma/millisatoshis.ts'
import { noSuchAddress, requireAllowed } from '../uma/providers.ts'

/** Spec silent: how long a lookup can be named by a quote. */
const lifetimeMs = 30 * minute

export const LookupReply = z.object({
  lookupId: z.string(),
  receiverUmaAddress: z.string().optional(),
  accountId: z.string().optional(),
  supportedCurrencies: z.array(z.object({ currency: currencyObject, estimatedExchangeRate: z.number(), min: int64, max: int64 })),
  requiredPayerDataFields: z.array(z.object({ name: z.string(), mandatory: z.boolean() })),
})

export type LookupReply = z.output<typeof LookupReply>

/** Who asks does not change the answer yet; both are read so that a wrong id is refused. */
const asker = { customerId: idOf('Customer').optional(), senderUmaAddress: z.string().max(400).optional() }

interface Found {
  receiver: Pick<LookupRow, 'receiverUmaAddress' | 'receiverAccountId'>
  currencies: readonly { currency: string; min: bigint; max: bigint; terms: Terms | undefined }[]
  payerFields: UmaReceiver['payerFields']
}

/** What another provider's address may be refused for, besides not being there. */
export const counterpartyRefusals = [
  'COUNTERPARTY_NOT_ALLOWED',
  'USER_NOT_READY',
  'UNSUPPORTED_UMA_VERSION',
  'LNURLP_REQUEST_FAILED',
  'PARSE_LNURLP_RESPONSE_ERROR',
  'COUNTERPARTY_PUBKEY_FETCH_ERROR',
] as const satisfies readonly RefusalCode[]

/**
 * Refuses INVALID_UMA_ADDRESS, UMA_NOT_FOUND, NOT_IMPLEMENTED where nobody carries payments to UMA addresses; and what the address's provider
 * does wrong.
 */
export const lookUpUmaAddress = operation({
  name: 'lookUpUmaAddress',
  permission: 'VIEW',
  forViewers: true,
  refuses: ['INVALID_UMA_ADDRESS', 'UMA_NOT_FOUND', 'NOT_IMPLEMENTED', ...counterpartyRefusals],
  input: z.object({ receiverUmaAddress: z.string().max(400), ...asker }),
  output: LookupReply,
  load: async (core, caller, input): Promise<Found> => {
    const { umaAddress, receiver } = await requireReceiver(core, caller, input.receiverUmaAddress, 'receiverUmaAddress')
    const sending = (await core.worlds.get(caller.worldId))!.supportedCurrencies[0]!.currencyCode
    const priced = receiver.currencies.map(async (one) => ({ ...one, terms: await termsFor(core.rates, sending, one) }))
    return {
      receiver: { receiverUmaAddress: umaAddress, receiverAccountId: null },
      currencies: await Promise.all(priced),
      payerFields: receiver.payerFields,
    }
  },
  decide: (_input, found, moment) => remember(found, moment),
})

/** Refuses ACCOUNT_NOT_FOUND, INVALID_BANK_ACCOUNT for an account that is not ACTIVE. */
export const lookUpExternalAccount = operation({
  name: 'lookUpExternalAccount',
  permission: 'VIEW',
  forViewers: true,
  refuses: ['ACCOUNT_NOT_FOUND', 'INVALID_BANK_ACCOUNT'],
  input: z.object({ accountId: idOf('ExternalAccount'), ...asker }),
  output: LookupReply,
  load: async (core: Core, caller: Caller, { accountId }): Promise<Found> => {
    const [world, [account]] = await Promise.all([
      core.worlds.get(caller.worldId),
      externalAccountsById(core.database, caller, [accountId]),
    ])
    if (!account) throw accountNotFound('accountId', toId('ExternalAccount', accountId))
    requireActive(account, 'accountId')
    const { currency } = account
    const terms = await core.rates.terms(world!.supportedCurrencies[0]!.currencyCode, currency)
    return {
      receiver: { receiverUmaAddress: null, receiverAccountId: account.id },
      currencies: [{ currency, ...limitsOf(world!, currency), terms }],
      payerFields: [],
    }
  },
  decide: (_input, found, moment) => remember(found, moment),
})

function limitsOf(world: World, currency: string): { min: bigint; max: bigint } {
  const support = supportOf(world, currency)
  return { min: BigInt(support?.minAmount ?? 1), max: BigInt(support?.maxAmount ?? largestAmount) }
}

function remember({ receiver, currencies, payerFields }: Found, { now, newId, caller: { worldId, customerId } }: Moment) {
  const id = newId()
  const expiresAt = new Date(now.getTime() + lifetimeMs)
  const { receiverUmaAddress, receiverAccountId } = receiver
  const reply: LookupReply = {
    lookupId: toId('Lookup', id),
    ...(receiverUmaAddress === null ? {} : { receiverUmaAddress }),
    ...(receiverAccountId === null ? {} : { accountId: toId('ExternalAccount', receiverAccountId) }),
    supportedCurrencies: currencies.flatMap(({ currency, min, max, terms }) =>
      terms ? [{ currency: currencyOf(currency), estimatedExchangeRate: estimate(terms), min, max }] : [],
    ),
    requiredPayerDataFields: [...payerFields],
  }
  return {
    reply,
    insert: {
      lookup: [{ id, worldId, customerId: customerId ?? null, ...receiver, createdAt: now, expiresAt }],
      task: [newTask('forget-lookup', worldId, id, expiresAt)],
    },
  }
}

/** The service's terms, at the receiving provider's price where it has named one. */
export async function termsFor(
  rates: RateSource,
  sending: string,
  receiving: Pick<UmaCurrency, 'currency' | 'millisatoshis'>,
): Promise<Terms | undefined> {
  const terms = await rates.terms(sending, receiving.currency)
  const { currency, millisatoshis } = receiving
  return terms && millisatoshis !== undefined ? termsOfProvider(terms, currency, millisatoshis) : terms
}

/** Receiving units per sending unit: the other way round than a quote's exchangeRate. */
function estimate({ rate }: Terms): number {
  return Number(toSignificantDecimal(divide(ratio(1n, 1n), rate), 8, 7))
}

/**
 * A receiver by its UMA address, in the address's stored form: a rail knows it, or the provider of its domain is asked. Refuses
 * INVALID_UMA_ADDRESS, UMA_NOT_FOUND, NOT_IMPLEMENTED, COUNTERPARTY_NOT_ALLOWED, and what that provider has done wrong.
 */
export async function requireReceiver(
  core: Core,
  { worldId, environment }: Caller,
  address: string,
  field: string,
): Promise<{ umaAddress: string; receiver: UmaReceiver }> {
  const umaAddress = requireUmaAddress(address, field)
  const rails = core.rails[environment]
  if (!rails) throw new DomainError('NOT_IMPLEMENTED', 'No rail is configured here that pays UMA addresses', { field })
  const known = await rails.receiver(umaAddress)
  if (known) return { umaAddress, receiver: known }
  requireAllowed(core, environment, umaAddress, field)
  const identity = await umaIdentity(core, (await core.worlds.get(worldId))!)
  const receiver = await core.uma.lookUp(identity, umaAddress)
  if (!receiver) throw noSuchAddress(field, umaAddress)
  return { umaAddress, receiver }
}

/** A lookup somebody made in this world; of a viewer, its own. Refuses LOOKUP_REQUEST_NOT_FOUND, also for one that has expired. */
export async function requireLookup({ database }: { database: Database }, sight: Sight, id: string): Promise<LookupRow> {
  const [row] = await database.query<LookupRow>(`select ${selectList('lookup')} from lookup where world_id = $1 and id = $2`, [
    sight.worldId,
    id,
  ])
  if (row && sees(sight, row.customerId)) return row
  throw new DomainError('LOOKUP_REQUEST_NOT_FOUND', 'There is no such lookup, or it has expired; look the receiver up again', {
    field: 'lookupId',
    value: toId('Lookup', id),
  })
}

/** Run by its task when a lookup's time is over. */
export const forgetLookup = operation({
  name: 'forgetLookup',
  permission: 'TRANSACT',
  input: z.object({ lookupId: z.uuid() }),
  output: z.object({}),
  load: async () => undefined,
  decide: (input) => ({ reply: {}, remove: { lookup: [input.lookupId] } }),
})
