/**
 * A platform's word on an incoming payment: whoever speaks first before the deadline decides, by the answer to the webhook or by a call. The
 * deadline is the commit's to judge, so two words at once, or one at the last moment, end one way.
 */
import { z } from 'zod'
import { second } from '../../base/clock.ts'
import { DomainError } from '../../base/refusal.ts'
import { coalesced } from '../../database/coalesce.ts'
import type { Queryable } from '../../database/port.ts'
import {
  type ApprovalRow,
  byIdsInWorld,
  type PayRequestRow,
  selectList,
  type TaskRow,
  type TransactionRow,
  type WorldRow,
} from '../../database/tables.ts'
import { newTask } from '../../log/tasks.ts'
import { idOf, text } from '../input.ts'
import { type Caller, type Core, type Moment, operation } from '../operation.ts'
import { movePayment, tell } from '../transactions/moves.ts'
import { payTask, Transaction, toTransaction, transactionsById } from '../transactions/transaction.ts'
import { handedOver } from '../uma/handed-over.ts'
import { payRequestOf, settlementMs } from '../uma/pay-request.ts'

/** How long a platform has from the moment it is asked, and again from its 202. */
const windowMs = 5 * second
/** Spec silent: how much longer it may take where a webhook has to reach it first. */
const deliveryMs = 5 * second

export const RequestedField = z.object({ name: z.string(), mandatory: z.boolean() })

type RequestedField = z.output<typeof RequestedField>

export function approvalDeadline({ incomingPaymentApproval }: Pick<WorldRow, 'incomingPaymentApproval'>, now: Date): Date {
  return new Date(now.getTime() + windowMs + (incomingPaymentApproval === 'WEBHOOK' ? deliveryMs : 0))
}

/** What the payer's provider asked to know, as it was stored. */
export function requestedFieldsOf({ requestedFields }: ApprovalRow): RequestedField[] {
  return requestedFields as unknown as RequestedField[]
}

/** Takes a payment further that nobody decides on in time. */
export function expiryTask({ id, worldId, deadline }: ApprovalRow): TaskRow {
  return newTask('expire-approval', worldId, id, deadline)
}

export const approvalsByTransaction = coalesced<{ id: string; approval: ApprovalRow; customerId: string | null }>(
  async (database, worldId, ids) => {
    const rows = await database.query<ApprovalRow & { customerId: string | null }>(
      `select ${selectList('approval', 'a')}, t.customer_id as "customerId" from approval a join transaction t on t.id = a.transaction_id
     where a.transaction_id = any($2::uuid[]) and (a.world_id = $1) is true`,
      [worldId, ids],
    )
    return rows.map(({ customerId, ...approval }) => ({ id: approval.transactionId, approval, customerId }))
  },
  ({ customerId }) => customerId,
)

interface Asked {
  transaction: TransactionRow
  /** Of payments that need one. */
  approval: ApprovalRow | undefined
  /** Of payments that another provider settles once they are approved of. */
  request: PayRequestRow | undefined
}

async function load({ database }: Core, caller: Caller, transactionId: string): Promise<Asked | undefined> {
  const [[transaction], [asked], request] = await Promise.all([
    transactionsById(database, caller, [transactionId]),
    approvalsByTransaction(database, caller, [transactionId]),
    payRequestOf({ database }, transactionId),
  ])
  return transaction && { transaction, approval: asked?.approval, request }
}

// ── Calls ────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────

const userInfo = z.record(z.string().max(60), text(500))

const wanted = { transactionId: idOf('Transaction') }

/**
 * Lets an incoming payment go on. `receiverUserInfo`: what was requested of the receiver, by field name. Refuses TRANSACTION_NOT_FOUND;
 * TRANSACTION_NOT_PENDING_PLATFORM_APPROVAL when it needs none, was decided or the time is over; MISSING_MANDATORY_USER_INFO. The reply is
 * the transaction, which now proceeds.
 */
export const approveTransaction = operation({
  name: 'approveTransaction',
  permission: 'TRANSACT',
  refuses: ['TRANSACTION_NOT_FOUND', 'TRANSACTION_NOT_PENDING_PLATFORM_APPROVAL', 'MISSING_MANDATORY_USER_INFO'],
  input: z.preprocess(readAlias, z.object({ ...wanted, receiverUserInfo: userInfo.optional() })),
  output: Transaction,
  load: (core, caller, { transactionId }) => requireAsked(core, caller, transactionId),
  decide({ receiverUserInfo }, asked, moment) {
    const approval = requireOpen(asked, moment)
    const missing = missingFields(approval, receiverUserInfo)
    if (missing.length > 0) {
      throw new DomainError(
        'MISSING_MANDATORY_USER_INFO',
        `receiverUserInfo: the payer's provider requires ${missing.join(', ')}`,
        {
          field: 'receiverUserInfo',
          requiredFields: missing,
        },
      )
    }
    return approved({ ...asked, approval }, 'API', receiverUserInfo, moment)
  },
})

/** Refuses an incoming payment: REJECTED, and nothing is credited. Refuses as approveTransaction does. */
export const rejectTransaction = operation({
  name: 'rejectTransaction',
  permission: 'TRANSACT',
  refuses: ['TRANSACTION_NOT_FOUND', 'TRANSACTION_NOT_PENDING_PLATFORM_APPROVAL'],
  input: z.object({ ...wanted, reason: text(500).optional() }),
  output: Transaction,
  load: (core, caller, { transactionId }) => requireAsked(core, caller, transactionId),
  decide: ({ reason }, asked, moment) => rejected(asked.transaction, requireOpen(asked, moment), 'API', reason, moment),
})

/** The newer name of `receiverUserInfo`. */
function readAlias(raw: unknown): unknown {
  if (typeof raw !== 'object' || raw === null) return raw
  const { receiverCustomerInfo, ...body } = raw as Record<string, unknown>
  return receiverCustomerInfo === undefined || 'receiverUserInfo' in body
    ? raw
    : { ...body, receiverUserInfo: receiverCustomerInfo }
}

async function requireAsked(core: Core, caller: Caller, transactionId: string): Promise<Asked> {
  const asked = await load(core, caller, transactionId)
  if (!asked) throw new DomainError('TRANSACTION_NOT_FOUND', 'There is no such transaction', { field: 'transactionId' })
  return asked
}

function requireOpen({ transaction, approval }: Asked, { timing }: Moment): ApprovalRow {
  if (approval && isOpen({ transaction, approval }) && timing !== 'late') return approval
  throw new DomainError(
    'TRANSACTION_NOT_PENDING_PLATFORM_APPROVAL',
    approval && isOpen({ transaction, approval })
      ? 'The time for this decision is over'
      : `The transaction does not wait for approval; it is ${transaction.status}`,
    { field: 'transactionId', status: transaction.status },
  )
}

// ── The webhook's answer, and silence ────────────────────────────────────────────────────────────────────────────────────────────

const answer = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('approve'), receiverUserInfo: z.unknown() }),
  z.object({ kind: z.literal('reject'), reason: z.string().optional() }),
  z.object({ kind: z.literal('incomplete') }),
  z.object({ kind: z.literal('defer') }),
  z.object({ kind: z.literal('timeout') }),
  z.object({ kind: z.literal('error') }),
])

/** What the webhook was answered. Where something else decided first it changes nothing. */
export const answerApproval = operation({
  name: 'answerApproval',
  permission: 'TRANSACT',
  input: z.object({ transactionId: z.uuid(), answer }),
  output: z.object({ changed: z.boolean() }),
  load: (core, caller, { transactionId }) => load(core, caller, transactionId),
  decide({ answer: said }, asked, moment) {
    const { transaction, approval } = asked ?? {}
    if (!transaction || !approval || !isOpen({ transaction, approval }) || moment.timing === 'late')
      return { reply: { changed: false } }
    const reply = { changed: true }
    switch (said.kind) {
      case 'approve': {
        const complete = missingFields(approval, said.receiverUserInfo).length === 0
        return complete
          ? { ...approved({ transaction, approval, request: asked?.request }, 'WEBHOOK', said.receiverUserInfo, moment), reply }
          : { ...failed(transaction, approval, 'MISSING_MANDATORY_PAYEE_DATA', moment), reply }
      }
      case 'reject':
        return { ...rejected(transaction, approval, 'WEBHOOK', said.reason?.slice(0, 500), moment), reply }
      case 'incomplete':
        return { ...failed(transaction, approval, 'MISSING_MANDATORY_PAYEE_DATA', moment), reply }
      case 'defer': {
        const deferred = { ...approval, deadline: new Date(moment.now.getTime() + windowMs), updatedAt: moment.now }
        // Beside the task that is there, which comes at the first deadline and may find nothing left to do.
        const task = { ...expiryTask(deferred), id: moment.newId() }
        return { reply, before: approval.deadline, update: { approval: [deferred] }, insert: { task: [task] } }
      }
      case 'timeout':
        return { ...failed(transaction, approval, 'PAYMENT_APPROVAL_TIMED_OUT', moment), reply }
      case 'error':
        return { ...failed(transaction, approval, 'PAYMENT_APPROVAL_WEBHOOK_ERROR', moment), reply }
    }
  },
})

/** Nobody decided in time. Run by its task; harmless at any other moment. */
export const expireApproval = operation({
  name: 'expireApproval',
  permission: 'TRANSACT',
  input: z.object({ approvalId: z.uuid() }),
  output: z.object({ againInMs: z.number().optional() }),
  load: async (core, caller, { approvalId }) => {
    const [approval] = await approvalsById(core.database, caller, [approvalId])
    return approval && load(core, caller, approval.transactionId)
  },
  decide(_input, asked, moment) {
    const { transaction, approval } = asked ?? {}
    if (!transaction || !approval || !isOpen({ transaction, approval })) return { reply: {} }
    // A 202 has moved it.
    if (moment.timing === 'early')
      return { reply: { againInMs: Math.max(approval.deadline.getTime() - moment.now.getTime(), 50) } }
    const { before: _open, remove: _task, ...late } = failed(transaction, approval, 'PAYMENT_APPROVAL_TIMED_OUT', moment)
    return { ...late, reply: {}, notBefore: approval.deadline }
  },
})

const approvalsById = coalesced<ApprovalRow>(
  (database: Queryable, worldId, ids) =>
    database.query(`select ${selectList('approval', 'a')} from approval a where ${byIdsInWorld('a')}`, [worldId, ids]),
  // The platform is asked, not its customers.
  () => null,
)

// ── What each of them writes ─────────────────────────────────────────────────────────────────────────────────────────────────────

/** Nobody has decided yet. */
function isOpen({ transaction, approval }: { transaction: TransactionRow; approval: ApprovalRow }): boolean {
  return transaction.status === 'PENDING' && approval.decidedBy === null
}

function missingFields(approval: ApprovalRow, given: unknown): string[] {
  const values = (typeof given === 'object' && given !== null ? given : {}) as Record<string, unknown>
  return requestedFieldsOf(approval)
    .filter(({ name, mandatory }) => mandatory && !(typeof values[name] === 'string' && values[name] !== ''))
    .map(({ name }) => name)
}

/**
 * The payer's provider sends the money, which is in flight from here on: the rest is as with any payment. A provider elsewhere is answered
 * first, and settles then.
 */
function approved(
  { transaction, approval, request }: { transaction: TransactionRow; approval: ApprovalRow; request: PayRequestRow | undefined },
  by: 'WEBHOOK' | 'API',
  receiverUserInfo: unknown,
  moment: Moment,
) {
  const { now } = moment
  if (request) {
    const settleBy = new Date(now.getTime() + settlementMs)
    const said = requested(approval, receiverUserInfo) as ApprovalRow['receiverUserInfo']
    return {
      reply: toTransaction(transaction),
      before: approval.deadline,
      guard: { transaction: [transaction] },
      update: {
        approval: [{ ...approval, decidedBy: by, receiverUserInfo: said, updatedAt: now }],
        pay_request: [{ ...request, settleBy, updatedAt: now }],
      },
      insert: { task: [{ ...payTask(transaction), dueAt: settleBy }] },
      remove: { task: [approval.id] },
    }
  }
  const { funded, deposit, entries, events } = handedOver(transaction, moment)
  return {
    ...decision(approval, funded, by, null, now),
    insert: { deposit: [deposit], task: [payTask(transaction)] },
    entries,
    events,
  }
}

/** What was asked for of what was said. */
function requested(approval: ApprovalRow, given: unknown): Record<string, string> {
  const values = (typeof given === 'object' && given !== null ? given : {}) as Record<string, unknown>
  const wanted = requestedFieldsOf(approval).flatMap(({ name }) => {
    const value = values[name]
    return typeof value === 'string' && value !== '' ? [[name, value.slice(0, 500)] as const] : []
  })
  return Object.fromEntries(wanted)
}

function rejected(
  transaction: TransactionRow,
  approval: ApprovalRow,
  by: 'WEBHOOK' | 'API',
  reason: string | undefined,
  { now }: Moment,
) {
  const after = movePayment({ transaction, quote: undefined }, 'reject', now)
  return { ...decision(approval, after.transaction, by, reason ?? null, now), events: tell('reject', after) }
}

type NotApproved = 'MISSING_MANDATORY_PAYEE_DATA' | 'PAYMENT_APPROVAL_TIMED_OUT' | 'PAYMENT_APPROVAL_WEBHOOK_ERROR'

function failed(transaction: TransactionRow, approval: ApprovalRow, failureReason: NotApproved, { now }: Moment) {
  const after = movePayment({ transaction, quote: undefined }, 'fail', now, { failureReason })
  return { ...decision(approval, after.transaction, null, null, now), events: tell('fail', after) }
}

function decision(approval: ApprovalRow, after: TransactionRow, by: ApprovalRow['decidedBy'], reason: string | null, now: Date) {
  return {
    reply: toTransaction(after),
    before: approval.deadline,
    update: { approval: [{ ...approval, decidedBy: by, reason, updatedAt: now }], transaction: [after] },
    remove: { task: [approval.id] },
  }
}
