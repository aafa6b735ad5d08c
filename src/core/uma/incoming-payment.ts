/** Somebody elsewhere pays a customer by UMA address: the payment as it waits for the platform's word, and how it asks for it. */
import { DomainError } from '../../base/refusal.ts'
import type { Queryable } from '../../database/port.ts'
import {
  type ApprovalRow,
  type CustomerRow,
  type ExternalAccountRow,
  type InternalAccountRow,
  selectList,
  type TransactionRow,
} from '../../database/tables.ts'
import { withBalance } from '../accounts/internal.ts'
import { requireInRange } from '../accounts/payable.ts'
import { approvalDeadline, expiryTask } from '../approvals/approval.ts'
import { requireReady } from '../customers/customer.ts'
import { knownPersonData } from '../customers/person-data.ts'
import { requireProviderFields } from '../customers/provider-fields.ts'
import type { Moment } from '../operation.ts'
import { selectionOf } from '../page.ts'
import type { World } from '../platform/world.ts'
import { begin } from '../transactions/moves.ts'
import { newTransactionDefaults, paymentChanged } from '../transactions/transaction.ts'

export interface IncomingParties {
  world: World
  customer: CustomerRow
  /** The customer's own account for such payments, where one is set and in use. */
  external: ExternalAccountRow | undefined
  internal: InternalAccountRow | undefined
}

export interface IncomingWanted {
  /** Of who pays, in its stored form. */
  senderAddress: string
  currency: string
  /** Smallest unit of `currency`. */
  amount: bigint
  /** What is known of who pays, by the specification's names. */
  counterpartyInformation: Readonly<Record<string, string>>
  /** What the payer's provider wants to know of who is paid. */
  requested: readonly { name: string; mandatory: boolean }[]
}

export async function accountsFor(
  database: Queryable,
  { id, worldId }: CustomerRow,
  currency: string,
): Promise<Pick<IncomingParties, 'external' | 'internal'>> {
  const [[external], [internal]] = await Promise.all([
    database.query<ExternalAccountRow>(
      `select ${selectList('external_account', 't')} from external_account t
       where t.world_id = $1 and t.customer_id = $2 and t.currency = $3 and t.default_uma_deposit_account and t.status = 'ACTIVE'
       order by t.created_at desc, t.id desc limit 1`,
      [worldId, id, currency],
    ),
    database.query<InternalAccountRow>(
      `select ${selectionOf(withBalance)} from ${withBalance.from} where t.world_id = $1 and t.customer_id = $2 and t.currency = $3`,
      [worldId, id, currency],
    ),
  ])
  return { external, internal }
}

/**
 * What there is to write: the payment, PENDING, and that its platform is asked. Refuses USER_NOT_READY, MISSING_MANDATORY_USER_INFO for a
 * receiver whom the providers of the currency do not know well enough, INVALID_CURRENCY,
 * AMOUNT_OUT_OF_RANGE, WEBHOOK_ENDPOINT_NOT_SET unless the platform approves by calls.
 */
export function askForApproval(
  wanted: IncomingWanted,
  parties: IncomingParties,
  moment: Moment,
  fields: { currency: string; amount: string },
) {
  const { world, customer, external } = parties
  requireReady(customer)
  requireProviderFields(world, wanted.currency, customer, moment.rails, fields.currency)
  requireInRange(world, 'INCOMING', wanted.currency, wanted.amount, fields)
  if (world.incomingPaymentApproval === 'WEBHOOK' && world.webhookEndpoint === null) {
    throw new DomainError('WEBHOOK_ENDPOINT_NOT_SET', 'Set a webhookEndpoint, or let incomingPaymentApproval be API')
  }
  const transaction = newPayment(wanted, parties, moment, fields.currency)
  const approval = newApproval(wanted, transaction, parties, moment)
  return {
    transaction,
    approval,
    plan: {
      guard: { customer: [customer], external_account: external ? [external] : [] },
      insert: { transaction: [transaction], approval: [approval], task: [expiryTask(approval)] },
      events: [approvalRequested(transaction, approval)],
    },
  }
}

function newPayment(
  { senderAddress, currency, amount, counterpartyInformation }: IncomingWanted,
  { world, customer, external, internal }: IncomingParties,
  { now, newId }: Moment,
  field: string,
): TransactionRow {
  const account = external ?? internal
  if (!account) throw new DomainError('INVALID_CURRENCY', `The customer has no account in ${currency}`, { field })
  return {
    ...newTransactionDefaults(now),
    ...begin('receive', now),
    id: newId(),
    worldId: world.id,
    type: 'INCOMING',
    customerId: customer.id,
    platformCustomerId: customer.platformCustomerId,
    sourceType: 'UMA_ADDRESS',
    sourceAccountId: null,
    sourceUmaAddress: senderAddress,
    // It is here that the other provider hands it over: what was exchanged before is theirs.
    sourceCurrency: currency,
    destinationType: external ? 'EXTERNAL_ACCOUNT' : 'INTERNAL_ACCOUNT',
    destinationAccountId: account.id,
    destinationUmaAddress: customer.umaAddress,
    destinationCurrency: currency,
    sentAmount: amount,
    receivedAmount: amount,
    counterpartyInformation,
  }
}

/** Asks the platform for what the other provider wants to know and we do not hold. */
function newApproval(
  { requested }: IncomingWanted,
  { id: transactionId, worldId }: TransactionRow,
  { world, customer }: IncomingParties,
  { now, newId }: Moment,
): ApprovalRow {
  const held = knownPersonData(customer)
  return {
    id: newId(),
    worldId,
    transactionId,
    requestedFields: requested.filter(({ name }) => held[name] === undefined).map(({ name, mandatory }) => ({ name, mandatory })),
    deadline: approvalDeadline(world, now),
    decidedBy: null,
    reason: null,
    receiverUserInfo: null,
    createdAt: now,
    updatedAt: now,
    version: 1,
  }
}

/** INCOMING_PAYMENT that asks for the platform's word. */
function approvalRequested(transaction: TransactionRow, { requestedFields, deadline }: ApprovalRow) {
  const event = paymentChanged(transaction)
  const asked = requestedFields as unknown[]
  return {
    ...event,
    payload: {
      ...event.payload,
      ...(asked.length > 0 ? { requestedReceiverUserInfoFields: asked } : {}),
      approvalDeadline: deadline.toISOString(),
    },
  }
}
