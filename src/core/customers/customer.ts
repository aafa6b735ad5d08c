/** A customer of the platform, as every door shows it. */
import { z } from 'zod'
import { toId } from '../../base/ids.ts'
import { isoText } from '../../base/instant.ts'
import { DomainError } from '../../base/refusal.ts'
import { coalesced } from '../../database/coalesce.ts'
import type { Queryable } from '../../database/port.ts'
import { type Sight, sees } from '../../database/sight.ts'
import { byIdsInWorld, type CustomerRow, selectList } from '../../database/tables.ts'
import type { EventDraft } from '../commit.ts'
import { address, calendarDate, countryCode, name, text } from '../input.ts'
import { shapeOf } from '../shape.ts'

const phoneNumber = z.string().regex(/^\+[1-9]\d{1,14}$/, 'expected an E.164 phone number')

export const businessInfo = z.object({
  legalName: name,
  registrationNumber: text(100).optional(),
  taxId: text(100).optional(),
})

export const beneficialOwner = z.object({
  fullName: name,
  individualType: z.enum(['DIRECTOR', 'CONTROL_PERSON', 'BUSINESS_POINT_OF_CONTACT', 'TRUSTEE', 'SETTLOR', 'GENERAL_PARTNER']),
  emailAddress: z.email().max(200).optional(),
  phoneNumber: phoneNumber.optional(),
  taxId: text(100).optional(),
  birthDate: calendarDate.optional(),
  nationality: countryCode.optional(),
  address: address.optional(),
  percentageOwnership: z.number().min(0).max(100).optional(),
  title: text(100).optional(),
})

export const kycStatuses = [
  'NOT_STARTED',
  'PENDING_REVIEW',
  'APPROVED',
  'REJECTED',
  'EXPIRED',
  'CANCELED',
  'MANUALLY_APPROVED',
  'MANUALLY_REJECTED',
] as const

/** Whose verification is not decided yet. */
export const undecided: readonly (typeof kycStatuses)[number][] = ['NOT_STARTED', 'PENDING_REVIEW', 'EXPIRED', 'CANCELED']

export const Customer = z.object({
  id: z.string(),
  platformCustomerId: z.string(),
  customerType: z.enum(['INDIVIDUAL', 'BUSINESS']),
  umaAddress: z.string(),
  kycStatus: z.enum(kycStatuses),
  fullName: z.string().optional(),
  birthDate: z.string().optional(),
  nationality: z.string().optional(),
  email: z.string().optional(),
  address: address.optional(),
  businessInfo: businessInfo.optional(),
  beneficialOwners: z.array(beneficialOwner).optional(),
  isDeleted: z.boolean(),
  createdAt: z.string(),
  updatedAt: z.string(),
})

export type Customer = z.output<typeof Customer>

export const customerShape = shapeOf<CustomerRow, Customer>({
  id: [['id'], ({ id }) => toId('Customer', id)],
  platformCustomerId: [['platformCustomerId'], ({ platformCustomerId }) => platformCustomerId],
  customerType: [['customerType'], ({ customerType }) => customerType],
  umaAddress: [['umaAddress'], ({ umaAddress }) => umaAddress],
  kycStatus: [['kycStatus'], ({ kycStatus }) => kycStatus],
  fullName: [['fullName'], ({ fullName }) => fullName ?? undefined],
  birthDate: [['birthDate'], ({ birthDate }) => birthDate ?? undefined],
  nationality: [['nationality'], ({ nationality }) => nationality ?? undefined],
  email: [['email'], ({ email }) => email ?? undefined],
  address: [['address'], (row) => (row.address as z.output<typeof address> | null) ?? undefined],
  businessInfo: [['businessInfo'], (row) => (row.businessInfo as z.output<typeof businessInfo> | null) ?? undefined],
  beneficialOwners: [
    ['beneficialOwners'],
    (row) => (row.beneficialOwners as unknown as z.output<typeof beneficialOwner>[] | null) ?? undefined,
  ],
  isDeleted: [['isDeleted'], ({ isDeleted }) => isDeleted],
  createdAt: [['createdAt'], ({ createdAt }) => isoText(createdAt)],
  updatedAt: [['updatedAt'], ({ updatedAt }) => isoText(updatedAt)],
})

export function toCustomer(row: CustomerRow): Customer {
  return customerShape.whole(row)
}

export const customersById = coalesced<CustomerRow>(
  (database, worldId, ids) =>
    database.query(`select ${selectList('customer', 't')} from customer t where ${byIdsInWorld('t')}`, [worldId, ids]),
  ({ id }) => id,
)

/** Who has this address, in its stored form; also somebody who has been deleted. */
export async function customerByUmaAddress(
  database: Queryable,
  sight: Sight,
  umaAddress: string,
): Promise<CustomerRow | undefined> {
  const [row] = await database.query<CustomerRow>(
    `select ${selectList('customer', 't')} from customer t where t.world_id = $1 and t.uma_address = $2`,
    [sight.worldId, umaAddress],
  )
  return row && sees(sight, row.id) ? row : undefined
}

/**
 * Which of these addresses somebody in the world has, or had. One look into the index for each: joined, a plan made while the world was small
 * would go through all its customers instead.
 */
export async function takenAddresses(database: Queryable, worldId: string, addresses: readonly string[]): Promise<Set<string>> {
  if (addresses.length === 0) return new Set()
  const rows = await database.query<{ umaAddress: string }>(
    `select found.uma_address as "umaAddress" from unnest($2::text[]) wanted(address)
     cross join lateral (
       select c.uma_address from customer c where c.world_id = $1 and c.uma_address = wanted.address limit 1) found`,
    [worldId, addresses],
  )
  return new Set(rows.map(({ umaAddress }) => umaAddress))
}

export function customerDeleted(field = 'customerId'): DomainError {
  return new DomainError('CUSTOMER_DELETED', 'The customer has been deleted', { field })
}

/** Refuses USER_NOT_FOUND; another world's customer is as missing as one that never was. */
export async function requireCustomer(database: Queryable, sight: Sight, id: string, field = 'customerId'): Promise<CustomerRow> {
  const [row] = await customersById(database, sight, [id])
  if (!row) throw new DomainError('USER_NOT_FOUND', 'There is no such customer', { field, value: toId('Customer', id) })
  return row
}

/** KYC_STATUS: the verification has come to a final decision. */
export function kycDecided({ id, worldId, kycStatus, platformCustomerId }: CustomerRow): EventDraft {
  const customerId = toId('Customer', id)
  return {
    worldId,
    type: 'KYC_STATUS',
    resourceId: customerId,
    customerId: id,
    payload: { customerId, kycStatus, platformCustomerId },
  }
}

/** Whether a customer may move money. */
export function isReady({ kycStatus, isDeleted }: CustomerRow): boolean {
  return !isDeleted && (kycStatus === 'APPROVED' || kycStatus === 'MANUALLY_APPROVED')
}

/** Refuses USER_NOT_READY for a customer who may not move money: not approved, or deleted. */
export function requireReady(customer: CustomerRow): void {
  if (isReady(customer)) return
  throw new DomainError(
    'USER_NOT_READY',
    customer.isDeleted ? 'The customer has been deleted' : 'The customer has not been approved yet',
    { customerId: toId('Customer', customer.id), kycStatus: customer.kycStatus },
  )
}
