/** The work that operations leave behind, by the kind of its task. A handler may be started twice, and takes a moment at most. */
import { second } from '../base/clock.ts'
import type { TaskHandler } from '../log/tasks.ts'
import { openAccounts } from './accounts/open-accounts.ts'
import { expireApproval } from './approvals/approval.ts'
import { linkAccount } from './bank-link/bank-link.ts'
import { importRows } from './bulk-import/import-rows.ts'
import { eraseFromLog } from './customers/erase-customer.ts'
import { expireKycLink } from './customers/kyc-link.ts'
import { moveAddresses } from './customers/move-addresses.ts'
import { expireInvitation } from './invitations/invitations.ts'
import { forgetLookup } from './lookups/lookup.ts'
import { type Core, perform, serviceCaller } from './operation.ts'
import { forgetViewerToken } from './platform/viewer-tokens.ts'
import { expireQuote } from './quotes/expire-quote.ts'
import { paymentWork } from './transactions/payment-work.ts'

/** Then other tasks have their turn. */
const portionsAtOnce = 16

export function coreWork(core: Core): Record<string, TaskHandler> {
  const call = async (worldId: string) => ({ caller: await serviceCaller(core, worldId) })
  return {
    ...paymentWork(core),
    async 'expire-quote'({ worldId, subjectId }) {
      const { status } = await perform(core, expireQuote, await call(worldId), { quoteId: subjectId })
      return status === 'early' ? { againInMs: second } : undefined
    },
    async 'expire-approval'({ worldId, subjectId }) {
      const { againInMs } = await perform(core, expireApproval, await call(worldId), { approvalId: subjectId })
      return againInMs === undefined ? undefined : { againInMs }
    },
    async 'forget-lookup'({ worldId, subjectId }) {
      await perform(core, forgetLookup, await call(worldId), { lookupId: subjectId })
      return undefined
    },
    async 'forget-viewer-token'({ worldId, subjectId }) {
      await perform(core, forgetViewerToken, await call(worldId), { viewerTokenId: subjectId })
      return undefined
    },
    async 'open-accounts'({ worldId, subjectId }) {
      await perform(core, openAccounts, await call(worldId), { afterCustomerId: subjectId })
      return undefined
    },
    async 'expire-kyc-link'({ worldId, subjectId }) {
      const { early } = await perform(core, expireKycLink, await call(worldId), { linkId: subjectId })
      return early ? { againInMs: second } : undefined
    },
    async 'erase-customer'({ worldId, subjectId }) {
      const world = await core.worlds.get(worldId)
      const whole = await eraseFromLog(core.database, worldId, subjectId, world!.webhookEnvelope)
      return whole ? undefined : { againInMs: second }
    },
    async 'expire-invitation'({ worldId, subjectId }) {
      const { early } = await perform(core, expireInvitation, await call(worldId), { invitationId: subjectId })
      return early ? { againInMs: second } : undefined
    },
    async 'move-addresses'({ worldId, subjectId }) {
      await perform(core, moveAddresses, await call(worldId), { afterCustomerId: subjectId })
      return undefined
    },
    async 'link-account'({ worldId, subjectId }) {
      await perform(core, linkAccount, await call(worldId), { linkTokenId: subjectId })
      return undefined
    },
    async 'import-customers'({ worldId, subjectId }) {
      for (let portion = 0; portion < portionsAtOnce; portion += 1) {
        const { over } = await perform(core, importRows, await call(worldId), { jobId: subjectId })
        if (over) return undefined
      }
      return { againInMs: 0 }
    },
  }
}
