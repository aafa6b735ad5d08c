/** Sandbox: money appears on an internal account, as if somebody had followed its funding instructions. */
import { z } from 'zod'
import { toId } from '../../base/ids.ts'
import { randomCode } from '../../base/random.ts'
import type { CustomerRow, InternalAccountRow, TransactionRow } from '../../database/tables.ts'
import { funding } from '../../ledger/entry.ts'
import { balanceChanged, InternalAccount, internalAccountsById, toInternalAccount } from '../accounts/internal.ts'
import { accountNotFound } from '../accounts/payable.ts'
import { customersById } from '../customers/customer.ts'
import { amountUpTo, idOf } from '../input.ts'
import { type Moment, operation } from '../operation.ts'
import { paymentChanged } from '../transactions/transaction.ts'

const largestFunding = 100_000_000_000n

/** Refuses ACCOUNT_NOT_FOUND, INVALID_AMOUNT; FORBIDDEN with production credentials. The reply has the balance after the funding. */
export const fundInternalAccount = operation({
  name: 'fundInternalAccount',
  permission: 'TRANSACT',
  sandboxOnly: true,
  input: z.preprocess(readAlias, z.object({ accountId: idOf('InternalAccount'), amount: amountUpTo(largestFunding) })),
  output: InternalAccount,
  load: async ({ database }, { worldId }, { accountId }) => {
    const [account] = await internalAccountsById(database, worldId, [accountId])
    if (!account) throw accountNotFound('accountId', toId('InternalAccount', accountId))
    const [customer] = account.customerId === null ? [] : await customersById(database, worldId, [account.customerId])
    return { account, customer }
  },
  decide({ amount }, { account, customer }, moment) {
    const { id: accountId, worldId, currency, customerId } = account
    const transaction = deposit(account, customer, amount, moment)
    return {
      reply: toInternalAccount({ ...account, updatedAt: moment.now }),
      replyBalance: { path: ['balance', 'amount'], accountId },
      insert: { transaction: [transaction] },
      entries: [{ worldId, transactionId: transaction.id, entry: funding(worldId, currency, accountId, amount) }],
      events: [
        balanceChanged({ worldId, accountId, currency, customerId, platformCustomerId: customer?.platformCustomerId }),
        paymentChanged(transaction),
      ],
    }
  },
})

/** The form of an older quickstart: `currencyAmount` for `amount`. */
function readAlias(raw: unknown): unknown {
  if (typeof raw !== 'object' || raw === null) return raw
  const { currencyAmount, ...body } = raw as Record<string, unknown>
  return currencyAmount === undefined || 'amount' in body ? raw : { ...body, amount: currencyAmount }
}

function deposit(
  { id: accountId, worldId, currency }: InternalAccountRow,
  customer: CustomerRow | undefined,
  amount: bigint,
  { now, newId }: Moment,
): TransactionRow {
  return {
    id: newId(),
    worldId,
    type: 'INCOMING',
    status: 'COMPLETED',
    customerId: customer?.id ?? null,
    platformCustomerId: customer?.platformCustomerId ?? null,
    quoteId: null,
    sourceType: 'REALTIME_FUNDING',
    sourceAccountId: null,
    sourceUmaAddress: null,
    sourceCurrency: currency,
    destinationType: 'INTERNAL_ACCOUNT',
    destinationAccountId: accountId,
    destinationUmaAddress: null,
    destinationCurrency: currency,
    sentAmount: amount,
    receivedAmount: amount,
    exchangeRate: null,
    fees: 0n,
    rateDetails: null,
    description: 'Internal account funding',
    reference: `REF-${randomCode(16)}`,
    counterpartyInformation: null,
    failureReason: null,
    refund: null,
    settledAt: now,
    createdAt: now,
    updatedAt: now,
    version: 1,
  }
}
