/** Which other providers of UMA addresses a world may pay, and be paid from. */
import { DomainError } from '../../base/refusal.ts'
import type { UmaProvider } from '../../rails/port.ts'
import type { Core, Environment } from '../operation.ts'

/** As the operator lists them. */
export interface ListedProvider extends UmaProvider {
  environment: Environment
  /** Whether payments to it and from it are allowed. */
  allowed: boolean
}

export function listedProvider({ providers }: Core, environment: Environment, domain: string): ListedProvider | undefined {
  return providers.find((one) => one.environment === environment && one.domain === domain)
}

export function domainOf(umaAddress: string): string {
  return umaAddress.slice(umaAddress.indexOf('@') + 1)
}

/**
 * Refuses COUNTERPARTY_NOT_ALLOWED. In the sandbox a domain that nobody has listed has no addresses: UMA_NOT_FOUND. Spec silent: who decides
 * on the list; here it is the operator.
 */
export function requireAllowed(core: Core, environment: Environment, umaAddress: string, field: string): void {
  const domain = domainOf(umaAddress)
  const provider = listedProvider(core, environment, domain)
  if (provider?.allowed) return
  if (!provider && environment === 'SANDBOX') throw noSuchAddress(field, umaAddress)
  throw new DomainError('COUNTERPARTY_NOT_ALLOWED', `${field}: payments to ${domain} are not allowed`, {
    field,
    value: umaAddress,
  })
}

export function noSuchAddress(field: string, umaAddress: string): DomainError {
  return new DomainError('UMA_NOT_FOUND', `${field}: there is no such UMA address`, { field, value: umaAddress })
}
