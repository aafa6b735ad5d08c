/** Same-currency transfers: out of an internal account to an external one, and in from an external account that money can be pulled from. */
import { z } from 'zod'
import { toId } from '../../base/ids.ts'
import { DomainError } from '../../base/refusal.ts'
import type { CustomerRow, ExternalAccountRow, InternalAccountRow, TransactionRow } from '../../database/tables.ts'
import { endOfFlight, intoFlight } from '../../ledger/entry.ts'
import { externalAccountsById } from '../accounts/external.ts'
import { balanceChanged, internalAccountsById, ownersOfInternalAccounts } from '../accounts/internal.ts'
import { accountNotFound, requireActive, requireInRange, requirePullable, requireSent } from '../accounts/payable.ts'
import { requireReady } from '../customers/customer.ts'
import { requireProviderFields } from '../customers/provider-fields.ts'
import { amountUpTo, idOf, remittanceInformation, text } from '../input.ts'
import { type Caller, type Core, type Moment, operation } from '../operation.ts'
import type { World } from '../platform/world.ts'
import { begin, movePayment, tell } from './moves.ts'
import { newTransactionDefaults, payTask, Transaction, toTransaction } from './transaction.ts'

const common = { description: text(500).optional() }

interface Parties {
  world: World
  internal: InternalAccountRow
  external: ExternalAccountRow
  /** The internal account's; none for the platform's own. */
  customer: CustomerRow | undefined
}

/**
 * The amount leaves the balance at once and is paid out by the rail. Without an amount it is the whole balance. The reply is the transaction
 * as it was created (CREATED). Refuses ACCOUNT_NOT_FOUND, INVALID_CURRENCY, INVALID_AMOUNT, AMOUNT_OUT_OF_RANGE, INSUFFICIENT_BALANCE,
 * INVALID_BANK_ACCOUNT, USER_NOT_READY, NOT_IMPLEMENTED where no rail carries it.
 */
export const transferOut = operation({
  name: 'transferOut',
  permission: 'TRANSACT',
  forViewers: true,
  refuses: [
    'INVALID_AMOUNT',
    'INVALID_CURRENCY',
    'INVALID_BANK_ACCOUNT',
    'AMOUNT_OUT_OF_RANGE',
    'INSUFFICIENT_BALANCE',
    'USER_NOT_READY',
    'MISSING_MANDATORY_USER_INFO',
    'ACCOUNT_NOT_FOUND',
    'NOT_IMPLEMENTED',
  ],
  input: z.object({
    source: z.object({ accountId: idOf('InternalAccount') }),
    destination: z.object({ accountId: idOf('ExternalAccount') }),
    amount: amountUpTo().optional(),
    remittanceInformation: remittanceInformation.optional(),
    ...common,
  }),
  output: Transaction,
  load: (core, caller, { source, destination }) =>
    loadParties(core, caller, ['source', source.accountId], ['destination', destination.accountId]),
  decide({ amount: wanted, description, remittanceInformation }, parties, moment) {
    const { world, internal, external } = parties
    checkParties(parties, 'destination.accountId', moment)
    requireSent(moment.rails, external.currency, external.accountType, 'destination.accountId')
    const amount = wanted ?? wholeBalance(internal)
    requireInRange(world, 'OUTGOING', internal.currency, amount, { currency: 'source.accountId', amount: 'amount' })
    const created = newTransfer('OUTGOING', parties, amount, { description, remittanceInformation }, moment)
    const funded = movePayment({ transaction: created, quote: undefined }, 'fund', moment.now)
    const { id: transactionId } = created
    const { id: accountId, worldId, currency } = internal
    const entry = intoFlight('DEBIT', worldId, currency, endOfFlight(worldId, currency, accountId), amount)
    return {
      reply: toTransaction(created),
      ...(wanted === undefined ? { wholeBalance: true } : {}),
      guard: guardOf(parties),
      insert: { transaction: [funded.transaction], task: [payTask(funded.transaction)] },
      entries: [{ worldId, transactionId, entry }],
      events: [balanceChanged(internal, transactionId), ...tell('fund', funded)],
    }
  },
})

/**
 * The rail is asked to collect the amount; the balance is credited when it has. The reply is the transaction as it was created (CREATED).
 * Refuses as transferOut does, and INVALID_INPUT for an account that money cannot be pulled from.
 */
export const transferIn = operation({
  name: 'transferIn',
  permission: 'TRANSACT',
  forViewers: true,
  refuses: [
    'INVALID_AMOUNT',
    'INVALID_CURRENCY',
    'INVALID_BANK_ACCOUNT',
    'AMOUNT_OUT_OF_RANGE',
    'USER_NOT_READY',
    'MISSING_MANDATORY_USER_INFO',
    'ACCOUNT_NOT_FOUND',
    'NOT_IMPLEMENTED',
  ],
  input: z.object({
    source: z.object({ accountId: idOf('ExternalAccount') }),
    destination: z.object({ accountId: idOf('InternalAccount') }),
    amount: amountUpTo(),
    ...common,
  }),
  output: Transaction,
  load: (core, caller, { source, destination }) =>
    loadParties(core, caller, ['destination', destination.accountId], ['source', source.accountId]),
  decide({ amount, description }, parties, moment) {
    const { world, internal, external } = parties
    checkParties(parties, 'source.accountId', moment)
    requirePullable(moment.rails, external)
    requireInRange(world, 'INCOMING', internal.currency, amount, { currency: 'destination.accountId', amount: 'amount' })
    const created = newTransfer('INCOMING', parties, amount, { description }, moment)
    const asked = movePayment({ transaction: created, quote: undefined }, 'collect', moment.now)
    return {
      reply: toTransaction(created),
      guard: guardOf(parties),
      insert: { transaction: [asked.transaction], task: [payTask(asked.transaction)] },
      events: tell('collect', asked),
    }
  },
})

type End = readonly [side: 'source' | 'destination', accountId: string]

async function loadParties(
  { database, worlds }: Core,
  caller: Caller,
  [internalSide, internalId]: End,
  [externalSide, externalId]: End,
): Promise<Parties> {
  const [world, [internal], [external], [owner]] = await Promise.all([
    worlds.get(caller.worldId),
    internalAccountsById(database, caller, [internalId]),
    externalAccountsById(database, caller, [externalId]),
    ownersOfInternalAccounts(database, caller, [internalId]),
  ])
  const ends = {
    [internalSide]: internal ?? accountNotFound(`${internalSide}.accountId`, toId('InternalAccount', internalId)),
    [externalSide]: external ?? accountNotFound(`${externalSide}.accountId`, toId('ExternalAccount', externalId)),
  }
  for (const side of ['source', 'destination']) if (ends[side] instanceof DomainError) throw ends[side]
  return { world: world!, internal: internal!, external: external!, customer: owner?.customer }
}

function checkParties({ world, internal, external, customer }: Parties, externalField: string, { rails }: Moment): void {
  if (customer) {
    requireReady(customer)
    const field = externalField === 'destination.accountId' ? 'source.accountId' : 'destination.accountId'
    requireProviderFields(world, internal.currency, customer, rails, field)
  }
  requireActive(external, externalField)
  if (internal.currency !== external.currency) {
    throw new DomainError('INVALID_CURRENCY', 'The accounts are in different currencies: use a quote instead of a transfer', {
      field: 'destination.accountId',
      value: externalField === 'destination.accountId' ? external.currency : internal.currency,
    })
  }
}

function wholeBalance({ balance }: InternalAccountRow): bigint {
  if (balance !== null && balance > 0n) return balance
  throw new DomainError('INSUFFICIENT_BALANCE', 'The source account is empty', { field: 'source.accountId' })
}

function guardOf({ external, customer }: Parties) {
  return { external_account: [external], ...(customer ? { customer: [customer] } : {}) }
}

function newTransfer(
  type: 'INCOMING' | 'OUTGOING',
  { internal, external, customer }: Parties,
  amount: bigint,
  said: { description?: string | undefined; remittanceInformation?: string | undefined },
  { now, newId }: Moment,
): TransactionRow {
  const { worldId, currency } = internal
  const inside = { type: 'INTERNAL_ACCOUNT', id: internal.id } as const
  const outside = { type: 'EXTERNAL_ACCOUNT', id: external.id } as const
  const [from, to] = type === 'OUTGOING' ? [inside, outside] : [outside, inside]
  return {
    ...newTransactionDefaults(now),
    ...begin('create', now),
    id: newId(),
    worldId,
    type,
    customerId: customer?.id ?? null,
    platformCustomerId: customer?.platformCustomerId ?? null,
    sourceType: from.type,
    sourceAccountId: from.id,
    sourceUmaAddress: null,
    sourceCurrency: currency,
    destinationType: to.type,
    destinationAccountId: to.id,
    destinationUmaAddress: null,
    destinationCurrency: currency,
    sentAmount: amount,
    receivedAmount: amount,
    description: said.description ?? null,
    remittanceInformation: said.remittanceInformation ?? null,
  }
}
