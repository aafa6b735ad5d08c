import type { z } from 'zod'
import {
  getWebhookHealth,
  listWebhookDeliveries,
  redeliverWebhook,
  redeliverWebhooks,
  type WebhookAttempt,
  type WebhookDelivery,
  type WebhookHealth,
} from '../core/events/deliveries.ts'
import { testWebhook } from '../core/events/test-webhook.ts'
import { rotateWebhookKey, type WebhookKey } from '../core/platform/signing-keys.ts'
import { builder } from './builder.ts'
import { bothWayArgs, listOf, pageComplexity } from './connection.ts'
import { askCore } from './context.ts'
import { addMutation, idempotencyKeyDescription } from './error.ts'
import { EventRef, EventType } from './events.ts'
import { WebhookKeyRef } from './platform.ts'

const AttemptRef = builder.objectRef<z.output<typeof WebhookAttempt>>('WebhookAttempt').implement({
  description: 'One time that a webhook was sent.',
  fields: (t) => ({
    attemptedAt: t.expose('attemptedAt', { type: 'DateTime', description: 'When.' }),
    url: t.exposeString('url', { description: 'Where to.' }),
    durationMs: t.exposeInt('durationMs', { description: 'How long it took, in milliseconds.' }),
    responseStatus: t.exposeInt('responseStatus', {
      nullable: true,
      description: 'Status of the answer; null when there was none.',
    }),
    responseBody: t.exposeString('responseBody', { nullable: true, description: 'The beginning of the answer.' }),
    error: t.exposeString('error', { nullable: true, description: 'Why there was no answer.' }),
  }),
})

const DeliveryStatus = builder.enumType('WebhookDeliveryStatus', {
  description: 'What became of a webhook.',
  values: {
    PENDING: { description: 'It will be sent, again or for the first time.' },
    DELIVERED: { description: 'It was acknowledged.' },
    FAILED: { description: 'It was given up; it can be redelivered.' },
  } as const,
})

const DeliveryRef = builder.objectRef<WebhookDelivery>('WebhookDelivery').implement({
  description: 'An event on its way to the webhook endpoint.',
  fields: (t) => ({
    id: t.exposeID('id', { description: '`Webhook:<uuid>`: the webhookId.' }),
    type: t.field({ type: EventType, description: 'What it tells.', resolve: ({ type }) => type as 'TEST' }),
    resourceId: t.exposeID('resourceId', { description: 'What it is about: `<Type>:<uuid>`.' }),
    event: t.field({
      type: EventRef,
      description: 'The event.',
      resolve: async ({ id }, _args, { loaders }) => (await loaders.event.load(id))!,
    }),
    status: t.expose('status', { type: DeliveryStatus, description: 'What became of it.' }),
    attemptCount: t.exposeInt('attempts', { description: 'How often it was sent since it was last asked for.' }),
    attempts: t.field({
      type: [AttemptRef],
      description: 'Every time it was sent, oldest first.',
      resolve: ({ id }, _args, { loaders }) => loaders.webhookAttempts.load(id),
    }),
    nextAttemptAt: t.expose('nextAttemptAt', {
      type: 'DateTime',
      nullable: true,
      description: 'When it will be sent next; null when it is over, or waits for an earlier one about the same thing.',
    }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When it happened.' }),
  }),
})

const DeliveryConnection = builder.connectionObject(
  { type: DeliveryRef, name: 'WebhookDeliveryConnection', description: 'A page of webhooks.' },
  { name: 'WebhookDeliveryEdge', description: 'A webhook in a list.' },
)

builder.queryField('webhookDeliveries', (t) =>
  t.field({
    type: DeliveryConnection,
    description: 'The webhooks that were sent or will be, newest first.',
    args: {
      ...bothWayArgs,
      status: t.arg({ type: DeliveryStatus, description: 'In this state only.' }),
      type: t.arg({ type: EventType, description: 'Of this type only.' }),
      resourceId: t.arg.id({ description: 'About this only: `<Type>:<uuid>`.' }),
    },
    complexity: pageComplexity,
    resolve: (_root, args, context, info) => listOf(context, listWebhookDeliveries, args, info),
  }),
)

const HealthState = builder.enumType('WebhookHealthState', {
  description: 'How a webhook endpoint does.',
  values: {
    HEALTHY: { description: 'Everything goes out.' },
    PAUSED: { description: 'It failed again and again and is left alone for a while.' },
    TRYING: { description: 'One webhook at a time tries it.' },
  } as const,
})

const HealthRef = builder.objectRef<z.output<typeof WebhookHealth>>('WebhookHealth').implement({
  description: 'How the webhook endpoint does.',
  fields: (t) => ({
    url: t.exposeString('url', { nullable: true, description: 'The endpoint; null when none is set.' }),
    state: t.expose('state', { type: HealthState, description: 'How it does.' }),
    failures: t.exposeInt('failures', { description: 'How often it failed in a row, up to now.' }),
    pausedUntil: t.expose('pausedUntil', { type: 'DateTime', nullable: true, description: 'When it will be tried again.' }),
    lastSuccessAt: t.expose('lastSuccessAt', {
      type: 'DateTime',
      nullable: true,
      description: 'When it last acknowledged something.',
    }),
    lastFailureAt: t.expose('lastFailureAt', { type: 'DateTime', nullable: true, description: 'When it last failed.' }),
    lastError: t.exposeString('lastError', { nullable: true, description: 'Why it last failed.' }),
    pending: t.exposeInt('pending', {
      description: 'Webhooks that will be sent, again or for the first time; counted up to 10,000.',
    }),
    oldestPendingAt: t.expose('oldestPendingAt', {
      type: 'DateTime',
      nullable: true,
      description: 'Since when the oldest of them waits.',
    }),
  }),
})

builder.queryField('webhookHealth', (t) =>
  t.field({
    type: HealthRef,
    description: 'How the webhook endpoint of this world does.',
    resolve: (_root, _args, context) => askCore(context, getWebhookHealth, {}),
  }),
)

addMutation('redeliverWebhook', {
  description: 'Sends a webhook once more, with the same id and body, to the endpoint as it now is.',
  operation: redeliverWebhook,
  input: builder.inputType('RedeliverWebhookInput', {
    description: 'What to send once more.',
    fields: (t) => ({ webhookId: t.id({ required: true, description: '`Webhook:<uuid>`' }) }),
  }),
  result: { field: 'delivery', type: DeliveryRef, description: 'It, on its way.', of: (delivery: WebhookDelivery) => delivery },
})

const RedeliveredRef = builder.objectRef<{ redelivered: number }>('RedeliveredWebhooks').implement({
  description: 'Webhooks that are on their way once more.',
  fields: (t) => ({ count: t.exposeInt('redelivered', { description: 'How many they are.' }) }),
})

addMutation('redeliverWebhooks', {
  description: 'Sends everything once more that happened after a cursor: acknowledged, given up or never sent.',
  operation: redeliverWebhooks,
  input: builder.inputType('RedeliverWebhooksInput', {
    description: 'Where to begin.',
    fields: (t) => ({ after: t.string({ required: true, description: 'Cursor of the last event that is not wanted.' }) }),
  }),
  result: { field: 'redelivered', type: RedeliveredRef, description: 'How many.', of: (reply: { redelivered: number }) => reply },
})

type Tested = z.output<typeof testWebhook.output>

const TestedRef = builder.objectRef<Tested>('TestedWebhook').implement({
  description: 'What the endpoint answered to a TEST.',
  fields: (t) => ({
    url: t.exposeString('url', { description: 'The endpoint.' }),
    responseStatus: t.exposeInt('response_status', { description: 'Status of the answer.' }),
    responseBody: t.exposeString('response_body', { description: 'The beginning of the answer.' }),
  }),
})

addMutation('testWebhook', {
  description: 'Sends a TEST to the endpoint and waits for its answer.',
  operation: testWebhook,
  result: { field: 'answer', type: TestedRef, description: 'What it answered.', of: (tested: Tested) => tested },
})

addMutation('rotateWebhookKey', {
  description: 'Publishes a new signing key, which signs after an overlap. Old ones stay published.',
  operation: rotateWebhookKey,
  input: builder.inputType('RotateWebhookKeyInput', {
    description: 'When the new key begins to sign.',
    fields: (t) => ({
      overlapSeconds: t.int({ description: 'In so many seconds; a day unless said otherwise. 0: at once.' }),
      idempotencyKey: t.string({ description: idempotencyKeyDescription }),
    }),
  }),
  result: { field: 'key', type: WebhookKeyRef, description: 'The new key.', of: (key: WebhookKey) => key },
})
