import type { IdType } from '../base/ids.ts'
import { uuidOf } from '../base/ids.ts'
import { DomainError } from '../base/refusal.ts'
import type { BulkJob } from '../core/bulk-import/job.ts'
import type { Invitation } from '../core/invitations/invitation.ts'
import { requireQuote } from '../core/quotes/quote.ts'
import type { Transaction } from '../core/transactions/transaction.ts'
import type { LoggedEvent } from '../log/event.ts'
import { builder } from './builder.ts'
import type { Context } from './context.ts'
import { EventRef, EventType } from './events.ts'
import { follow } from './following.ts'
import {
  BulkJobRef,
  CustomerRef,
  ExternalAccountRef,
  InternalAccountRef,
  InvitationRef,
  QuoteRef,
  TransactionRef,
} from './refs.ts'

const afterDescription =
  'Cursor of the last event that was seen: begins with what was missed since, without a gap or a repeat. Every result carries its cursor in `extensions.cursor`.'

builder.subscriptionField('events', (t) =>
  t.field({
    type: EventRef,
    description: 'Everything that happens in this world, in order.',
    args: {
      types: t.arg({ type: [EventType], description: 'These types only.' }),
      customerId: t.arg.id({ description: 'Of this customer only.' }),
      after: t.arg.string({ description: afterDescription }),
    },
    subscribe: (_root, { types, customerId, after }, context) =>
      follow(context, after, {
        types: types ?? undefined,
        customerId:
          customerId === null || customerId === undefined ? undefined : requireUuid('Customer', customerId, 'customerId'),
      }),
    resolve: (event) => event,
  }),
)

builder.subscriptionField('transactionUpdated', (t) =>
  t.field({
    type: TransactionRef,
    description: 'A payment, each time it has a new state that is told: as it was then.',
    args: {
      id: t.arg.id({ required: true, description: '`Transaction:<uuid>`' }),
      after: t.arg.string({ description: afterDescription }),
    },
    subscribe: (_root, { id, after }, context) => follow(context, after, { resourceId: requireId('Transaction', id) }),
    resolve: ({ payload }) => payload['transaction'] as Transaction,
  }),
)

builder.subscriptionField('quoteUpdated', (t) =>
  t.field({
    type: QuoteRef,
    description: 'A quote, each time its payment has a new state that is told: as it is by then.',
    args: {
      id: t.arg.id({ required: true, description: '`Quote:<uuid>`' }),
      after: t.arg.string({ description: afterDescription }),
    },
    async subscribe(_root, { id, after }, context) {
      const { core, caller } = context
      const quoteId = requireUuid('Quote', id, 'id')
      const following = (resourceId: string) => follow(context, after, { resourceId })
      // Whether one may follow comes before whether there is something to follow.
      following(id)
      const { transactionId } = await requireQuote(core.database, caller, quoteId)
      return following(`Transaction:${transactionId}`)
    },
    resolve: async ({ payload }, _args, { loaders }) =>
      (await loaders.quote.load((payload['transaction'] as Transaction).quoteId!))!,
  }),
)

builder.subscriptionField('internalAccountUpdated', (t) =>
  t.field({
    type: InternalAccountRef,
    description: 'An internal account, each time its balance has moved: as it is by then.',
    args: {
      id: t.arg.id({ required: true, description: '`InternalAccount:<uuid>`' }),
      after: t.arg.string({ description: afterDescription }),
    },
    subscribe: (_root, { id, after }, context) => follow(context, after, { resourceId: requireId('InternalAccount', id) }),
    resolve: async ({ resourceId }, _args, { loaders }) => (await loaders.internalAccount.load(resourceId))!,
  }),
)

builder.subscriptionField('externalAccountUpdated', (t) =>
  t.field({
    type: ExternalAccountRef,
    description: 'An external account, each time it has a new status: as it is by then.',
    args: {
      id: t.arg.id({ description: '`ExternalAccount:<uuid>`; absent: every one of the customer.' }),
      customerId: t.arg.id({ description: '`Customer:<uuid>`; absent: of every customer, and the platform.' }),
      after: t.arg.string({ description: afterDescription }),
    },
    subscribe: (_root, { id, customerId, after }, context) =>
      follow(context, after, {
        types: ['ACCOUNT_STATUS'],
        resourceType: 'ExternalAccount',
        resourceId: id ? requireId('ExternalAccount', id) : undefined,
        customerId: customerId ? requireUuid('Customer', customerId, 'customerId') : undefined,
      }),
    resolve: async ({ resourceId }, _args, { loaders }) => (await loaders.externalAccount.load(resourceId))!,
  }),
)

builder.subscriptionField('invitationClaimed', (t) =>
  t.field({
    type: InvitationRef,
    description: 'An invitation of your customers, when it is claimed.',
    args: {
      customerId: t.arg.id({ description: '`Customer:<uuid>`: the inviter; absent: every customer.' }),
      after: t.arg.string({ description: afterDescription }),
    },
    subscribe: (_root, { customerId, after }, context) =>
      follow(context, after, {
        types: ['INVITATION_CLAIMED'],
        customerId: customerId ? requireUuid('Customer', customerId, 'customerId') : undefined,
      }),
    resolve: ({ payload }) => payload['invitation'] as Invitation,
  }),
)

builder.subscriptionField('bulkImportUpdated', (t) =>
  t.field({
    type: BulkJobRef,
    description: 'An import of customers: every hundredth of it, and when it has ended.',
    args: {
      id: t.arg.id({ description: '`Job:<uuid>`; absent: every import.' }),
      after: t.arg.string({ description: afterDescription }),
    },
    subscribe: (_root, { id, after }, context) =>
      follow(context, after, {
        types: ['BULK_UPLOAD_PROGRESS', 'BULK_UPLOAD'],
        resourceId: id ? requireId('Job', id) : undefined,
      }),
    resolve: ({ payload }) => payload['bulkCustomerImportJob'] as BulkJob,
  }),
)

builder.subscriptionField('customerKycUpdated', (t) =>
  t.field({
    type: CustomerRef,
    description: 'A customer, each time their verification comes to a final decision: as they are by then.',
    args: {
      id: t.arg.id({ description: '`Customer:<uuid>`; absent: every customer.' }),
      after: t.arg.string({ description: afterDescription }),
    },
    subscribe: (_root, { id, after }, context) => {
      const customerId = id === null || id === undefined ? undefined : requireUuid('Customer', id, 'id')
      return follow(context, after, { types: ['KYC_STATUS'], customerId })
    },
    resolve: async ({ resourceId }: LoggedEvent, _args: object, { loaders }: Context) =>
      (await loaders.customer.load(resourceId))!,
  }),
)

function requireId(type: IdType, id: string): string {
  return `${type}:${requireUuid(type, id, 'id')}`
}

function requireUuid(type: IdType, id: string, field: string): string {
  const uuid = uuidOf(type, id)
  if (uuid === undefined)
    throw new DomainError('INVALID_INPUT', `${field}: expected an id of the form ${type}:<uuid>`, { field, value: id })
  return uuid
}
