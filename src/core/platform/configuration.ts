/** A platform's configuration in one world. */
import { z } from 'zod'
import { endpointFault } from '../../base/address.ts'
import { toId } from '../../base/ids.ts'
import { DomainError } from '../../base/refusal.ts'
import type { Rails } from '../../rails/port.ts'
import { newCurrencyAccounts } from '../accounts/internal.ts'
import { openAccountsTask } from '../accounts/open-accounts.ts'
import type { EventDraft } from '../commit.ts'
import { moveAddressesTask } from '../customers/move-addresses.ts'
import { providerFieldsOf } from '../customers/provider-fields.ts'
import { currencyCode, int64, largestAmount, text } from '../input.ts'
import { operation, query } from '../operation.ts'
import { readWorld, type SupportedCurrency, type World, worldRow } from './world.ts'

/** WEBHOOK: the answer to the webhook decides on incoming payments, and calls do too. API: calls alone. Spec silent. */
const approvalChannel = z.enum(['WEBHOOK', 'API'])
/** FLAT is the specification's; NESTED is {id, type, timestamp, data} with what happened in the type. Spec silent. */
const webhookEnvelope = z.enum(['FLAT', 'NESTED'])
/** ANY: everybody may send GraphQL documents. REGISTERED: only tokens that MANAGE; others name registered operations. Spec silent. */
const graphqlDocuments = z.enum(['ANY', 'REGISTERED'])
const transactionTypes = z.array(z.enum(['INCOMING', 'OUTGOING']))
const counterpartyFields = z.array(z.object({ name: text(60), mandatory: z.boolean() }))

export const PlatformConfig = z.object({
  id: z.string(),
  umaDomain: z.string(),
  proxyUmaSubdomain: z.string().optional(),
  webhookEndpoint: z.string().optional(),
  isRegulatedFinancialInstitution: z.boolean(),
  incomingPaymentApproval: approvalChannel,
  webhookEnvelope: webhookEnvelope.optional(),
  graphqlDocuments: graphqlDocuments.optional(),
  supportedCurrencies: z.array(
    z.object({
      currencyCode: z.string(),
      minAmount: int64,
      maxAmount: int64,
      enabledTransactionTypes: transactionTypes,
      requiredCounterpartyFields: counterpartyFields,
      providerRequiredCustomerFields: z.array(z.string()),
    }),
  ),
  createdAt: z.string(),
  updatedAt: z.string(),
})

export type PlatformConfig = z.output<typeof PlatformConfig>

function toPlatformConfig(world: World, rails: Rails | undefined): PlatformConfig {
  return {
    id: toId('PlatformConfig', world.id),
    umaDomain: world.umaDomain,
    ...(world.proxyUmaSubdomain === null ? {} : { proxyUmaSubdomain: world.proxyUmaSubdomain }),
    ...(world.webhookEndpoint === null ? {} : { webhookEndpoint: world.webhookEndpoint }),
    isRegulatedFinancialInstitution: world.isRegulated,
    incomingPaymentApproval: world.incomingPaymentApproval,
    webhookEnvelope: world.webhookEnvelope,
    graphqlDocuments: world.graphqlDocuments,
    supportedCurrencies: world.supportedCurrencies.map((supported) => ({
      currencyCode: supported.currencyCode,
      minAmount: BigInt(supported.minAmount),
      maxAmount: BigInt(supported.maxAmount),
      enabledTransactionTypes: [...supported.enabledTransactionTypes],
      requiredCounterpartyFields: [...supported.requiredCounterpartyFields],
      providerRequiredCustomerFields: providerFieldsOf(world, supported.currencyCode, rails),
    })),
    createdAt: world.createdAt.toISOString(),
    updatedAt: world.updatedAt.toISOString(),
  }
}

export const getConfiguration = query({
  name: 'getConfiguration',
  permission: 'VIEW',
  input: z.object({}),
  output: PlatformConfig,
  answer: async ({ database, rails }, { worldId, environment }) =>
    toPlatformConfig((await readWorld(database, worldId))!, rails[environment]),
})

const limit = z
  .union([z.int(), z.bigint()])
  .transform((value) => BigInt(value))
  .refine((value) => value > 0n && value <= largestAmount, {
    error: `expected more than zero and at most ${largestAmount}`,
    params: { code: 'INVALID_AMOUNT' },
  })

const supportedCurrencyInput = z
  .object({
    currencyCode,
    minAmount: limit,
    maxAmount: limit,
    enabledTransactionTypes: transactionTypes.default(['INCOMING', 'OUTGOING']),
    requiredCounterpartyFields: counterpartyFields.default([]),
  })
  .refine(({ minAmount, maxAmount }) => minAmount <= maxAmount, { path: ['minAmount'], error: 'expected at most maxAmount' })

/**
 * Spec silent: supportedCurrencies replaces the whole list; a currency that is new gets its accounts at once, and customers who are there
 * already get theirs within seconds. On a new umaDomain everybody keeps their name and gets it there, within seconds too; the old domain is
 * answered no more.
 */
export const updateConfiguration = operation({
  name: 'updateConfiguration',
  permission: 'MANAGE',
  refuses: ['INVALID_AMOUNT', 'INVALID_CURRENCY'],
  input: z.object({
    umaDomain: z
      .string()
      .max(253)
      .regex(/^([a-z0-9-]+(\.[a-z0-9-]+)+|localhost)(:[0-9]{1,5})?$/, 'expected a domain name in lower case')
      .optional(),
    webhookEndpoint: z.string().max(2000).optional(),
    incomingPaymentApproval: approvalChannel.optional(),
    webhookEnvelope: webhookEnvelope.optional(),
    graphqlDocuments: graphqlDocuments.optional(),
    supportedCurrencies: z
      .array(supportedCurrencyInput)
      .min(1)
      .max(50)
      .refine((list) => new Set(list.map(({ currencyCode: code }) => code)).size === list.length, 'expected each currency once')
      .optional(),
  }),
  output: PlatformConfig,
  load: async ({ database }, { worldId }, input) => {
    const [world, owned] = await Promise.all([
      readWorld(database, worldId),
      input.supportedCurrencies
        ? database.query<{ currency: string }>(
            'select currency from internal_account where world_id = $1 and customer_id is null',
            [worldId],
          )
        : [],
    ])
    return { world: world!, owned: new Set(owned.map(({ currency }) => currency)) }
  },
  decide(input, { world, owned }, { now, newId, settings, caller, rails }) {
    const { umaDomain, webhookEndpoint, incomingPaymentApproval, supportedCurrencies } = input
    const allowLocal = settings.allowLocalWebhooks && caller.environment === 'SANDBOX'
    if (umaDomain !== undefined && !allowLocal && /(^|\.)localhost(:|$)|:/.test(umaDomain)) {
      throw new DomainError('INVALID_INPUT', 'umaDomain: expected a public domain', { field: 'umaDomain', value: umaDomain })
    }
    if (webhookEndpoint !== undefined) {
      const fault = endpointFault(webhookEndpoint, allowLocal)
      if (fault)
        throw new DomainError('INVALID_INPUT', `webhookEndpoint: ${fault}`, { field: 'webhookEndpoint', value: webhookEndpoint })
    }
    const changed: World = {
      ...world,
      ...(umaDomain === undefined ? {} : { umaDomain }),
      ...(webhookEndpoint === undefined ? {} : { webhookEndpoint }),
      ...(incomingPaymentApproval === undefined ? {} : { incomingPaymentApproval }),
      ...(input.webhookEnvelope === undefined ? {} : { webhookEnvelope: input.webhookEnvelope }),
      ...(input.graphqlDocuments === undefined ? {} : { graphqlDocuments: input.graphqlDocuments }),
      ...(supportedCurrencies === undefined
        ? {}
        : { supportedCurrencies: supportedCurrencies.map((one) => supported(one, world)) }),
      updatedAt: now,
    }
    const accounts = (supportedCurrencies ?? [])
      .filter(({ currencyCode: code }) => !owned.has(code))
      .map(({ currencyCode: code }) => newCurrencyAccounts(world.id, code, newId, now))
    return {
      reply: toPlatformConfig(changed, rails),
      update: { world: [worldRow(changed)] },
      insert: {
        ledger_account: accounts.flatMap(({ ledger_account }) => ledger_account),
        internal_account: accounts.flatMap(({ internal_account }) => internal_account),
        task: [
          ...(accounts.length === 0 ? [] : [openAccountsTask(world.id, newId(), now)]),
          ...(changed.umaDomain === world.umaDomain ? [] : [moveAddressesTask(world.id, newId(), now)]),
        ],
      },
      events: webhookEndpoint === undefined ? [] : [testEvent(world.id)],
    }
  },
  exists: {
    world_uma_domain_key: ({ umaDomain }) =>
      new DomainError('INVALID_INPUT', 'umaDomain: it is the domain of another platform', {
        field: 'umaDomain',
        value: umaDomain!,
      }),
  },
  committed: ({ worlds }, { worldId }) => worlds.drop(worldId),
})

function supported(input: Omit<SupportedCurrency, 'providerRequiredCustomerFields'>, world: World): SupportedCurrency {
  const before = world.supportedCurrencies.find(({ currencyCode: code }) => code === input.currencyCode)
  return { ...input, providerRequiredCustomerFields: before?.providerRequiredCustomerFields ?? [] }
}

/** The TEST webhook. */
export function testEvent(worldId: string): EventDraft {
  return { worldId, type: 'TEST', resourceId: toId('PlatformConfig', worldId), customerId: null, payload: { test: true } }
}
