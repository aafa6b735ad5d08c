/**
 * What a rail says of a payment's leg: of collecting the money (PULL) or of paying the receiver (SEND). Told twice, late or in the wrong
 * order it changes nothing twice: only the leg that is under way is moved.
 */
import { z } from 'zod'
import type { DepositRow, InternalAccountRow, QuoteRow, TransactionRow } from '../../database/tables.ts'
import { delivery, type Entry, endOfFlight, exchange, intoFlight } from '../../ledger/entry.ts'
import { failureReasons, type RailOutcome } from '../../rails/port.ts'
import { balanceChanged, internalAccountsById } from '../accounts/internal.ts'
import type { Plan } from '../commit.ts'
import { type Moment, operation } from '../operation.ts'
import type { RateDetails } from '../quotes/pricing.ts'
import { quotesById, toRateDetails } from '../quotes/quote.ts'
import { depositRow } from './deposit.ts'
import { depositsOf, giveBack, homeOf } from './give-back.ts'
import { changed, type MoveName, movePayment, type Payment, tell } from './moves.ts'
import { transactionsById } from './transaction.ts'

const askAgainInMs = z.number().nonnegative()

const outcome = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('paid') }),
  z.object({ kind: z.literal('failed'), reason: z.enum(failureReasons).optional() }),
  z.object({ kind: z.literal('rejected') }),
  z.object({ kind: z.literal('returned') }),
  z.object({ kind: z.literal('accepted'), askAgainInMs }),
  z.object({ kind: z.literal('pending'), askAgainInMs }),
]) satisfies z.ZodType<RailOutcome>

type Settled = Plan<{ changed: boolean }>

interface Loaded {
  payment: Payment
  /** An internal account that the payment goes to; loaded when it is paid, the rest when it is not. */
  receiver: InternalAccountRow | undefined
  /** The money that came in for it from outside. */
  deposits: readonly DepositRow[]
  /** Where it goes if it cannot go on; undefined: back to the outside. */
  home: InternalAccountRow | undefined
}

export const settlePayment = operation({
  name: 'settlePayment',
  permission: 'TRANSACT',
  input: z.object({ transactionId: z.uuid(), leg: z.enum(['PULL', 'SEND']), outcome }),
  output: z.object({ changed: z.boolean() }),
  load: async ({ database }, caller, { transactionId, outcome: said }): Promise<Loaded> => {
    const [transaction] = await transactionsById(database, caller, [transactionId])
    if (!transaction) throw new Error(`outcome of a payment that does not exist: ${transactionId}`)
    const { quoteId, destinationType, destinationAccountId } = transaction
    const paid = said.kind === 'paid'
    const [[quote], [receiver], deposits, home] = await Promise.all([
      quoteId === null ? [] : quotesById(database, caller, [quoteId]),
      paid && destinationType === 'INTERNAL_ACCOUNT' ? internalAccountsById(database, caller, [destinationAccountId!]) : [],
      paid || transaction.sourceType === 'INTERNAL_ACCOUNT' ? [] : depositsOf(database, transaction),
      paid ? undefined : homeOf(database, transaction),
    ])
    return { payment: { transaction, quote }, receiver, deposits, home }
  },
  decide({ leg, outcome: said }, loaded, moment) {
    if (leg !== legOf(loaded.payment)) return { reply: { changed: false } }
    switch (said.kind) {
      case 'pending':
        return { reply: { changed: false } }
      case 'accepted':
        return loaded.payment.transaction.status === 'SENT' || leg === 'PULL'
          ? { reply: { changed: false } }
          : sent(loaded, moment)
      case 'paid':
        return leg === 'PULL' ? collected(loaded, moment) : completed(loaded, moment)
      case 'failed':
        return notPaid('fail', loaded, moment, said.reason ?? reasonOf(loaded.payment))
      case 'rejected':
        return notPaid('reject', loaded, moment)
      case 'returned':
        return notPaid(leg === 'PULL' ? 'reject' : 'refund', loaded, moment)
    }
  },
})

interface Leg {
  transaction: Pick<TransactionRow, 'status' | 'sourceType'>
  quote: Pick<QuoteRow, 'status'> | undefined
}

/** What a payment waits for. */
export function legOf({ transaction, quote }: Leg): 'PULL' | 'SEND' | undefined {
  const { status, sourceType } = transaction
  if (status === 'PROCESSING' || status === 'SENT') return 'SEND'
  const asked = quote === undefined || quote.status === 'PROCESSING'
  return status === 'PENDING' && sourceType === 'EXTERNAL_ACCOUNT' && asked ? 'PULL' : undefined
}

/** Spec silent: which of its reasons stands for a rail's plain failure. */
function reasonOf({ transaction, quote }: Payment): (typeof failureReasons)[number] {
  if (quote) return 'QUOTE_EXECUTION_FAILED'
  return transaction.type === 'OUTGOING' || transaction.sourceType === 'UMA_ADDRESS' ? 'OFFRAMP_FAILED' : 'PAY_REQUEST_FAILED'
}

function sent({ payment }: Loaded, { now }: Moment): Settled {
  const after = movePayment(payment, 'send', now)
  return { reply: { changed: true }, update: changed(payment, after), events: tell('send', after) }
}

/** Pulled from the external account: in flight now. */
function collected({ payment }: Loaded, { now, newId }: Moment): Settled {
  const { transaction } = payment
  const { id: transactionId, worldId, sourceCurrency: currency, sentAmount: amount } = transaction
  const after = movePayment(payment, 'fund', now)
  const pulled = { railReference: `pull:${transactionId}`, reference: transaction.reference, currency, amount }
  const entry = intoFlight('COLLECTION', worldId, currency, endOfFlight(worldId, currency, null), amount)
  return {
    reply: { changed: true },
    update: changed(payment, after),
    insert: { deposit: [depositRow(pulled, transaction, 'APPLIED', now, newId())] },
    entries: [{ worldId, transactionId, entry }],
    events: tell('fund', after),
  }
}

function completed({ payment, receiver }: Loaded, { now }: Moment): Settled {
  const { transaction } = payment
  const { id: transactionId, worldId } = transaction
  const after = movePayment(payment, 'complete', now, { settledAt: now })
  return {
    reply: { changed: true },
    update: changed(payment, after),
    entries: deliveryOf(payment).map((entry) => ({ worldId, transactionId, entry })),
    events: [...(receiver ? [balanceChanged(receiver, transactionId)] : []), ...tell('complete', after)],
  }
}

function deliveryOf({ transaction, quote }: Payment): Entry[] {
  const { worldId, destinationType, destinationAccountId, destinationCurrency, receivedAmount } = transaction
  const to = endOfFlight(worldId, destinationCurrency, destinationType === 'INTERNAL_ACCOUNT' ? destinationAccountId : null)
  if (!quote) return [delivery(worldId, destinationCurrency, to, receivedAmount)]
  const fees = toRateDetails(quote.rateDetails as unknown as RateDetails)
  return exchange({
    worldId,
    sendingCurrency: quote.sendingCurrency,
    sent: quote.totalSendingAmount,
    serviceFees: fees.serviceApiFixedFee + fees.serviceApiVariableFeeAmount,
    receivingCurrency: quote.receivingCurrency,
    received: quote.totalReceivingAmount,
    counterpartyFee: fees.counterpartyFixedFee,
    to,
  })
}

/** Not paid: whatever is in flight goes back to where it came from, in full. */
function notPaid(
  name: Extract<MoveName, 'fail' | 'reject' | 'refund'>,
  { payment, deposits, home }: Loaded,
  { now }: Moment,
  failureReason: string | null = null,
): Settled {
  const inFlight = payment.transaction.status !== 'PENDING'
  const back = inFlight
    ? giveBack(payment.transaction, { amount: payment.transaction.sentAmount, deposit: deposits.find(isApplied), home }, now)
    : undefined
  const after = movePayment(payment, name, now, { failureReason, ...(back ? { refund: back.refund } : {}) })
  return {
    reply: { changed: true },
    update: { ...changed(payment, after), deposit: back?.deposit ? [back.deposit] : [] },
    insert: { task: back?.tasks ?? [] },
    entries: back?.entries ?? [],
    events: [...(back?.events ?? []), ...tell(name, after)],
  }
}

function isApplied({ status }: DepositRow): boolean {
  return status === 'APPLIED'
}
