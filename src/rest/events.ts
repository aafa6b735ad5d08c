import {
  getWebhookDelivery,
  getWebhookHealth,
  listWebhookDeliveries,
  redeliverWebhook,
  redeliverWebhooks,
} from '../core/events/deliveries.ts'
import { listEvents } from '../core/events/read-events.ts'
import { testWebhook } from '../core/events/test-webhook.ts'
import { listWebhookKeys, rotateWebhookKey } from '../core/platform/signing-keys.ts'
import type { Route } from './route.ts'

/** Besides /webhooks/test the specification has none of these. */
export const eventRoutes: readonly Route[] = [
  { method: 'GET', path: '/events', asks: listEvents, status: 200 },
  { method: 'POST', path: '/webhooks/test', asks: testWebhook, status: 200 },
  { method: 'GET', path: '/webhooks/keys', asks: listWebhookKeys, status: 200 },
  { method: 'POST', path: '/webhooks/keys', asks: rotateWebhookKey, status: 201 },
  { method: 'GET', path: '/webhooks/health', asks: getWebhookHealth, status: 200 },
  { method: 'GET', path: '/webhooks/deliveries', asks: listWebhookDeliveries, status: 200 },
  { method: 'GET', path: '/webhooks/deliveries/:webhookId', asks: getWebhookDelivery, status: 200 },
  { method: 'POST', path: '/webhooks/deliveries/:webhookId/redeliver', asks: redeliverWebhook, status: 202 },
  { method: 'POST', path: '/webhooks/redeliver', asks: redeliverWebhooks, status: 202 },
]
