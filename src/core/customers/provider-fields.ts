/** What the providers of a currency must know of a customer before the customer moves money in it. */
import { DomainError } from '../../base/refusal.ts'
import type { CustomerRow } from '../../database/tables.ts'
import type { Rails } from '../../rails/port.ts'
import { supportOf, type World } from '../platform/world.ts'
import { knownPersonData } from './person-data.ts'

/** By the specification's names: those of the platform's configuration, and those of whoever carries the currency. */
export function providerFieldsOf(world: World, currency: string, rails: Rails | undefined): string[] {
  const configured = supportOf(world, currency)?.providerRequiredCustomerFields ?? []
  return [...new Set([...configured, ...(rails?.customerFields?.(currency) ?? [])])]
}

/** Refuses MISSING_MANDATORY_USER_INFO, naming all that is missing. */
export function requireProviderFields(
  world: World,
  currency: string,
  customer: CustomerRow,
  rails: Rails | undefined,
  field: string,
): void {
  const known = knownPersonData(customer)
  const missing = providerFieldsOf(world, currency, rails).filter((name) => known[name] === undefined)
  if (missing.length === 0) return
  throw new DomainError('MISSING_MANDATORY_USER_INFO', `To move ${currency} the customer's ${missing.join(', ')} must be known`, {
    field,
    requiredFields: missing,
  })
}
