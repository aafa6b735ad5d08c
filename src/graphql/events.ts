import { toId } from '../base/ids.ts'
import type { BulkJob } from '../core/bulk-import/job.ts'
import { readLog } from '../core/events/read-events.ts'
import type { Invitation } from '../core/invitations/invitation.ts'
import { requireWholeWorld } from '../core/operation.ts'
import { readSigningKeys, signatureOf, signingKeyAt } from '../core/platform/signing-keys.ts'
import type { Transaction } from '../core/transactions/transaction.ts'
import { bodyOf, cursorOf, type eventTypes, type LoggedEvent, type quietEventTypes } from '../log/event.ts'
import { builder } from './builder.ts'
import { connectionOf, pageArgs, pageComplexity, wayOf } from './connection.ts'
import type { Context } from './context.ts'
import { askCore } from './context.ts'
import { type Money, MoneyRef } from './money.ts'
import {
  BulkJobRef,
  CustomerRef,
  ExternalAccountRef,
  InternalAccountRef,
  InvitationRef,
  type RequestedField,
  RequestedFieldRef,
  TransactionRef,
} from './refs.ts'

export const EventType = builder.enumType('EventType', {
  description: 'What an event tells: the types that webhooks have, and two that only whoever listens hears of.',
  values: {
    TEST: { description: 'The webhook endpoint was set.' },
    INCOMING_PAYMENT: { description: 'An incoming payment has a new state.' },
    OUTGOING_PAYMENT: { description: 'An outgoing payment has a new state.' },
    ACCOUNT_STATUS: { description: 'The balance of an internal account changed, or an external account was linked.' },
    BULK_UPLOAD: { description: 'A file of customers has been imported, or could not be.' },
    INVITATION_CLAIMED: { description: 'An invitation was claimed.' },
    KYC_STATUS: { description: 'The verification of a customer came to a final decision.' },
    BULK_UPLOAD_PROGRESS: { description: 'A file of customers has come further. There is no webhook of it.' },
    INVITATION_EXPIRED: { description: 'The time of an invitation is over. There is no webhook of it.' },
  } satisfies Record<(typeof eventTypes)[number] | (typeof quietEventTypes)[number], { description: string }>,
})

/** As the platform gets it. */
async function formOf(event: LoggedEvent, _args: object, { core }: Context): Promise<string> {
  return bodyOf(event, (await core.worlds.get(event.worldId))!.webhookEnvelope)
}

const SignedWebhookRef = builder.objectRef<LoggedEvent>('SignedWebhook').implement({
  description: 'An event in the form of a webhook.',
  fields: (t) => ({
    body: t.string({ description: 'Exactly the bytes that webhooks have.', resolve: formOf }),
    signature: t.string({
      description: 'Value of the header `X-Service-Signature` over this body.',
      resolve: async (event, _args, context) => {
        const { core, caller } = context
        const key = signingKeyAt(await readSigningKeys(core.database, caller.worldId), core.clock.now())
        return signatureOf(await formOf(event, {}, context), key!)
      },
    }),
  }),
})

export const EventRef = builder.interfaceRef<LoggedEvent>('Event').implement({
  description: 'Something that happened. Webhooks tell the same events, with the same ids.',
  fields: (t) => ({
    id: t.id({ description: '`Webhook:<uuid>`: the webhookId.', resolve: ({ uuid }) => toId('Webhook', uuid) }),
    type: t.field({ type: EventType, description: 'What it tells.', resolve: ({ type }) => type as 'TEST' }),
    cursor: t.string({ description: 'Pass it as `after` to go on after this event.', resolve: cursorOf }),
    sequence: t.exposeInt('sequence', { description: 'Which of the events about the same thing it is: 1, 2, 3 …' }),
    resourceId: t.exposeID('resourceId', { description: 'What it is about: `<Type>:<uuid>`.' }),
    customer: t.field({
      type: CustomerRef,
      nullable: true,
      description: "Whom it is about, as they are now; null for the platform's own.",
      resolve: ({ customerId }, _args, { loaders }) =>
        customerId === null ? null : loaders.customer.load(toId('Customer', customerId)),
    }),
    webhook: t.field({
      type: SignedWebhookRef,
      description:
        'The same as a webhook tells it, signed: to hand it on to a server that verifies webhooks. Not for viewer tokens.',
      resolve(event, _args, { caller }) {
        requireWholeWorld(caller)
        return event
      },
    }),
    createdAt: t.field({
      type: 'DateTime',
      description: 'When it happened.',
      resolve: ({ createdAt }) => createdAt.toISOString(),
    }),
  }),
  resolveType: ({ type, resourceId }) =>
    resourceId.startsWith('ExternalAccount:') ? 'ExternalAccountEvent' : (typeNames[type] ?? 'TestEvent'),
})

const typeNames: Readonly<Record<string, string>> = {
  INCOMING_PAYMENT: 'PaymentEvent',
  OUTGOING_PAYMENT: 'PaymentEvent',
  ACCOUNT_STATUS: 'AccountStatusEvent',
  KYC_STATUS: 'KycStatusEvent',
  INVITATION_CLAIMED: 'InvitationClaimedEvent',
  INVITATION_EXPIRED: 'InvitationExpiredEvent',
  BULK_UPLOAD: 'BulkUploadEvent',
  BULK_UPLOAD_PROGRESS: 'BulkUploadEvent',
  TEST: 'TestEvent',
}

builder.objectRef<LoggedEvent>('ExternalAccountEvent').implement({
  interfaces: [EventRef],
  description: 'An external account was linked, or has a new status.',
  fields: (t) => ({
    account: t.field({
      type: ExternalAccountRef,
      description: 'The account as it is now.',
      resolve: async ({ resourceId }, _args, { loaders }) => (await loaders.externalAccount.load(resourceId))!,
    }),
  }),
})

builder.objectRef<LoggedEvent>('InvitationClaimedEvent').implement({
  interfaces: [EventRef],
  description: 'An invitation was claimed.',
  fields: (t) => ({
    invitation: t.field({
      type: InvitationRef,
      description: 'The invitation as it was then.',
      resolve: ({ payload }) => payload['invitation'] as Invitation,
    }),
  }),
})

builder.objectRef<LoggedEvent>('InvitationExpiredEvent').implement({
  interfaces: [EventRef],
  description: 'The time of an invitation is over, and nobody has claimed it.',
  fields: (t) => ({
    invitation: t.field({
      type: InvitationRef,
      description: 'The invitation as it was then.',
      resolve: ({ payload }) => payload['invitation'] as Invitation,
    }),
  }),
})

builder.objectRef<LoggedEvent>('BulkUploadEvent').implement({
  interfaces: [EventRef],
  description: 'A file of customers has been imported, or could not be; or has come further.',
  fields: (t) => ({
    job: t.field({
      type: BulkJobRef,
      description: 'The job as it was then.',
      resolve: ({ payload }) => payload['bulkCustomerImportJob'] as BulkJob,
    }),
  }),
})

builder.objectRef<LoggedEvent>('KycStatusEvent').implement({
  interfaces: [EventRef],
  description: 'The verification of a customer came to a final decision.',
  fields: (t) => ({
    customer: t.field({
      type: CustomerRef,
      description: 'The customer as they are now.',
      resolve: async ({ resourceId }, _args, { loaders }) => (await loaders.customer.load(resourceId))!,
    }),
    kycStatus: t.string({ description: 'The decision.', resolve: ({ payload }) => String(payload['kycStatus']) }),
  }),
})

builder.objectRef<LoggedEvent>('PaymentEvent').implement({
  interfaces: [EventRef],
  description: 'A payment has a new state.',
  fields: (t) => ({
    transaction: t.field({
      type: TransactionRef,
      description: 'The payment as it was then.',
      resolve: ({ payload }) => payload['transaction'] as Transaction,
    }),
    approvalDeadline: t.field({
      type: 'DateTime',
      nullable: true,
      description:
        'Until when approveTransaction and rejectTransaction decide on it; null where nobody is asked. An answer of 202 to the webhook moves it.',
      resolve: ({ payload }) => (payload['approvalDeadline'] as string | undefined) ?? null,
    }),
    requestedReceiverUserInfoFields: t.field({
      type: [RequestedFieldRef],
      description: "What the payer's provider wants to know of the receiver, for approveTransaction.",
      resolve: ({ payload }) => (payload['requestedReceiverUserInfoFields'] as RequestedField[] | undefined) ?? [],
    }),
  }),
})

builder.objectRef<LoggedEvent>('AccountStatusEvent').implement({
  interfaces: [EventRef],
  description: 'The balance of an internal account changed.',
  fields: (t) => ({
    account: t.field({
      type: InternalAccountRef,
      description: 'The account as it is now.',
      resolve: async ({ payload }, _args, { loaders }) => (await loaders.internalAccount.load(String(payload['accountId'])))!,
    }),
    oldBalance: t.field({
      type: MoneyRef,
      description: 'What was on it before.',
      resolve: ({ payload }) => payload['oldBalance'] as Money,
    }),
    newBalance: t.field({
      type: MoneyRef,
      description: 'What was on it after.',
      resolve: ({ payload }) => payload['newBalance'] as Money,
    }),
  }),
})

builder.objectRef<LoggedEvent>('TestEvent').implement({
  interfaces: [EventRef],
  description: 'The webhook endpoint was set.',
  fields: (t) => ({
    test: t.boolean({ description: 'Always true.', resolve: () => true }),
  }),
})

const EventConnection = builder.connectionObject(
  { type: EventRef, name: 'EventConnection', description: 'A page of events.' },
  { name: 'EventEdge', description: 'An event in a list.' },
)

builder.queryField('events', (t) =>
  t.field({
    type: EventConnection,
    description:
      'Everything that has happened in this world, oldest first; the subscription of the same name goes on from any cursor.',
    args: {
      ...pageArgs,
      types: t.arg({ type: [EventType], description: 'These types only.' }),
      customerId: t.arg.id({ description: 'Of this customer only.' }),
      resourceId: t.arg.id({ description: 'About this only: `<Type>:<uuid>`.' }),
    },
    complexity: pageComplexity,
    async resolve(_root, { first, after, ...filters }, context) {
      const way = wayOf({ first, after })
      const page = await askCore(context, readLog, { ...filters, limit: way.limit, cursor: way.cursor })
      return connectionOf(page, cursorOf, way, async () => {
        const counted = await askCore(context, readLog, { ...filters, limit: 1, total: 'exact' })
        return counted.totalCount ?? 0
      })
    },
  }),
)
