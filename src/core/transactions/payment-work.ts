/** The work that money calls leave behind, as tasks: hand a payment to its rail, expire a quote. */
import { coalesced } from '../../database/coalesce.ts'
import type { TaskRow } from '../../database/tables.ts'
import type { TaskHandler } from '../../log/tasks.ts'
import type { RailPayment } from '../../rails/port.ts'
import { type Caller, type Core, perform, permissions } from '../operation.ts'
import { expireQuote } from '../quotes/expire-quote.ts'
import { settlePayment } from './settle-payment.ts'

export function paymentWork(core: Core): Record<string, TaskHandler> {
  return {
    pay: (task) => pay(core, task),
    async 'expire-quote'({ worldId, subjectId }) {
      await perform(core, expireQuote, { caller: await serviceCaller(core, worldId) }, { quoteId: subjectId })
      return undefined
    },
  }
}

async function pay(core: Core, task: TaskRow): ReturnType<TaskHandler> {
  const { worldId, subjectId: transactionId } = task
  const caller = await serviceCaller(core, worldId)
  const [payment] = await paymentsInFlight(core.database, worldId, [transactionId])
  if (!payment) return undefined
  const rail = core.railOf(caller.environment)
  if (!rail) throw new Error(`no rail carries payments out of ${caller.environment}`)
  const outcome = await rail.pay(payment)
  if (outcome.kind === 'pending') return { againInMs: outcome.askAgainInMs }
  await perform(core, settlePayment, { caller }, { transactionId, outcome })
  return undefined
}

/** What a rail needs of a payment that is under way. */
const paymentsInFlight = coalesced<RailPayment & { id: string }>((database, worldId, ids) =>
  database.query(
    `select t.id, t.id as "transactionId", e.account_type as "accountType", e.primary_identifier as "primaryIdentifier",
       q.receiving_currency as currency, q.total_receiving_amount as amount, q.executed_at as "startedAt"
     from transaction t join quote q on q.id = t.quote_id join external_account e on e.id = q.destination_account_id
     where t.world_id = $1 and t.id = any($2::uuid[]) and t.status = 'PROCESSING'`,
    [worldId, ids],
  ),
)

/** The service itself, at work in a world. */
async function serviceCaller({ worlds }: Core, worldId: string): Promise<Caller> {
  const world = await worlds.get(worldId)
  if (!world) throw new Error(`task of a world that does not exist: ${worldId}`)
  return { worldId, environment: world.environment, permissions }
}
