import type { z } from 'zod'
import { getConfiguration, type PlatformConfig, updateConfiguration } from '../core/platform/configuration.ts'
import { listWebhookKeys, type WebhookKey } from '../core/platform/signing-keys.ts'
import { builder } from './builder.ts'
import { askCore } from './context.ts'
import { addMutation, idempotencyKeyDescription } from './error.ts'
import { RequestedFieldRef, TransactionType } from './refs.ts'

export const WebhookKeyRef = builder.objectRef<WebhookKey>('WebhookKey').implement({
  description: 'A public key that webhooks are verified with: ECDSA P-256, SHA-256 over the whole body, DER.',
  fields: (t) => ({
    version: t.exposeString('version', { description: 'The `v` of the signature header.' }),
    publicKey: t.exposeString('publicKey', { description: 'SPKI, PEM.' }),
    status: t.exposeString('status', { description: 'PENDING will sign, ACTIVE signs, RETIRED has signed.' }),
    signsFrom: t.expose('signsFrom', { type: 'DateTime', description: 'When it begins, or began, to sign.' }),
  }),
})

type Supported = z.output<typeof PlatformConfig>['supportedCurrencies'][number]

const SupportedCurrencyRef = builder.objectRef<Supported>('SupportedCurrency').implement({
  description: 'A currency the platform moves, with its limits.',
  fields: (t) => ({
    currencyCode: t.exposeString('currencyCode', { description: 'Code of the currency.' }),
    minAmount: t.expose('minAmount', { type: 'Int64', description: 'Least at a time, in the smallest unit.' }),
    maxAmount: t.expose('maxAmount', { type: 'Int64', description: 'Most at a time, in the smallest unit.' }),
    enabledTransactionTypes: t.expose('enabledTransactionTypes', {
      type: [TransactionType],
      description: 'Which ways it is moved.',
    }),
    requiredCounterpartyFields: t.expose('requiredCounterpartyFields', {
      type: [RequestedFieldRef],
      description: 'What the platform wants to know of whoever is on the other side.',
    }),
    providerRequiredCustomerFields: t.exposeStringList('providerRequiredCustomerFields', {
      description: 'What must be known of a customer who moves it: FULL_NAME, BIRTH_DATE, NATIONALITY and so on.',
    }),
  }),
})

const ApprovalChannel = builder.enumType('ApprovalChannel', {
  description: 'How a platform decides on incoming payments.',
  values: {
    WEBHOOK: { description: 'By its answer to the webhook; mutations and REST calls decide too.' },
    API: { description: 'By mutations and REST calls alone; it needs no webhook endpoint.' },
  } as const,
})

const WebhookEnvelope = builder.enumType('WebhookEnvelope', {
  description: 'The form of webhooks.',
  values: {
    FLAT: { description: 'The payload stands beside `type`, `webhookId` and `timestamp`.' },
    NESTED: {
      description:
        '`id`, `type` with what happened in it (`OUTGOING_PAYMENT.COMPLETED`), `timestamp`, and the payload under `data`.',
    },
  } as const,
})

const DocumentPolicy = builder.enumType('DocumentPolicy', {
  description: 'Which GraphQL documents are executed.',
  values: {
    ANY: { description: 'Whatever is asked.' },
    REGISTERED: {
      description: 'Registered operations only, introspection not among them; whoever may MANAGE still asks what they like.',
    },
  } as const,
})

const PlatformRef = builder.objectRef<z.output<typeof PlatformConfig>>('PlatformConfig')

builder.node(PlatformRef, {
  description: 'The configuration of the platform in this world.',
  id: { resolve: ({ id }) => id, description: '`PlatformConfig:<uuid>`' },
  loadOne: async (id: string, context) => {
    const config = await askCore(context, getConfiguration, {})
    return config.id === id ? config : null
  },
  fields: (t) => ({
    umaDomain: t.exposeString('umaDomain', { description: "Domain of the customers' UMA addresses." }),
    webhookEndpoint: t.exposeString('webhookEndpoint', { nullable: true, description: 'Where webhooks go.' }),
    incomingPaymentApproval: t.expose('incomingPaymentApproval', {
      type: ApprovalChannel,
      description: 'How incoming payments that need approval are decided on.',
    }),
    webhookEnvelope: t.field({
      type: WebhookEnvelope,
      description: 'The form of webhooks.',
      resolve: ({ webhookEnvelope = 'FLAT' }) => webhookEnvelope,
    }),
    graphqlDocuments: t.field({
      type: DocumentPolicy,
      description: 'Which GraphQL documents are executed.',
      resolve: ({ graphqlDocuments = 'ANY' }) => graphqlDocuments,
    }),
    supportedCurrencies: t.expose('supportedCurrencies', {
      type: [SupportedCurrencyRef],
      description: 'What the platform moves, with its limits.',
    }),
    isRegulatedFinancialInstitution: t.exposeBoolean('isRegulatedFinancialInstitution', {
      description: 'It verifies its customers itself.',
    }),
    proxyUmaSubdomain: t.exposeString('proxyUmaSubdomain', {
      nullable: true,
      description: 'Where UMA requests to the domain are forwarded to.',
    }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When the platform was created.' }),
    updatedAt: t.expose('updatedAt', { type: 'DateTime', description: 'When the configuration last changed.' }),
    webhookKeys: t.field({
      type: [WebhookKeyRef],
      description: 'The keys that webhooks are verified with.',
      resolve: async (_config, _args, context) => (await askCore(context, listWebhookKeys, {})).data,
    }),
  }),
})

builder.queryField('platform', (t) =>
  t.field({
    type: PlatformRef,
    description: 'The configuration of the platform in this world.',
    resolve: (_root, _args, context) => askCore(context, getConfiguration, {}),
  }),
)

const RequestedFieldInput = builder.inputType('RequestedFieldInput', {
  description: 'Something that must, or should, be known of a person or company.',
  fields: (t) => ({
    name: t.string({ required: true, description: 'FULL_NAME, BIRTH_DATE, NATIONALITY and so on.' }),
    mandatory: t.boolean({ required: true, description: 'Without it there is no payment.' }),
  }),
})

const SupportedCurrencyInput = builder.inputType('SupportedCurrencyInput', {
  description: 'A currency to move, with its limits.',
  fields: (t) => ({
    currencyCode: t.string({ required: true, description: 'Code of the currency.' }),
    minAmount: t.field({ type: 'Int64', required: true, description: 'Least at a time, in the smallest unit.' }),
    maxAmount: t.field({ type: 'Int64', required: true, description: 'Most at a time, in the smallest unit.' }),
    enabledTransactionTypes: t.field({ type: [TransactionType], description: 'Which ways it is moved; both unless said.' }),
    requiredCounterpartyFields: t.field({
      type: [RequestedFieldInput],
      description: 'What the platform wants to know of whoever is on the other side.',
    }),
  }),
})

const UpdateConfigurationInput = builder.inputType('UpdateConfigurationInput', {
  description: 'What to change; absent fields stay.',
  fields: (t) => ({
    umaDomain: t.string({ description: "Domain of the customers' UMA addresses." }),
    webhookEndpoint: t.string({ description: 'Where webhooks go; a change sends a TEST.' }),
    incomingPaymentApproval: t.field({ type: ApprovalChannel, description: 'How incoming payments are decided on.' }),
    webhookEnvelope: t.field({ type: WebhookEnvelope, description: 'The form of webhooks from now on.' }),
    graphqlDocuments: t.field({ type: DocumentPolicy, description: 'Which GraphQL documents are executed from now on.' }),
    supportedCurrencies: t.field({ type: [SupportedCurrencyInput], description: 'Replaces the whole list.' }),
    idempotencyKey: t.string({ description: idempotencyKeyDescription }),
  }),
})

addMutation('updateConfiguration', {
  description: 'Changes the configuration of the platform in this world.',
  operation: updateConfiguration,
  input: UpdateConfigurationInput,
  result: {
    field: 'platform',
    type: PlatformRef,
    description: 'The configuration as it now is.',
    of: (config: z.output<typeof PlatformConfig>) => config,
  },
})
