/** The answer to a request for approval, as the platform's word on the payment. */
import { uuidOf } from '../base/ids.ts'
import { answerApproval } from '../core/approvals/approval.ts'
import { type Core, perform, serviceCaller } from '../core/operation.ts'
import type { Delivery } from '../log/outbox.ts'
import { decisionOf } from './policy.ts'

/** False for an answer that says nothing of it. */
export async function decide(
  core: Core,
  { worldId, resourceId }: Delivery,
  answer: { status: number | undefined; body: string; timedOut: boolean },
): Promise<boolean> {
  const decision = decisionOf(answer)
  const transactionId = uuidOf('Transaction', resourceId)!
  await perform(core, answerApproval, { caller: await serviceCaller(core, worldId) }, { transactionId, answer: decision })
  return decision.kind !== 'error' && decision.kind !== 'timeout'
}
