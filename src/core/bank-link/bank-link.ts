/**
 * Linking a bank account: a token for the provider's own page, the callback when the customer is done there, and the account, which comes a
 * moment later with an ACCOUNT_STATUS.
 */
import { createHash, randomUUID } from 'node:crypto'
import { z } from 'zod'
import { minute } from '../../base/clock.ts'
import { derivedUuid } from '../../base/ids.ts'
import { randomCode } from '../../base/random.ts'
import { DomainError } from '../../base/refusal.ts'
import type { Queryable } from '../../database/port.ts'
import { wholeWorld } from '../../database/sight.ts'
import { type CustomerRow, type LinkTokenRow, selectList } from '../../database/tables.ts'
import { newTask } from '../../log/tasks.ts'
import { externalAccountChanged, externalAccountsById, newExternalAccount } from '../accounts/external.ts'
import { customerDeleted, customersById, requireCustomer } from '../customers/customer.ts'
import { idOf, text } from '../input.ts'
import { operation } from '../operation.ts'

const lifetimeMs = 4 * 60 * minute
const tokenShape = /^link-sandbox-[0-9a-f-]{36}$/

/** Refuses USER_NOT_FOUND, CUSTOMER_DELETED; NOT_IMPLEMENTED in production, where no provider is configured. */
export const createLinkToken = operation({
  name: 'createLinkToken',
  permission: 'MANAGE',
  refuses: ['USER_NOT_FOUND', 'CUSTOMER_DELETED', 'NOT_IMPLEMENTED'],
  input: z.object({ customerId: idOf('Customer') }),
  output: z.object({ linkToken: z.string(), expiration: z.string(), callbackUrl: z.string(), requestId: z.string() }),
  load: ({ database }, caller, { customerId }) => requireCustomer(database, caller, customerId),
  decide(_input, customer, { caller, now, newId, settings }) {
    if (caller.environment !== 'SANDBOX') throw new DomainError('NOT_IMPLEMENTED', 'No bank-link provider is configured here')
    if (customer.isDeleted) throw customerDeleted()
    const row: LinkTokenRow = {
      id: newId(),
      worldId: customer.worldId,
      customerId: customer.id,
      token: `link-sandbox-${randomUUID()}`,
      expiresAt: new Date(now.getTime() + lifetimeMs),
      usedAt: null,
      accountId: null,
      createdAt: now,
      updatedAt: now,
      version: 1,
    }
    return {
      reply: {
        linkToken: row.token,
        expiration: row.expiresAt.toISOString(),
        callbackUrl: `${settings.baseUrl}/2025-10-13/bank-link/callback/${row.token}`,
        requestId: newRequestId(),
      },
      guard: { customer: [customer] },
      insert: { link_token: [row] },
    }
  },
})

/** Spec silent: the sandbox's public tokens are `public-sandbox-…`. */
const publicToken = z
  .string()
  .max(200)
  .regex(/^public-sandbox-.+$/, 'expected the public token of the provider')

/** Refuses NOT_FOUND for a token that is unknown or has expired, CONFLICT for one that was used. */
export const completeBankLink = operation({
  name: 'completeBankLink',
  permission: 'MANAGE',
  refuses: ['NOT_FOUND', 'CONFLICT'],
  input: z.object({ linkToken: text(200), publicToken, accountId: text(200).optional() }),
  output: z.object({ message: z.string(), requestId: z.string() }),
  load: async ({ database }, { worldId }, { linkToken }) => {
    const row = await linkTokenOf(database, linkToken)
    if (row?.worldId !== worldId) throw tokenNotFound()
    return row
  },
  decide({ accountId }, row, { now, timing }) {
    if (row.usedAt) throw new DomainError('CONFLICT', 'This link token has been used', { field: 'linkToken' })
    if (timing === 'late') throw tokenNotFound()
    return {
      reply: { message: 'The account is being linked', requestId: newRequestId() },
      before: row.expiresAt,
      update: { link_token: [{ ...row, usedAt: now, accountId: accountId ?? null, updatedAt: now }] },
      insert: { task: [newTask('link-account', row.worldId, row.id)] },
    }
  },
})

/** Of any world: who has the token may use it. */
export async function linkTokenOf(database: Queryable, token: string): Promise<LinkTokenRow | undefined> {
  if (!tokenShape.test(token)) return undefined
  const [row] = await database.query<LinkTokenRow>(`select ${selectList('link_token')} from link_token where token = $1`, [token])
  return row
}

export function tokenNotFound(): DomainError {
  return new DomainError('NOT_FOUND', 'There is no such link token, or it has expired', { field: 'linkToken' })
}

function newRequestId(): string {
  return `req_${randomCode(12)}`
}

/** What the provider found: the account of a token that was used. Run by its task, which may run twice. */
export const linkAccount = operation({
  name: 'linkAccount',
  permission: 'MANAGE',
  input: z.object({ linkTokenId: z.uuid() }),
  output: z.object({ linked: z.boolean() }),
  load: async ({ database, worlds }, { worldId }, { linkTokenId }) => {
    const [token] = await database.query<LinkTokenRow>(
      `select ${selectList('link_token')} from link_token where world_id = $1 and id = $2`,
      [worldId, linkTokenId],
    )
    if (!token) throw new Error(`task for a link token that does not exist: ${linkTokenId}`)
    const id = derivedUuid('linked account', token.id)
    const [world, [customer], [linked]] = await Promise.all([
      worlds.get(worldId),
      customersById(database, wholeWorld(worldId), [token.customerId]),
      externalAccountsById(database, wholeWorld(worldId), [id]),
    ])
    return { id, token, world: world!, customer: customer!, linked }
  },
  decide(_input, { id, token, world, customer, linked }, moment) {
    if (linked || customer.isDeleted) return { reply: { linked: false } }
    const details = {
      currency: 'USD',
      platformAccountId: token.accountId ?? undefined,
      defaultUmaDepositAccount: false,
      accountInfo: sandboxAccount(token, customer),
    }
    const row = { ...newExternalAccount(details, world, customer, moment), id }
    return {
      reply: { linked: true },
      guard: { customer: [customer] },
      insert: { external_account: [row] },
      events: [externalAccountChanged(row)],
    }
  },
})

/** Spec silent: the account that the simulated provider finds. Its number is derived from the token and ends in 100: payments succeed. */
function sandboxAccount({ token }: LinkTokenRow, customer: CustomerRow) {
  const digits = BigInt(`0x${createHash('sha256').update(token).digest('hex')}`)
    .toString()
    .slice(0, 9)
  const business = customer.businessInfo as { legalName: string } | null
  const beneficiary = business
    ? { beneficiaryType: 'BUSINESS' as const, businessInfo: { legalName: business.legalName } }
    : { beneficiaryType: 'INDIVIDUAL' as const, fullName: customer.fullName ?? 'Sandbox Customer' }
  return {
    accountType: 'US_ACCOUNT' as const,
    accountNumber: `${digits}100`,
    routingNumber: '021000021',
    accountCategory: 'CHECKING' as const,
    bankName: 'Sandbox Bank',
    beneficiary,
  }
}
