/** What a receiver's provider wants to know about who pays, by the specification's names of user information. */
import { DomainError } from '../../base/refusal.ts'
import type { CustomerRow } from '../../database/tables.ts'
import type { UmaReceiver } from '../../rails/port.ts'

/** What the service holds of the customer, and what the platform says with the quote, which wins. */
export function knownPayerData(
  customer: CustomerRow | undefined,
  given: Readonly<Record<string, string>> = {},
): ReadonlySet<string> {
  const business = customer?.businessInfo as
    | { legalName?: string; taxId?: string; registrationNumber?: string }
    | null
    | undefined
  const held: Record<string, unknown> = {
    FULL_NAME: customer?.fullName ?? business?.legalName,
    BUSINESS_NAME: business?.legalName,
    BIRTH_DATE: customer?.birthDate,
    NATIONALITY: customer?.nationality,
    EMAIL: customer?.email,
    ADDRESS: customer?.address,
    TAX_ID: business?.taxId,
    REGISTRATION_NUMBER: business?.registrationNumber,
    USER_TYPE: customer?.customerType,
  }
  const known = Object.entries(held).filter(([, value]) => value !== undefined && value !== null)
  return new Set([...known.map(([name]) => name), ...Object.keys(given)])
}

/** Refuses MISSING_MANDATORY_USER_INFO, naming all that is missing. */
export function requirePayerData(wanted: UmaReceiver['payerFields'], known: ReadonlySet<string>): void {
  const missing = wanted.filter(({ name, mandatory }) => mandatory && !known.has(name)).map(({ name }) => name)
  if (missing.length === 0) return
  throw new DomainError('MISSING_MANDATORY_USER_INFO', `The receiver must be told the payer's ${missing.join(', ')}`, {
    field: 'senderCustomerInfo',
    requiredFields: missing,
  })
}
