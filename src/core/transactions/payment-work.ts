/** The work that payments leave behind, as tasks: hand their legs to the rail, give money back; and what rails tell by themselves. */
import { coalesced } from '../../database/coalesce.ts'
import { byIdsInWorld, type QuoteRow, selectList, type TaskRow, type TransactionRow } from '../../database/tables.ts'
import type { TaskHandler } from '../../log/tasks.ts'
import type { RailEnd, RailOutcome, RailPayment, RailReports, RailReturn } from '../../rails/port.ts'
import { type Caller, type Core, perform, serviceCaller } from '../operation.ts'
import { expireUnsettled, settleInvoice } from '../uma/incoming.ts'
import { payElsewhere } from '../uma/outgoing.ts'
import { settleReturn } from './give-back.ts'
import { historyOf } from './moves.ts'
import { receiveDeposit } from './receive-deposit.ts'
import { legOf, settlePayment } from './settle-payment.ts'

export function paymentWork(core: Core): Record<string, TaskHandler> {
  return {
    pay: (task) => pay(core, task),
    'give-back': (task) => giveBack(core, task),
  }
}

/** Leg after leg, until the payment has ended or the rail needs time. */
async function pay(core: Core, { worldId, subjectId: transactionId }: TaskRow): ReturnType<TaskHandler> {
  const caller = await serviceCaller(core, worldId)
  for (;;) {
    const [payment] = await paymentsUnderWay(core.database, caller, [transactionId])
    const leg = payment && legOf(payment)
    if (payment && isUnsettled(payment.transaction)) return expireUnsettled(core, worldId, transactionId)
    if (!leg) return undefined
    const outcome = await carry(core, caller, leg, payment)
    if (outcome.kind !== 'pending') await perform(core, settlePayment, { caller }, { transactionId, leg, outcome })
    if (outcome.kind === 'pending' || outcome.kind === 'accepted') return { againInMs: outcome.askAgainInMs }
  }
}

interface PaymentUnderWay {
  id: string
  transaction: TransactionRow
  quote: Pick<QuoteRow, 'status' | 'executedAt'> | undefined
  accountType: string | null
  primaryIdentifier: string | null
  accountInfo: unknown
}

/** Payments with what their rail needs to know of the account outside: of a PULL the source, of a SEND the destination. */
const paymentsUnderWay = coalesced<PaymentUnderWay>(
  async (database, worldId, ids) => {
    type Row = TransactionRow & { quote: QuoteRow | null } & Pick<
        PaymentUnderWay,
        'accountType' | 'primaryIdentifier' | 'accountInfo'
      >
    const rows = await database.query<Row & { quoteStatus: QuoteRow['status'] | null; executedAt: Date | null }>(
      `select ${selectList('transaction', 't')}, q.status as "quoteStatus", q.executed_at as "executedAt",
       e.account_type as "accountType", e.primary_identifier as "primaryIdentifier", e.account_info as "accountInfo"
     from transaction t left join quote q on q.id = t.quote_id
     left join external_account e on e.id = case when t.status = 'PENDING' then t.source_account_id else t.destination_account_id end
     where ${byIdsInWorld('t')} and t.status in ('PENDING', 'PROCESSING', 'SENT')`,
      [worldId, ids],
    )
    return rows.map(({ quoteStatus, executedAt, accountType, primaryIdentifier, accountInfo, ...transaction }) => ({
      id: transaction.id,
      transaction,
      quote: quoteStatus === null ? undefined : { status: quoteStatus, executedAt },
      accountType,
      primaryIdentifier,
      accountInfo,
    }))
  },
  ({ transaction }) => transaction.customerId,
)

/** Another provider pays it once it is approved of. */
function isUnsettled({ status, type, sourceType }: TransactionRow): boolean {
  return status === 'PENDING' && type === 'INCOMING' && sourceType === 'UMA_ADDRESS'
}

/** An internal account receives at once, another provider has a word in it; everything else is the rail's. */
async function carry(core: Core, caller: Caller, leg: 'PULL' | 'SEND', payment: PaymentUnderWay): Promise<RailOutcome> {
  const { transaction } = payment
  const rails = core.rails[caller.environment]
  if (leg === 'SEND' && transaction.destinationType === 'INTERNAL_ACCOUNT') return { kind: 'paid' }
  if (leg === 'SEND' && transaction.destinationType === 'UMA_ADDRESS') {
    const outcome = await payElsewhere(core, caller, railPayment(leg, payment))
    if (outcome) return outcome
  }
  if (!rails) throw new Error(`no rail carries ${transaction.id}`)
  return leg === 'PULL' ? rails.pull(railPayment(leg, payment)) : rails.send(railPayment(leg, payment))
}

function railPayment(leg: 'PULL' | 'SEND', { transaction, quote, ...account }: PaymentUnderWay): RailPayment {
  const { id: transactionId, worldId, reference } = transaction
  const begun = historyOf(transaction).find(({ status }) => status === (leg === 'PULL' ? 'PENDING' : 'PROCESSING'))!.at
  return {
    worldId,
    transactionId,
    reference,
    remittanceInformation: transaction.remittanceInformation ?? undefined,
    end: railEnd(transaction, account),
    ...(leg === 'PULL'
      ? { currency: transaction.sourceCurrency, amount: transaction.sentAmount }
      : { currency: transaction.destinationCurrency, amount: transaction.receivedAmount }),
    startedAt: leg === 'PULL' ? (quote?.executedAt ?? new Date(begun)) : new Date(begun),
  }
}

function railEnd(
  { destinationUmaAddress: umaAddress }: TransactionRow,
  account: Omit<PaymentUnderWay, 'transaction' | 'quote'>,
): RailEnd {
  const { accountType, primaryIdentifier, accountInfo } = account
  return accountType === null
    ? { kind: 'uma', umaAddress: umaAddress! }
    : { kind: 'account', accountType, primaryIdentifier: primaryIdentifier!, accountInfo }
}

async function giveBack(core: Core, { worldId, subjectId: depositId }: TaskRow): ReturnType<TaskHandler> {
  const caller = await serviceCaller(core, worldId)
  const [deposit] = await core.database.query<RailReturn>(
    `select world_id as "worldId", id as "depositId", rail_reference as "railReference", currency, amount
     from deposit where world_id = $1 and id = $2 and status = 'RETURNING'`,
    [worldId, depositId],
  )
  if (!deposit) return undefined
  const outcome = await core.rails[caller.environment]!.giveBack(deposit)
  if (outcome.kind === 'pending' || outcome.kind === 'accepted') return { againInMs: outcome.askAgainInMs }
  // The money is somebody else's and still here: worth an error in the log, and another try later.
  if (outcome.kind !== 'paid') throw new Error(`the rail could not give deposit ${depositId} back: ${outcome.kind}`)
  await perform(core, settleReturn, { caller }, { depositId })
  return undefined
}

/** What rails tell by themselves. */
export function railReports(core: () => Core): RailReports {
  return {
    async outcome({ worldId, transactionId, leg, outcome }) {
      await perform(core(), settlePayment, { caller: await serviceCaller(core(), worldId) }, { transactionId, leg, outcome })
    },
    async invoice({ worldId, invoice, millisatoshis }) {
      return settleInvoice(core(), worldId, { invoice, millisatoshis })
    },
    async deposit({ worldId, ...deposit }) {
      await perform(core(), receiveDeposit, { caller: await serviceCaller(core(), worldId) }, deposit)
    },
  }
}
