/** What happens behind a KYC link: the customer says what is missing, once, and is verified by it. */
import { createHash } from 'node:crypto'
import { z } from 'zod'
import { DomainError } from '../../base/refusal.ts'
import type { Queryable } from '../../database/port.ts'
import { wholeWorld } from '../../database/sight.ts'
import { type CustomerRow, type KycLinkRow, selectList } from '../../database/tables.ts'
import { address, calendarDate, countryCode, name, text } from '../input.ts'
import { type Caller, type Core, operation, serviceCaller } from '../operation.ts'
import { sandboxVerdict } from './create-customer.ts'
import { businessInfo, Customer, customersById, kycDecided, toCustomer, undecided } from './customer.ts'

export interface KycSession {
  customer: CustomerRow
  /** USED: whoever comes after the customer, or the customer again; also where another link has led to a decision. */
  state: 'OPEN' | 'USED' | 'EXPIRED'
  redirectUri: string | undefined
  /** For what the customer says. */
  caller: Caller
}

/** By the code of the link, whichever platform's. Refuses NOT_FOUND. */
export async function openKycSession(core: Core, code: string): Promise<KycSession> {
  const link = await findLink(core.database, code)
  const [customer] = link ? await customersById(core.database, wholeWorld(link.worldId), [link.customerId]) : []
  if (!link || !customer || customer.isDeleted) throw linkNotFound()
  const over = link.usedAt !== null || !undecided.includes(customer.kycStatus)
  const state = over ? 'USED' : link.expiresAt <= core.clock.now() ? 'EXPIRED' : 'OPEN'
  return { customer, state, redirectUri: link.redirectUri ?? undefined, caller: await serviceCaller(core, link.worldId) }
}

/** What verification needs to know. What is known already need not be said again, and does not change. */
const details = z.object({
  fullName: name.optional(),
  birthDate: calendarDate.refine((date) => new Date(date) < new Date(), 'expected a date that has been').optional(),
  nationality: countryCode.optional(),
  businessInfo: businessInfo.extend({ registrationNumber: text(100) }).optional(),
  address: address.optional(),
})

const requiredOf = {
  INDIVIDUAL: ['fullName', 'birthDate', 'nationality', 'address'],
  BUSINESS: ['businessInfo', 'address'],
} as const

/** What is still to be said. */
export function missingOf(customer: CustomerRow): readonly (keyof z.output<typeof details>)[] {
  return requiredOf[customer.customerType].filter((field) => !known(customer, field))
}

function known(customer: CustomerRow, field: (typeof requiredOf)[keyof typeof requiredOf][number]): boolean {
  if (field !== 'businessInfo') return customer[field] !== null
  const info = customer.businessInfo as z.output<typeof businessInfo> | null
  return info?.registrationNumber !== undefined
}

/**
 * Refuses NOT_FOUND for a link that is used, over or forged, INVALID_INPUT for what is missing. In a sandbox the last characters of the name
 * (of a business, its registration number) decide as they do for customers who are created; in production the platform's operator does.
 */
export const submitKyc = operation({
  name: 'submitKyc',
  permission: 'MANAGE',
  refuses: ['NOT_FOUND'],
  input: z.object({ code: z.string().max(100), details }),
  output: Customer,
  async load({ database }, caller, { code }) {
    const link = await findLink(database, code)
    const [customer] = link ? await customersById(database, caller, [link.customerId]) : []
    if (!link || link.usedAt !== null || !customer || customer.isDeleted) throw linkNotFound()
    if (!undecided.includes(customer.kycStatus)) throw linkNotFound()
    return { link, customer }
  },
  decide({ details: said }, { link, customer }, { now, timing, caller }) {
    if (timing === 'late') throw linkNotFound()
    const missing = missingOf(customer)
    const unsaid = missing.filter((field) => said[field] === undefined)
    if (unsaid.length > 0) {
      const errors = unsaid.map((field) => ({ message: `${field}: expected`, field }))
      throw new DomainError('INVALID_INPUT', errors[0]!.message, { field: unsaid[0]!, errors })
    }
    const told = Object.fromEntries(missing.map((field) => [field, said[field]])) as Partial<CustomerRow>
    const changed: CustomerRow = { ...customer, ...told, updatedAt: now }
    changed.kycStatus = caller.environment === 'SANDBOX' ? sandboxVerdict(changed) : 'PENDING_REVIEW'
    const decided = changed.kycStatus === 'APPROVED' || changed.kycStatus === 'REJECTED'
    return {
      reply: toCustomer(changed),
      before: link.expiresAt,
      update: { customer: [changed], kyc_link: [{ ...link, usedAt: now, updatedAt: now }] },
      events: decided ? [kycDecided(changed)] : [],
    }
  },
})

async function findLink(database: Queryable, code: string): Promise<KycLinkRow | undefined> {
  const codeHash = createHash('sha256').update(code).digest('hex')
  const [row] = await database.query<KycLinkRow>(`select ${selectList('kyc_link')} from kyc_link where code_hash = $1`, [
    codeHash,
  ])
  return row
}

function linkNotFound(): DomainError {
  return new DomainError('NOT_FOUND', 'There is no such link, or it has been used, or its time is over')
}
