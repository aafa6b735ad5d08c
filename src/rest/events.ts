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
  { method: 'GET', path: '/events', asks: listEvents, says: 'The log of everything that happened, by cursor', status: 200 },
  {
    method: 'POST',
    path: '/webhooks/test',
    asks: testWebhook,
    says: 'Send a TEST to the webhook endpoint and wait for its answer',
    status: 200,
  },
  { method: 'GET', path: '/webhooks/keys', asks: listWebhookKeys, says: 'The keys that webhooks are verified with', status: 200 },
  { method: 'POST', path: '/webhooks/keys', asks: rotateWebhookKey, says: 'Publish a new signing key', status: 201 },
  { method: 'GET', path: '/webhooks/health', asks: getWebhookHealth, says: 'How the webhook endpoint does', status: 200 },
  { method: 'GET', path: '/webhooks/deliveries', asks: listWebhookDeliveries, says: 'What became of webhooks', status: 200 },
  {
    method: 'GET',
    path: '/webhooks/deliveries/:webhookId',
    asks: getWebhookDelivery,
    says: 'A webhook with its body and every attempt',
    status: 200,
  },
  {
    method: 'POST',
    path: '/webhooks/deliveries/:webhookId/redeliver',
    asks: redeliverWebhook,
    says: 'Send a webhook once more',
    status: 202,
  },
  {
    method: 'POST',
    path: '/webhooks/redeliver',
    asks: redeliverWebhooks,
    says: 'Send everything once more since a cursor',
    status: 202,
  },
]
