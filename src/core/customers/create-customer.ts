/** A new customer, with an internal account in every currency the platform supports. */
import { z } from 'zod'
import { DomainError } from '../../base/refusal.ts'
import type { CustomerRow } from '../../database/tables.ts'
import { newInternalAccount } from '../accounts/internal.ts'
import { address, calendarDate, countryCode, name, text } from '../input.ts'
import { type Moment, operation } from '../operation.ts'
import type { World } from '../platform/world.ts'
import { beneficialOwner, businessInfo, Customer, kycDecided, toCustomer } from './customer.ts'
import { generateUmaAddress, readUmaAddress } from './uma-address.ts'

export const customerInput = z.object({
  platformCustomerId: text(255),
  customerType: z.enum(['INDIVIDUAL', 'BUSINESS']),
  umaAddress: z.string().max(400).optional(),
  fullName: name.optional(),
  birthDate: calendarDate.optional(),
  nationality: countryCode.optional(),
  email: z.email('expected an e-mail address').max(200).optional(),
  address: address.optional(),
  businessInfo: businessInfo.optional(),
  beneficialOwners: z.array(beneficialOwner).max(100).optional(),
})

type Input = z.output<typeof customerInput>

/**
 * Refuses INVALID_UMA_ADDRESS, UMA_ADDRESS_EXISTS. Fields of the other customer type are ignored. Spec silent: in a sandbox the last
 * three characters of the full name (a business's registration number) choose the KYC status: 001 PENDING_REVIEW, 002 REJECTED,
 * 003 NOT_STARTED.
 */
export const createCustomer = operation({
  name: 'createCustomer',
  permission: 'MANAGE',
  refuses: ['INVALID_UMA_ADDRESS', 'UMA_ADDRESS_EXISTS'],
  input: customerInput,
  output: Customer,
  load: async ({ worlds }, { worldId }) => (await worlds.get(worldId))!,
  decide(wanted, world, moment) {
    const { insert, events } = arrival(wanted, world, moment)
    return { reply: toCustomer(insert.customer[0]!), insert, events }
  },
  exists: { customer_world_id_uma_address_key: umaAddressExists },
})

export function umaAddressExists({ umaAddress }: { umaAddress?: string | undefined }): DomainError {
  return new DomainError('UMA_ADDRESS_EXISTS', 'Another customer has this UMA address', {
    field: 'umaAddress',
    value: umaAddress,
  })
}

/** What a new customer writes: themselves, their accounts, and a word if their verification has been decided already. */
export function arrival(wanted: Input, world: World, moment: Moment, kycStatus = initialKycStatus(wanted, world)) {
  const row = newCustomer(wanted, world, moment, kycStatus)
  const accounts = world.supportedCurrencies.map(({ currencyCode }) =>
    newInternalAccount({ worldId: world.id, customerId: row.id }, currencyCode, moment.newId(), moment.now),
  )
  return {
    insert: {
      customer: [row],
      ledger_account: accounts.flatMap(({ ledger_account }) => ledger_account),
      internal_account: accounts.flatMap(({ internal_account }) => internal_account),
    },
    // Those who need no verification are approved without a decision.
    events: row.kycStatus === 'REJECTED' ? [kycDecided(row)] : [],
  }
}

function newCustomer(wanted: Input, world: World, { now, newId }: Moment, kycStatus: CustomerRow['kycStatus']): CustomerRow {
  const individual = wanted.customerType === 'INDIVIDUAL'
  return {
    id: newId(),
    worldId: world.id,
    platformCustomerId: wanted.platformCustomerId,
    customerType: wanted.customerType,
    umaAddress:
      wanted.umaAddress === undefined ? generateUmaAddress(world.umaDomain) : readUmaAddress(wanted.umaAddress, world.umaDomain),
    kycStatus,
    fullName: (individual && wanted.fullName) || null,
    birthDate: (individual && wanted.birthDate) || null,
    nationality: (individual && wanted.nationality) || null,
    email: wanted.email ?? null,
    address: wanted.address ?? null,
    businessInfo: individual ? null : (wanted.businessInfo ?? null),
    beneficialOwners: individual ? null : (wanted.beneficialOwners ?? null),
    isDeleted: false,
    createdAt: now,
    updatedAt: now,
    version: 1,
  }
}

const sandboxStatuses: Readonly<Record<string, CustomerRow['kycStatus']>> = {
  '001': 'PENDING_REVIEW',
  '002': 'REJECTED',
  '003': 'NOT_STARTED',
}

function initialKycStatus(wanted: Input, { environment, isRegulated }: World): CustomerRow['kycStatus'] {
  if (environment === 'PRODUCTION') return isRegulated ? 'APPROVED' : 'NOT_STARTED'
  return sandboxVerdict(wanted)
}

/** How the sandbox decides on somebody: by the last three characters of the name; of a business, of its registration number. */
export function sandboxVerdict({ customerType, fullName, businessInfo: info }: Verifiable): CustomerRow['kycStatus'] {
  const magic = customerType === 'INDIVIDUAL' ? fullName : (info as Input['businessInfo'] | null)?.registrationNumber
  return sandboxStatuses[magic?.slice(-3) ?? ''] ?? 'APPROVED'
}

interface Verifiable {
  customerType: CustomerRow['customerType']
  fullName?: string | null | undefined
  businessInfo?: unknown
}
