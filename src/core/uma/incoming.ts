/**
 * Pay requests of other providers for a customer of ours: described before (lnurlp), asked of the platform, settled between the providers, or
 * not in time. A pay request is a payment, PENDING until it is settled.
 */
import { z } from 'zod'
import { DomainError } from '../../base/refusal.ts'
import { wholeWorld } from '../../database/sight.ts'
import type { CustomerRow, PayRequestRow, TransactionRow } from '../../database/tables.ts'
import type { UmaCurrency } from '../../rails/port.ts'
import { approvalsByTransaction } from '../approvals/approval.ts'
import { customersById } from '../customers/customer.ts'
import { knownPersonData } from '../customers/person-data.ts'
import { amountUpTo, currencyCode } from '../input.ts'
import { type Core, operation, perform, serviceCaller } from '../operation.ts'
import type { World } from '../platform/world.ts'
import { changed, historyOf, movePayment, tell } from '../transactions/moves.ts'
import { payTask, transactionsById } from '../transactions/transaction.ts'
import { handedOver } from './handed-over.ts'
import { accountsFor, askForApproval } from './incoming-payment.ts'
import { millisatoshisPerUnit } from './millisatoshis.ts'
import { payRequestOf } from './pay-request.ts'

/** What a customer can be paid in, the first one first; amounts in the smallest unit. */
export async function receivableCurrencies(core: Core, world: World): Promise<Required<UmaCurrency>[]> {
  const taken = world.supportedCurrencies.filter(({ enabledTransactionTypes: types }) => types.includes('INCOMING'))
  const described = taken.map(async ({ currencyCode: currency, minAmount, maxAmount }) => ({
    currency,
    min: BigInt(minAmount),
    max: BigInt(maxAmount),
    millisatoshis: await millisatoshisPerUnit(core.rates, currency),
  }))
  return (await Promise.all(described)).filter((one): one is Required<UmaCurrency> => one.millisatoshis !== undefined)
}

/** What the platform must know of whoever pays, in a currency or in any. */
export function counterpartyFieldsOf({ supportedCurrencies }: World, currency?: string): { name: string; mandatory: boolean }[] {
  const fields = new Map<string, boolean>()
  for (const support of supportedCurrencies) {
    if (currency !== undefined && support.currencyCode !== currency) continue
    for (const { name, mandatory } of support.requiredCounterpartyFields) fields.set(name, mandatory || fields.get(name) === true)
  }
  return [...fields].map(([name, mandatory]) => ({ name, mandatory }))
}

const fields = z.array(z.object({ name: z.string(), mandatory: z.boolean() }))

/** Refuses USER_NOT_FOUND and as `askForApproval`. The reply says which payment waits now, and what it costs to settle it. */
export const receivePayRequest = operation({
  name: 'receivePayRequest',
  permission: 'TRANSACT',
  input: z.object({
    customerId: z.uuid(),
    senderAddress: z.string(),
    counterpartyDomain: z.string(),
    majorVersion: z.int(),
    currency: currencyCode,
    amount: amountUpTo(),
    millisatoshis: z.bigint(),
    multiplier: z.string(),
    counterpartyInformation: z.record(z.string(), z.string()),
    requested: fields,
  }),
  output: z.object({ transactionId: z.string(), invoice: z.string() }),
  async load({ database, worlds }, caller, { customerId, currency }) {
    const [[customer], world] = await Promise.all([customersById(database, caller, [customerId]), worlds.get(caller.worldId)])
    if (!customer) throw new DomainError('USER_NOT_FOUND', 'There is no such customer')
    return { customer, world: world!, ...(await accountsFor(database, customer, currency)) }
  },
  decide(wanted, parties, moment) {
    const { transaction, plan } = askForApproval(wanted, parties, moment, { currency: 'currency', amount: 'amount' })
    const { counterpartyDomain, majorVersion, multiplier, millisatoshis } = wanted
    const request: PayRequestRow = {
      id: transaction.id,
      worldId: transaction.worldId,
      counterpartyDomain,
      majorVersion,
      multiplier,
      payerData: null,
      callbackUrl: null,
      travelRule: false,
      askedAt: null,
      invoice: transaction.reference,
      millisatoshis,
      settlementUrl: null,
      settleBy: null,
      createdAt: moment.now,
      updatedAt: moment.now,
      version: 1,
    }
    return {
      ...plan,
      reply: { transactionId: transaction.id, invoice: transaction.reference },
      insert: { ...plan.insert, pay_request: [request] },
    }
  },
})

export type ApprovalState =
  | { kind: 'waiting' }
  /** What is known of the receiver of what was asked for. */
  | { kind: 'approved'; payee: Readonly<Record<string, string>> }
  | { kind: 'rejected' }
  | { kind: 'undecided' }

/** How the platform has decided on a pay request up to now. */
export async function approvalState(core: Core, customer: CustomerRow, transactionId: string): Promise<ApprovalState> {
  const sight = wholeWorld(customer.worldId)
  const [[transaction], [asked]] = await Promise.all([
    transactionsById(core.database, sight, [transactionId]),
    approvalsByTransaction(core.database, sight, [transactionId]),
  ])
  const { approval } = asked!
  switch (transaction!.status) {
    case 'PENDING':
      return approval.decidedBy === null
        ? { kind: 'waiting' }
        : { kind: 'approved', payee: knownPersonData(customer, (approval.receiverUserInfo ?? {}) as Record<string, string>) }
    case 'REJECTED':
      return { kind: 'rejected' }
    default:
      return { kind: 'undecided' }
  }
}

interface Settling {
  request: PayRequestRow
  transaction: TransactionRow
  approved: boolean
}

async function loadSettling({ database }: Core, worldId: string, id: string): Promise<Settling | undefined> {
  const sight = wholeWorld(worldId)
  const [request, [transaction], [asked]] = await Promise.all([
    payRequestOf({ database }, id),
    transactionsById(database, sight, [id]),
    approvalsByTransaction(database, sight, [id]),
  ])
  if (!request || !transaction || !asked) return undefined
  return { request, transaction, approved: asked.approval.decidedBy !== null }
}

/**
 * The other provider has paid the invoice: the money is in flight from here on, as with any payment. Said twice it is one payment; the reply
 * says whether it is, or was, taken.
 */
export const settlePayRequest = operation({
  name: 'settlePayRequest',
  permission: 'TRANSACT',
  input: z.object({
    transactionId: z.uuid(),
    counterpartyDomain: z.string().optional(),
    invoice: z.string(),
    millisatoshis: z.bigint(),
  }),
  output: z.object({ taken: z.boolean() }),
  load: (core, { worldId }, { transactionId }) => loadSettling(core, worldId, transactionId),
  decide({ counterpartyDomain, invoice, millisatoshis }, loaded, moment) {
    if (!loaded) return { reply: { taken: false } }
    const { request, transaction, approved } = loaded
    const theirs = counterpartyDomain === undefined || counterpartyDomain === request.counterpartyDomain
    if (!theirs || invoice !== request.invoice || millisatoshis < request.millisatoshis!) return { reply: { taken: false } }
    if (transaction.status !== 'PENDING') return { reply: { taken: wasFunded(transaction) } }
    if (!approved || moment.timing === 'late') return { reply: { taken: false } }
    const { funded, deposit, entries, events } = handedOver(transaction, moment)
    return {
      reply: { taken: true },
      before: request.settleBy!,
      update: { transaction: [funded] },
      // The task beside the one that waits for the end of its time.
      insert: { deposit: [deposit], task: [{ ...payTask(transaction), id: moment.newId() }] },
      entries,
      events,
    }
  },
})

/** A rail has seen it paid. */
export async function settleInvoice(
  core: Core,
  worldId: string,
  paid: { invoice: string; millisatoshis: bigint },
): Promise<boolean> {
  const [row] = await core.database.query<{ id: string }>('select id from transaction where world_id = $1 and reference = $2', [
    worldId,
    paid.invoice,
  ])
  if (!row) return false
  const caller = await serviceCaller(core, worldId)
  const { taken } = await perform(core, settlePayRequest, { caller }, { transactionId: row.id, ...paid })
  return taken
}

function wasFunded(transaction: TransactionRow): boolean {
  return historyOf(transaction).some(({ status }) => status === 'PROCESSING')
}

/** Approved, and nobody paid in time. Harmless at any other moment. */
const expirePayRequest = operation({
  name: 'expirePayRequest',
  permission: 'TRANSACT',
  input: z.object({ transactionId: z.uuid() }),
  output: z.object({ againInMs: z.number().optional() }),
  load: (core, { worldId }, { transactionId }) => loadSettling(core, worldId, transactionId),
  decide(_input, loaded, moment) {
    if (loaded?.transaction.status !== 'PENDING' || loaded.request.settleBy === null) return { reply: {} }
    const { settleBy } = loaded.request
    if (moment.timing === 'early') return { reply: { againInMs: Math.max(settleBy.getTime() - moment.now.getTime(), 50) } }
    const before = { transaction: loaded.transaction, quote: undefined }
    const after = movePayment(before, 'expire', moment.now, { failureReason: 'QUOTE_EXPIRED' })
    return { reply: {}, notBefore: settleBy, update: changed(before, after), events: tell('expire', after) }
  },
})

/** Run by the payment's task when the time for settling is over. */
export async function expireUnsettled(
  core: Core,
  worldId: string,
  transactionId: string,
): Promise<{ againInMs: number } | undefined> {
  const { againInMs } = await perform(core, expirePayRequest, { caller: await serviceCaller(core, worldId) }, { transactionId })
  return againInMs === undefined ? undefined : { againInMs }
}
