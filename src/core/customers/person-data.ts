/** What one provider tells another about a person, by the specification's names of user information. */
import { DomainError } from '../../base/refusal.ts'
import type { CustomerRow } from '../../database/tables.ts'
import type { UmaReceiver } from '../../rails/port.ts'

type PersonData = Readonly<Record<string, string>>

interface Business {
  legalName?: string
  taxId?: string
  registrationNumber?: string
}

/** What the service holds of a customer, and what the platform says with the payment, which wins. */
export function knownPersonData(customer: CustomerRow | undefined, given: PersonData = {}): PersonData {
  const business = customer?.businessInfo as Business | null | undefined
  const held: Record<string, string | null | undefined> = {
    FULL_NAME: customer?.fullName ?? business?.legalName,
    BUSINESS_NAME: business?.legalName,
    BIRTH_DATE: customer?.birthDate,
    NATIONALITY: customer?.nationality,
    COUNTRY_OF_RESIDENCE: (customer?.address as { country?: string } | null | undefined)?.country,
    EMAIL: customer?.email,
    ADDRESS: inOneLine(customer?.address),
    TAX_ID: business?.taxId,
    REGISTRATION_NUMBER: business?.registrationNumber,
    USER_TYPE: customer?.customerType,
  }
  const known = Object.entries(held).filter((entry): entry is [string, string] => typeof entry[1] === 'string')
  return { ...Object.fromEntries(known), ...given }
}

function inOneLine(address: unknown): string | undefined {
  if (typeof address !== 'object' || address === null) return undefined
  const { line1, line2, city, state, postalCode, country } = address as Record<string, string | undefined>
  return [line1, line2, city, state, postalCode, country].filter(Boolean).join(', ')
}

/** Refuses MISSING_MANDATORY_USER_INFO, naming all that is missing. */
export function requirePayerData(wanted: UmaReceiver['payerFields'], known: PersonData): void {
  const missing = wanted.filter(({ name, mandatory }) => mandatory && known[name] === undefined).map(({ name }) => name)
  if (missing.length === 0) return
  throw new DomainError('MISSING_MANDATORY_USER_INFO', `The receiver must be told the payer's ${missing.join(', ')}`, {
    field: 'senderCustomerInfo',
    requiredFields: missing,
  })
}
