/** External accounts: bank accounts and wallets of customers or of the platform. */
import { z } from 'zod'
import { toId } from '../../base/ids.ts'
import { isoText } from '../../base/instant.ts'
import { DomainError } from '../../base/refusal.ts'
import type { Vault } from '../../base/vault.ts'
import { coalesced } from '../../database/coalesce.ts'
import type { Queryable } from '../../database/port.ts'
import type { Sight } from '../../database/sight.ts'
import { byIdsInWorld, type CustomerRow, type ExternalAccountRow, selectList } from '../../database/tables.ts'
import type { EventDraft } from '../commit.ts'
import { customerDeleted, requireCustomer } from '../customers/customer.ts'
import { currencyCode, idOf, text } from '../input.ts'
import { listQuery } from '../list.ts'
import { type Core, type Moment, operation, query } from '../operation.ts'
import { type Condition, given, type ListSource, listed, pageInput, pageOf } from '../page.ts'
import { supportOf, type World } from '../platform/world.ts'
import { shapeOf } from '../shape.ts'
import {
  type AccountInfo,
  accountInfo,
  accountTypes,
  distinguishingParts,
  primaryIdentifier,
  requireCurrencyOfType,
} from './account-info.ts'

export const ExternalAccount = z.object({
  id: z.string(),
  customerId: z.string().optional(),
  status: z.enum(['PENDING', 'ACTIVE', 'UNDER_REVIEW', 'INACTIVE']),
  currency: z.string(),
  platformAccountId: z.string().optional(),
  defaultUmaDepositAccount: z.boolean(),
  accountInfo,
  /** Only of one that has been deleted. */
  isDeleted: z.boolean().optional(),
  createdAt: z.string(),
  updatedAt: z.string(),
})

export type ExternalAccount = z.output<typeof ExternalAccount>

export const externalAccountShape = shapeOf<ExternalAccountRow, ExternalAccount>({
  id: [['id'], ({ id }) => toId('ExternalAccount', id)],
  customerId: [['customerId'], ({ customerId }) => (customerId === null ? undefined : toId('Customer', customerId))],
  status: [['status'], ({ status }) => status],
  currency: [['currency'], ({ currency }) => currency],
  platformAccountId: [['platformAccountId'], ({ platformAccountId }) => platformAccountId ?? undefined],
  defaultUmaDepositAccount: [['defaultUmaDepositAccount'], (row) => row.defaultUmaDepositAccount],
  accountInfo: [['accountInfo'], ({ accountInfo: info }) => info as unknown as AccountInfo],
  isDeleted: [['isDeleted'], ({ isDeleted }) => isDeleted || undefined],
  createdAt: [['createdAt'], ({ createdAt }) => isoText(createdAt)],
  updatedAt: [['updatedAt'], ({ updatedAt }) => isoText(updatedAt)],
})

function toExternalAccount(row: ExternalAccountRow): ExternalAccount {
  return externalAccountShape.whole(row)
}

export const externalAccountsById = coalesced<ExternalAccountRow>(
  (database, worldId, ids) =>
    database.query(`select ${selectList('external_account', 't')} from external_account t where ${byIdsInWorld('t')}`, [
      worldId,
      ids,
    ]),
  ({ customerId }) => customerId,
)

const platformInput = z.object({ currency: currencyCode, platformAccountId: text(255).optional(), accountInfo })

const customerInput = platformInput.extend({
  customerId: idOf('Customer').optional(),
  defaultUmaDepositAccount: z.boolean().default(false),
})

/** An account given inline, as a quote's destination may be. */
export const accountDetails = customerInput
  .omit({ defaultUmaDepositAccount: true })
  .transform((details) => ({ ...details, defaultUmaDepositAccount: false }))

type Input = z.output<typeof customerInput>

interface Loaded {
  world: World
  customer: CustomerRow | undefined
  /** The customer's present default for UMA deposits, where the new account shall take its place. */
  formerDefaults: readonly ExternalAccountRow[]
}

/**
 * Refuses INVALID_BANK_ACCOUNT and INVALID_CURRENCY for details that do not fit, EXTERNAL_ACCOUNT_EXISTS for the same account of the
 * same owner, USER_NOT_FOUND. Without customerId the account is the platform's. A sandbox account is ACTIVE at once.
 */
export const createCustomerExternalAccount = operation({
  name: 'createCustomerExternalAccount',
  permission: 'MANAGE',
  refuses: ['INVALID_BANK_ACCOUNT', 'INVALID_CURRENCY', 'EXTERNAL_ACCOUNT_EXISTS', 'USER_NOT_FOUND', 'CUSTOMER_DELETED'],
  input: customerInput,
  output: ExternalAccount,
  load: async ({ database, worlds }, caller, { customerId, defaultUmaDepositAccount }): Promise<Loaded> => {
    const { worldId } = caller
    const [world, customer, formerDefaults] = await Promise.all([
      worlds.get(worldId),
      customerId === undefined ? undefined : requireCustomer(database, caller, customerId),
      customerId !== undefined && defaultUmaDepositAccount ? defaultsOf(database, worldId, customerId) : [],
    ])
    return { world: world!, customer, formerDefaults }
  },
  decide: decideCreate,
  exists: { external_account_world_id_fingerprint_key: alreadyExists },
})

export const createPlatformExternalAccount = operation({
  name: 'createPlatformExternalAccount',
  permission: 'MANAGE',
  refuses: ['INVALID_BANK_ACCOUNT', 'INVALID_CURRENCY', 'EXTERNAL_ACCOUNT_EXISTS'],
  input: platformInput,
  output: ExternalAccount,
  load: async ({ worlds }: Core, { worldId }): Promise<Loaded> => ({
    world: (await worlds.get(worldId))!,
    customer: undefined,
    formerDefaults: [],
  }),
  decide: (input, loaded, moment) => decideCreate({ ...input, defaultUmaDepositAccount: false }, loaded, moment),
  exists: { external_account_world_id_fingerprint_key: alreadyExists },
})

function decideCreate(input: Input, { world, customer, formerDefaults }: Loaded, moment: Moment) {
  const row = newExternalAccount(input, world, customer, moment)
  return {
    reply: toExternalAccount(row),
    insert: { external_account: [row] },
    update: {
      external_account: formerDefaults.map((former) => ({ ...former, defaultUmaDepositAccount: false, updatedAt: moment.now })),
    },
  }
}

/** Refuses INVALID_CURRENCY and CUSTOMER_DELETED. `at`: where in the input the details stand. */
export function newExternalAccount(
  input: Input,
  world: World,
  customer: CustomerRow | undefined,
  { now, newId, vault }: Moment,
  at = '',
): ExternalAccountRow {
  if (!supportOf(world, input.currency)) {
    throw new DomainError('INVALID_CURRENCY', `${at}currency: the platform does not support ${input.currency}`, {
      field: `${at}currency`,
      value: input.currency,
    })
  }
  requireCurrencyOfType(input.accountInfo, input.currency, at)
  if (customer?.isDeleted) {
    throw customerDeleted(`${at}customerId`)
  }
  return {
    id: newId(),
    worldId: world.id,
    customerId: customer?.id ?? null,
    status: 'ACTIVE',
    currency: input.currency,
    platformAccountId: input.platformAccountId ?? null,
    defaultUmaDepositAccount: input.defaultUmaDepositAccount,
    accountType: input.accountInfo.accountType,
    accountInfo: input.accountInfo,
    primaryIdentifier: primaryIdentifier(input.accountInfo),
    fingerprint: fingerprint(vault, customer?.id, input),
    isDeleted: false,
    createdAt: now,
    updatedAt: now,
    version: 1,
  }
}

/** ACCOUNT_STATUS of an external account: it was linked, or has a new status. */
export function externalAccountChanged(row: ExternalAccountRow): EventDraft {
  const { id, status, currency, platformAccountId, accountInfo, customerId } = row
  return {
    worldId: row.worldId,
    type: 'ACCOUNT_STATUS',
    resourceId: toId('ExternalAccount', id),
    customerId,
    payload: {
      ...(customerId === null ? {} : { customerId: toId('Customer', customerId) }),
      account: {
        accountId: toId('ExternalAccount', id),
        status,
        currency,
        ...(platformAccountId === null ? {} : { platformAccountId }),
        accountInfo,
      },
    },
  }
}

/** The account of the same owner that these details describe, if it has been added. */
export async function externalAccountLike(
  database: Queryable,
  worldId: string,
  customerId: string | undefined,
  details: Input,
): Promise<ExternalAccountRow | undefined> {
  const [row] = await database.query<ExternalAccountRow>(
    `select ${selectList('external_account')} from external_account where world_id = $1 and fingerprint = $2`,
    [worldId, fingerprint(database.vault, customerId, details)],
  )
  return row
}

/** What tells that an account is there already, without telling which it is. */
export function fingerprint(
  vault: Vault,
  customerId: string | null | undefined,
  { currency, accountInfo: info }: { currency: string; accountInfo: AccountInfo },
): string {
  return vault.digest(JSON.stringify([customerId ?? '', currency, ...distinguishingParts(info)]))
}

function alreadyExists(): DomainError {
  return new DomainError('EXTERNAL_ACCOUNT_EXISTS', 'This account has been added already', { field: 'accountInfo' })
}

function defaultsOf(database: Queryable, worldId: string, customerId: string): Promise<ExternalAccountRow[]> {
  return database.query<ExternalAccountRow>(
    `select ${selectList('external_account')} from external_account
     where world_id = $1 and customer_id = $2 and default_uma_deposit_account`,
    [worldId, customerId],
  )
}

// ── One account ──────────────────────────────────────────────────────────────────────────────────────────────────────────────────

const oneAccount = z.object({
  externalAccountId: idOf('ExternalAccount'),
  /** Whose it must be; absent, whoever's. */
  owner: z.enum(['CUSTOMER', 'PLATFORM']).optional(),
})

/** Refuses ACCOUNT_NOT_FOUND. One that has been deleted is still there, and says so. */
export const getExternalAccount = query({
  name: 'getExternalAccount',
  permission: 'VIEW',
  forViewers: true,
  refuses: ['ACCOUNT_NOT_FOUND'],
  input: oneAccount,
  output: ExternalAccount,
  answer: async ({ database }, caller, input) => toExternalAccount(await requireExternalAccount(database, caller, input)),
})

/**
 * Nothing new is paid to it or from it; payments under way go on, and those that were made keep it. It can be added again, as a new account.
 * Refuses ACCOUNT_NOT_FOUND; deleted once more it stays as it is.
 */
export const deleteExternalAccount = operation({
  name: 'deleteExternalAccount',
  permission: 'MANAGE',
  refuses: ['ACCOUNT_NOT_FOUND'],
  input: oneAccount,
  output: ExternalAccount,
  load: ({ database }, caller, input) => requireExternalAccount(database, caller, input),
  decide(_input, row, { now }) {
    if (row.isDeleted) return { reply: toExternalAccount(row) }
    const deleted: ExternalAccountRow = {
      ...row,
      status: 'INACTIVE',
      isDeleted: true,
      defaultUmaDepositAccount: false,
      fingerprint: row.id,
      updatedAt: now,
    }
    return { reply: toExternalAccount(deleted), update: { external_account: [deleted] } }
  },
})

async function requireExternalAccount(
  database: Queryable,
  sight: Sight,
  { externalAccountId: id, owner }: z.output<typeof oneAccount>,
): Promise<ExternalAccountRow> {
  const [row] = await externalAccountsById(database, sight, [id])
  const theirs = owner === undefined || owner === (row?.customerId === null ? 'PLATFORM' : 'CUSTOMER')
  if (!row || !theirs) {
    throw new DomainError('ACCOUNT_NOT_FOUND', 'There is no such account', { field: 'externalAccountId' })
  }
  return row
}

/** Those that have not been deleted. */
export const heldAccounts: ListSource = {
  ...listed('external_account'),
  from: '(select * from external_account where not is_deleted) t',
}

const filters = { currency: currencyCode.optional(), accountType: z.enum(accountTypes).optional(), ...pageInput }

const accounts = { source: heldAccounts, shape: externalAccountShape, given: () => undefined }

export const listCustomerExternalAccounts = listQuery({
  name: 'listCustomerExternalAccounts',
  permission: 'VIEW',
  forViewers: true,
  refuses: ['INVALID_CURRENCY'],
  input: z.object({ customerId: idOf('Customer').optional(), ...filters }),
  output: pageOf(ExternalAccount),
  ...accounts,
  conditions: (input) => [
    ...(input.customerId === undefined ? [['t.customer_id is not null'] as const] : []),
    ...given(input.customerId, 't.customer_id = ?'),
    ...filtered(input),
  ],
})

export const listPlatformExternalAccounts = listQuery({
  name: 'listPlatformExternalAccounts',
  permission: 'VIEW',
  refuses: ['INVALID_CURRENCY'],
  input: z.object(filters),
  output: pageOf(ExternalAccount),
  ...accounts,
  conditions: (input) => [['t.customer_id is null'], ...filtered(input)],
})

function filtered({ currency, accountType }: z.output<z.ZodObject<typeof filters>>): Condition[] {
  return [...given(currency, 't.currency = ?'), ...given(accountType, 't.account_type = ?')]
}
