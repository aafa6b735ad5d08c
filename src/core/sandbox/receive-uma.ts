/** Sandbox: somebody at another provider pays one of the platform's customers by UMA address. */

import { z } from 'zod'
import { DomainError } from '../../base/refusal.ts'
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
import { customerByUmaAddress, customersById, requireReady } from '../customers/customer.ts'
import { requireUmaAddress } from '../customers/uma-address.ts'
import { amountUpTo, currencyCode, idOf, text } from '../input.ts'
import { type Moment, operation } from '../operation.ts'
import { selectionOf } from '../page.ts'
import { supportOf, type World } from '../platform/world.ts'
import { begin } from '../transactions/moves.ts'
import { newTransactionDefaults, paymentChanged, Transaction, toTransaction } from '../transactions/transaction.ts'

/** What the simulated provider tells of who pays, as far as the platform requires it of counterparties. */
const sender: Readonly<Record<string, string>> = {
  FULL_NAME: 'Sandbox Sender',
  BIRTH_DATE: '1990-01-01',
  NATIONALITY: 'US',
  COUNTRY_OF_RESIDENCE: 'US',
  ADDRESS: '1 Sandbox Street, Springfield, US',
  PHONE_NUMBER: '+15550100000',
  EMAIL: 'sender@example.com',
  TAX_ID: '000-00-0000',
  BUSINESS_NAME: 'Sandbox Sender Ltd',
}

interface Parties {
  world: World
  /** Of who pays, in its stored form. */
  senderAddress: string
  customer: CustomerRow
  /** The customer's own account for such payments, where one is set and in use. */
  external: ExternalAccountRow | undefined
  internal: InternalAccountRow | undefined
}

/**
 * The reply is the payment as it waits for the platform's approval (PENDING). Approved, it is credited to the customer's default UMA deposit
 * account in that currency, or to their internal account. Spec silent: the simulated provider wants to know the receiver's name, which is
 * requested only where we do not hold it, and their nationality if it can be had. Refuses UMA_NOT_FOUND for a sender or receiver that does
 * not exist, USER_NOT_FOUND, USER_NOT_READY, INVALID_CURRENCY, AMOUNT_OUT_OF_RANGE, WEBHOOK_ENDPOINT_NOT_SET unless the platform approves by
 * calls; FORBIDDEN with production credentials.
 */
export const receiveUma = operation({
  name: 'receiveUma',
  permission: 'TRANSACT',
  sandboxOnly: true,
  refuses: [
    'INVALID_UMA_ADDRESS',
    'INVALID_CURRENCY',
    'INVALID_AMOUNT',
    'AMOUNT_OUT_OF_RANGE',
    'WEBHOOK_ENDPOINT_NOT_SET',
    'USER_NOT_READY',
    'UMA_NOT_FOUND',
    'USER_NOT_FOUND',
  ],
  input: z
    .object({
      senderUmaAddress: text(300),
      receiverUmaAddress: text(300).optional(),
      customerId: idOf('Customer').optional(),
      receivingCurrencyCode: currencyCode,
      receivingCurrencyAmount: amountUpTo(),
    })
    .refine(({ receiverUmaAddress, customerId }) => receiverUmaAddress !== undefined || customerId !== undefined, {
      path: ['receiverUmaAddress'],
      error: 'expected the address of the customer who is paid',
    }),
  output: Transaction,
  async load({ database, worlds, rails }, caller, input): Promise<Parties> {
    const { worldId, environment } = caller
    const senderAddress = requireUmaAddress(input.senderUmaAddress, 'senderUmaAddress')
    const receiverAddress = input.receiverUmaAddress && requireUmaAddress(input.receiverUmaAddress, 'receiverUmaAddress')
    const [world, known, [byId], byAddress] = await Promise.all([
      worlds.get(worldId),
      rails[environment]?.receiver(senderAddress),
      input.customerId === undefined ? [] : customersById(database, caller, [input.customerId]),
      receiverAddress === undefined ? undefined : customerByUmaAddress(database, caller, receiverAddress),
    ])
    if (!known) throw addressNotFound('senderUmaAddress', senderAddress)
    if (input.customerId !== undefined && !byId) {
      throw new DomainError('USER_NOT_FOUND', 'There is no such customer', { field: 'customerId' })
    }
    if (receiverAddress !== undefined && (!byAddress || byAddress.isDeleted || (byId && byId.id !== byAddress.id))) {
      throw addressNotFound('receiverUmaAddress', receiverAddress)
    }
    const customer = (byAddress ?? byId)!
    const [[external], [internal]] = await Promise.all([
      database.query<ExternalAccountRow>(
        `select ${selectList('external_account', 't')} from external_account t
         where t.world_id = $1 and t.customer_id = $2 and t.currency = $3 and t.default_uma_deposit_account and t.status = 'ACTIVE'
         order by t.created_at desc, t.id desc limit 1`,
        [worldId, customer.id, input.receivingCurrencyCode],
      ),
      database.query<InternalAccountRow>(
        `select ${selectionOf(withBalance)} from ${withBalance.from} where t.world_id = $1 and t.customer_id = $2 and t.currency = $3`,
        [worldId, customer.id, input.receivingCurrencyCode],
      ),
    ])
    return { world: world!, senderAddress, customer, external, internal }
  },
  decide(input, parties, moment) {
    const { world, customer, external } = parties
    const { receivingCurrencyCode: currency, receivingCurrencyAmount: amount } = input
    requireReady(customer)
    requireInRange(world, 'INCOMING', currency, amount, { currency: 'receivingCurrencyCode', amount: 'receivingCurrencyAmount' })
    if (world.incomingPaymentApproval === 'WEBHOOK' && world.webhookEndpoint === null) {
      throw new DomainError('WEBHOOK_ENDPOINT_NOT_SET', 'Set a webhookEndpoint, or let incomingPaymentApproval be API')
    }
    const transaction = newPayment(input, parties, moment)
    const approval = newApproval(transaction, parties, moment)
    return {
      reply: toTransaction(transaction),
      guard: { customer: [customer], external_account: external ? [external] : [] },
      insert: { transaction: [transaction], approval: [approval], task: [expiryTask(approval)] },
      events: [approvalRequested(transaction, approval)],
    }
  },
})

function addressNotFound(field: string, value: string): DomainError {
  return new DomainError('UMA_NOT_FOUND', `${field}: there is no such UMA address`, { field, value })
}

function newPayment(
  {
    receivingCurrencyCode: currency,
    receivingCurrencyAmount: amount,
  }: {
    receivingCurrencyCode: string
    receivingCurrencyAmount: bigint
  },
  { world, senderAddress, customer, external, internal }: Parties,
  { now, newId }: Moment,
): TransactionRow {
  const account = external ?? internal
  if (!account)
    throw new DomainError('INVALID_CURRENCY', `The customer has no account in ${currency}`, { field: 'receivingCurrencyCode' })
  const required = supportOf(world, currency)?.requiredCounterpartyFields ?? []
  const told = ['FULL_NAME', ...required.map(({ name }) => name)].filter((name) => sender[name] !== undefined)
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
    counterpartyInformation: Object.fromEntries(told.map((name) => [name, sender[name]!])),
  }
}

function newApproval(
  { id: transactionId, worldId }: TransactionRow,
  { world, customer }: Parties,
  { now, newId }: Moment,
): ApprovalRow {
  const individual = customer.customerType === 'INDIVIDUAL'
  const business = customer.businessInfo as { legalName?: string } | null
  const wanted = [
    individual
      ? { name: 'FULL_NAME', mandatory: true, held: customer.fullName !== null }
      : { name: 'BUSINESS_NAME', mandatory: true, held: business?.legalName !== undefined },
    { name: 'NATIONALITY', mandatory: false, held: !individual || customer.nationality !== null },
  ]
  return {
    id: newId(),
    worldId,
    transactionId,
    requestedFields: wanted.filter(({ held }) => !held).map(({ name, mandatory }) => ({ name, mandatory })),
    deadline: approvalDeadline(world, now),
    decidedBy: null,
    reason: null,
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
