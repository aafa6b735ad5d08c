import { decodePosition } from '../base/cursor.ts'
import { toId, uuidOf } from '../base/ids.ts'
import { DomainError } from '../base/refusal.ts'
import type { Transaction } from '../core/transactions/transaction.ts'
import { cursorOf, type LoggedEvent } from '../log/event.ts'
import type { Interest } from '../log/feed.ts'
import { builder } from './builder.ts'
import type { Context } from './context.ts'
import { createLoaders } from './loaders.ts'
import { type Money, MoneyRef } from './money.ts'
import { InternalAccountRef, TransactionRef } from './refs.ts'

const EventType = builder.enumType('EventType', {
  description: 'What an event tells: the same types as webhooks have.',
  values: {
    TEST: { description: 'The webhook endpoint was set.' },
    INCOMING_PAYMENT: { description: 'An incoming payment has a new state.' },
    OUTGOING_PAYMENT: { description: 'An outgoing payment has a new state.' },
    ACCOUNT_STATUS: { description: 'The balance of an internal account changed.' },
  } as const,
})

export const EventRef = builder.interfaceRef<LoggedEvent>('Event').implement({
  description: 'Something that happened. Webhooks tell the same events, with the same ids.',
  fields: (t) => ({
    id: t.id({ description: '`Webhook:<uuid>`: the webhookId.', resolve: ({ uuid }) => toId('Webhook', uuid) }),
    type: t.field({ type: EventType, description: 'What it tells.', resolve: ({ type }) => type as 'TEST' }),
    cursor: t.string({ description: 'Pass it as `after` to go on after this event.', resolve: cursorOf }),
    createdAt: t.field({
      type: 'DateTime',
      description: 'When it happened.',
      resolve: ({ createdAt }) => createdAt.toISOString(),
    }),
  }),
  resolveType: ({ type }) => typeNames[type] ?? 'TestEvent',
})

const typeNames: Readonly<Record<string, string>> = {
  INCOMING_PAYMENT: 'PaymentEvent',
  OUTGOING_PAYMENT: 'PaymentEvent',
  ACCOUNT_STATUS: 'AccountStatusEvent',
  TEST: 'TestEvent',
}

builder.objectRef<LoggedEvent>('PaymentEvent').implement({
  interfaces: [EventRef],
  description: 'A payment has a new state.',
  fields: (t) => ({
    transaction: t.field({
      type: TransactionRef,
      description: 'The payment as it was then.',
      resolve: ({ payload }) => payload['transaction'] as Transaction,
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

builder.subscriptionField('events', (t) =>
  t.field({
    type: EventRef,
    description:
      'Everything that happens in this world, in order. With `after` it begins with what was missed, without a gap or a repeat.',
    args: {
      types: t.arg({ type: [EventType], description: 'These types only.' }),
      customerId: t.arg.id({ description: 'Of this customer only.' }),
      after: t.arg.string({ description: 'Cursor of the last event that was seen.' }),
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
    description: 'A payment, each time it has a new state.',
    args: {
      id: t.arg.id({ required: true, description: '`Transaction:<uuid>`' }),
      after: t.arg.string({ description: 'Cursor of the last event that was seen.' }),
    },
    subscribe: (_root, { id, after }, context) => {
      requireUuid('Transaction', id, 'id')
      return follow(context, after, { resourceId: id })
    },
    resolve: ({ payload }) => payload['transaction'] as Transaction,
  }),
)

/** Events of the caller's world; each with loaders of its own, so that it shows things as they are by then. */
function follow(
  context: Context,
  after: string | null | undefined,
  interest: Omit<Interest, 'worldId'>,
): AsyncGenerator<LoggedEvent> {
  const { core, feed, caller } = context
  if (!caller.permissions.includes('VIEW')) {
    throw new DomainError('FORBIDDEN', 'This needs a token with the permission VIEW', { permission: 'VIEW' })
  }
  const position = after === null || after === undefined ? undefined : decodePosition(after)
  const events = feed.subscribe({ worldId: caller.worldId, ...interest }, position)
  const next = events.next.bind(events)
  events.next = async () => {
    const result = await next()
    context.loaders = createLoaders(core, caller)
    return result
  }
  return events
}

function requireUuid(type: 'Customer' | 'Transaction', id: string, field: string): string {
  const uuid = uuidOf(type, id)
  if (uuid === undefined)
    throw new DomainError('INVALID_INPUT', `${field}: expected an id of the form ${type}:<uuid>`, { field, value: id })
  return uuid
}
