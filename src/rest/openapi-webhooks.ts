/** Webhooks as `openapi.json` describes them: what each tells, in either form, and what the platform's answer means. */
import { z } from 'zod'
import { ExternalAccount } from '../core/accounts/external.ts'
import { BulkJob } from '../core/bulk-import/job.ts'
import { kycStatuses } from '../core/customers/customer.ts'
import type { eventTypes } from '../core/events/read-events.ts'
import { money } from '../core/input.ts'
import { Invitation } from '../core/invitations/invitation.ts'
import { Transaction } from '../core/transactions/transaction.ts'
import { type Json, schemaOf } from './openapi-schemas.ts'

interface Told {
  says: string
  payload: z.ZodObject
  /** The same under `data`, and what the type says there. */
  nested: { types: readonly [string, ...string[]]; data: z.ZodType }
}

const external = z.object({
  accountId: z.string(),
  platformAccountId: z.string().optional(),
  ...ExternalAccount.pick({ status: true, currency: true, accountInfo: true }).shape,
})
const ofCustomer = { customerId: z.string().optional(), platformCustomerId: z.string().optional() }
const balance = z.object({ accountId: z.string(), oldBalance: money.optional(), newBalance: money.optional(), ...ofCustomer })
const requested = {
  requestedReceiverUserInfoFields: z.array(z.object({ name: z.string(), mandatory: z.boolean() })).optional(),
}
const decision = z.object({ customerId: z.string(), kycStatus: z.enum(kycStatuses), platformCustomerId: z.string() })

const paymentTypes = (type: string): [string, ...string[]] => [
  `${type}.PENDING`,
  ...['PROCESSING', 'SENT', 'COMPLETED', 'REJECTED', 'FAILED', 'REFUNDED', 'EXPIRED'].map((status) => `${type}.${status}`),
]

const told: Readonly<Record<(typeof eventTypes)[number], Told>> = {
  TEST: {
    says: 'The webhook endpoint was set, or /webhooks/test was called.',
    payload: z.object({ test: z.literal(true) }),
    nested: { types: ['TEST'], data: z.object({ test: z.literal(true) }) },
  },
  INCOMING_PAYMENT: {
    says: 'An incoming payment has a new state. PENDING asks whether it may: 200 approves (with receiverUserInfo where fields were requested), 202 defers to /approve and /reject, 403 rejects.',
    payload: z.object({ transaction: Transaction, ...requested }),
    nested: { types: paymentTypes('INCOMING_PAYMENT'), data: Transaction.extend(requested) },
  },
  OUTGOING_PAYMENT: {
    says: 'An outgoing payment has a new state.',
    payload: z.object({ transaction: Transaction }),
    nested: { types: paymentTypes('OUTGOING_PAYMENT'), data: Transaction },
  },
  ACCOUNT_STATUS: {
    says: 'The balance of an internal account changed; or an external account was linked, which then stands under account.',
    payload: z.object({ ...balance.partial({ accountId: true }).shape, account: external.optional() }),
    nested: {
      types: [
        'INTERNAL_ACCOUNT.BALANCE_UPDATED',
        ...['PENDING', 'ACTIVE', 'UNDER_REVIEW', 'INACTIVE'].map((status) => `EXTERNAL_ACCOUNT.${status}`),
      ],
      data: z.union([external.extend({ customerId: z.string().optional() }), balance]),
    },
  },
  KYC_STATUS: {
    says: 'The verification of a customer came to a final decision.',
    payload: decision,
    nested: {
      types: kycStatuses.map((status) => `CUSTOMER.KYC_${status}`) as [string, ...string[]],
      data: decision,
    },
  },
  INVITATION_CLAIMED: {
    says: 'An invitation was claimed; told to the platform of the inviter.',
    payload: z.object({ invitation: Invitation }),
    nested: { types: ['INVITATION.CLAIMED'], data: Invitation },
  },
  BULK_UPLOAD: {
    says: 'A file of customers has been imported, or could not be.',
    payload: z.object({ bulkCustomerImportJob: BulkJob }),
    nested: { types: ['BULK_UPLOAD.COMPLETED', 'BULK_UPLOAD.FAILED'], data: BulkJob },
  },
}

const responses = {
  '2XX': { description: 'It has arrived.' },
  '409': { description: 'It has arrived before.' },
  default: {
    description:
      'It is sent again later, for up to seven days; a TEST and a PENDING incoming payment are not. Retry-After is respected.',
  },
}

const signature = {
  name: 'X-Service-Signature',
  in: 'header',
  required: true,
  description:
    '`{"v": "<key version>", "s": "<base64>"}`: ECDSA P-256 over the SHA-256 of the raw body, DER; keys at GET /webhooks/keys.',
  schema: { type: 'string' },
}

function webhookOf(type: string, { says, payload, nested }: Told): Json {
  const flat = z.object({
    type: z.literal(type),
    webhookId: z.string().meta({ description: 'To tell a repeat.' }),
    timestamp: z.string(),
    ...payload.shape,
  })
  const underData = z.object({ id: z.string(), type: z.enum(nested.types), timestamp: z.string(), data: nested.data })
  return {
    post: {
      operationId: `on${type
        .split('_')
        .map((word) => `${word.charAt(0)}${word.slice(1).toLowerCase()}`)
        .join('')}`,
      summary: says,
      tags: ['webhooks'],
      security: [],
      parameters: [signature],
      requestBody: {
        required: true,
        content: {
          'application/json': {
            schema: {
              oneOf: [
                { title: 'FLAT', ...schemaOf(flat) },
                { title: 'NESTED, where the configuration says so', ...schemaOf(underData) },
              ],
            },
          },
        },
      },
      responses,
    },
  }
}

export function describedWebhooks(): Json {
  return Object.fromEntries(Object.entries(told).map(([type, one]) => [type, webhookOf(type, one)]))
}
