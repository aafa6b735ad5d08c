/** Sandbox: money appears on an internal account, as if somebody had followed its funding instructions. */
import { z } from 'zod'
import { toId } from '../../base/ids.ts'
import { InternalAccount, internalAccountsById, toInternalAccount } from '../accounts/internal.ts'
import { accountNotFound } from '../accounts/payable.ts'
import { amountUpTo, idOf } from '../input.ts'
import { operation } from '../operation.ts'
import { creditPlan } from '../transactions/receive-deposit.ts'

const largestFunding = 100_000_000_000n

/** Refuses ACCOUNT_NOT_FOUND, INVALID_AMOUNT; FORBIDDEN with production credentials. The reply has the balance after the funding. */
export const fundInternalAccount = operation({
  name: 'fundInternalAccount',
  permission: 'TRANSACT',
  sandboxOnly: true,
  refuses: ['ACCOUNT_NOT_FOUND', 'INVALID_AMOUNT'],
  input: z.preprocess(readAlias, z.object({ accountId: idOf('InternalAccount'), amount: amountUpTo(largestFunding) })),
  output: InternalAccount,
  load: async ({ database }, caller, { accountId }) => {
    const [account] = await internalAccountsById(database, caller, [accountId])
    if (!account) throw accountNotFound('accountId', toId('InternalAccount', accountId))
    return account
  },
  decide({ amount }, account, moment) {
    const { id, currency, fundingReference: reference } = account
    const deposit = { railReference: `sandbox:${moment.newId()}`, reference, currency, amount }
    return {
      ...creditPlan(deposit, account, moment),
      reply: toInternalAccount({ ...account, updatedAt: moment.now }, moment.rails),
      replyBalance: { path: ['balance', 'amount'], accountId: id },
    }
  },
})

/** The form of an older quickstart: `currencyAmount` for `amount`. */
function readAlias(raw: unknown): unknown {
  if (typeof raw !== 'object' || raw === null) return raw
  const { currencyAmount, ...body } = raw as Record<string, unknown>
  return currencyAmount === undefined || 'amount' in body ? raw : { ...body, amount: currencyAmount }
}
