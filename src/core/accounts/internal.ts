/** Internal accounts: the balances the service holds, one per owner and currency, each with its own funding instructions. */
import { z } from 'zod'
import { currencyOf } from '../../base/currency.ts'
import { toId } from '../../base/ids.ts'
import { isoText } from '../../base/instant.ts'
import { randomCode } from '../../base/random.ts'
import { coalesced } from '../../database/coalesce.ts'
import {
  byIdsInWorld,
  type CustomerRow,
  columnsAs,
  type InsertedRows,
  type InternalAccountRow,
  selectList,
} from '../../database/tables.ts'
import { systemAccount, systemKinds } from '../../ledger/chart.ts'
import type { Rails } from '../../rails/port.ts'
import type { EventDraft } from '../commit.ts'
import { currencyCode, idOf, money } from '../input.ts'
import { listQuery } from '../list.ts'
import type { Caller, Core } from '../operation.ts'
import { given, type ListSource, pageInput, pageOf, selectionOf } from '../page.ts'
import { shapeOf } from '../shape.ts'
import { PaymentInstruction, paymentInstructions } from './funding-instructions.ts'

export const InternalAccount = z.object({
  id: z.string(),
  customerId: z.string().optional(),
  balance: money,
  fundingPaymentInstructions: z.array(PaymentInstruction),
  createdAt: z.string(),
  updatedAt: z.string(),
})

export type InternalAccount = z.output<typeof InternalAccount>

/** Given the rails of the account's world, which say where money can be pushed to. */
export const internalAccountShape = shapeOf<InternalAccountRow, InternalAccount, Rails | undefined>({
  id: [['id'], ({ id }) => toId('InternalAccount', id)],
  customerId: [['customerId'], ({ customerId }) => (customerId === null ? undefined : toId('Customer', customerId))],
  balance: [['balance', 'currency'], ({ balance, currency }) => ({ amount: balance ?? 0n, currency: currencyOf(currency) })],
  fundingPaymentInstructions: [
    ['worldId', 'currency', 'fundingReference'],
    ({ worldId, currency, fundingReference: reference }, rails) =>
      paymentInstructions(rails, { worldId, currency, reference, funds: 'account' }),
  ],
  createdAt: [['createdAt'], ({ createdAt }) => isoText(createdAt)],
  updatedAt: [['updatedAt'], ({ updatedAt }) => isoText(updatedAt)],
})

export function toInternalAccount(row: InternalAccountRow, rails: Rails | undefined): InternalAccount {
  return internalAccountShape.whole(row, rails)
}

/** Internal accounts with their balances, and the platform's id of whose they are. */
export const withBalance: ListSource = {
  from: 'internal_account t join ledger_account l on l.id = t.id left join customer c on c.id = t.customer_id',
  columns: new Map([
    ...columnsAs('internal_account', 't'),
    ['balance', 'l.balance'],
    ['updatedAt', 'l.updated_at'],
    ['platformCustomerId', 'c.platform_customer_id'],
  ]),
  owner: 't.customer_id',
}

export const internalAccountsById = coalesced<InternalAccountRow>(
  (database, worldId, ids) =>
    database.query(`select ${selectionOf(withBalance)} from ${withBalance.from} where ${byIdsInWorld('t')}`, [worldId, ids]),
  ({ customerId }) => customerId,
)

/** The customers internal accounts belong to, by the accounts' ids; platform accounts have none. */
export const ownersOfInternalAccounts = coalesced<{ id: string; customer: CustomerRow }>(
  async (database, worldId, ids) => {
    const rows = await database.query<CustomerRow & { accountId: string }>(
      `select ${selectList('customer', 'c')}, t.id as "accountId" from internal_account t left join customer c on c.id = t.customer_id
     where ${byIdsInWorld('t')}`,
      [worldId, ids],
    )
    return rows.flatMap(({ accountId, ...customer }) => (customer.id === null ? [] : [{ id: accountId, customer }]))
  },
  ({ customer }) => customer.id,
)

/** The rows behind a new internal account of a customer, or of the platform. */
export function newInternalAccount(
  owner: { worldId: string; customerId: string | null },
  currency: string,
  id: string,
  now: Date,
): Required<Pick<InsertPlan, 'ledger_account' | 'internal_account'>> {
  const { worldId, customerId } = owner
  return {
    ledger_account: [{ id, worldId, kind: 'INTERNAL', currency, balance: 0n, createdAt: now, updatedAt: now }],
    internal_account: [{ id, worldId, customerId, currency, fundingReference: `FUND-${randomCode(12)}`, createdAt: now }],
  }
}

/** The rows a world needs before money can move in a currency: the system accounts and the platform's own account. */
export function newCurrencyAccounts(worldId: string, currency: string, newId: () => string, now: Date) {
  const own = newInternalAccount({ worldId, customerId: null }, currency, newId(), now)
  return {
    ledger_account: [...own.ledger_account, ...newSystemAccounts(worldId, currency, now)],
    internal_account: own.internal_account,
  }
}

/** The books of a world in a currency, besides the balances. */
export function newSystemAccounts(worldId: string, currency: string, now: Date): InsertedRows['ledger_account'][] {
  return systemKinds.map((kind) => {
    const { id } = systemAccount(worldId, kind, currency)
    return { id, worldId, kind, currency, balance: null, createdAt: now, updatedAt: now }
  })
}

type InsertPlan = { [Table in keyof InsertedRows]?: InsertedRows[Table][] }

const balances = {
  source: withBalance,
  shape: internalAccountShape,
  given: ({ rails }: Core, { environment }: Caller) => rails[environment],
}

export const listCustomerInternalAccounts = listQuery({
  name: 'listCustomerInternalAccounts',
  permission: 'VIEW',
  forViewers: true,
  refuses: ['INVALID_CURRENCY'],
  input: z.object({ customerId: idOf('Customer').optional(), currency: currencyCode.optional(), ...pageInput }),
  output: pageOf(InternalAccount),
  ...balances,
  conditions: ({ customerId, currency }) => [
    ...(customerId === undefined ? [['t.customer_id is not null'] as const] : []),
    ...given(customerId, 't.customer_id = ?'),
    ...given(currency, 't.currency = ?'),
  ],
})

export const listPlatformInternalAccounts = listQuery({
  name: 'listPlatformInternalAccounts',
  permission: 'VIEW',
  refuses: ['INVALID_CURRENCY'],
  input: z.object({ currency: currencyCode.optional(), ...pageInput }),
  output: pageOf(InternalAccount),
  ...balances,
  conditions: ({ currency }) => [['t.customer_id is null'], ...given(currency, 't.currency = ?')],
})

type BalanceOwner = Pick<InternalAccountRow, 'id' | 'worldId' | 'currency' | 'customerId' | 'platformCustomerId'>

/** ACCOUNT_STATUS of a balance that a payment moves: before and after are filled in by the commit. */
export function balanceChanged(account: BalanceOwner, transactionId: string): EventDraft {
  const { id, worldId, currency, customerId, platformCustomerId } = account
  const accountId = toId('InternalAccount', id)
  const balance = { amount: 0n, currency: currencyOf(currency) }
  return {
    worldId,
    type: 'ACCOUNT_STATUS',
    resourceId: accountId,
    customerId,
    transactionId,
    payload: {
      accountId,
      oldBalance: balance,
      newBalance: balance,
      ...(customerId === null ? {} : { customerId: toId('Customer', customerId) }),
      ...(platformCustomerId === null ? {} : { platformCustomerId }),
    },
    balanceOf: id,
  }
}
