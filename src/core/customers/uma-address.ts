/** The address rules of the specification: `$username@domain`, on the platform's own domain, lower case, 64 characters at most. */
import { randomCode } from '../../base/random.ts'
import { DomainError } from '../../base/refusal.ts'

/** `$` included. */
export const longestUsername = 64

/** The address of a customer of one's own, as it is stored. Refuses INVALID_UMA_ADDRESS. */
export function readUmaAddress(address: string, domain: string): string {
  const lower = requireUmaAddress(address, 'umaAddress')
  if (lower.slice(lower.indexOf('@') + 1) !== domain) throw refusal('umaAddress', address, `expected the domain ${domain}`)
  return lower
}

/** Any address, as it is stored. Refuses INVALID_UMA_ADDRESS. */
export function requireUmaAddress(address: string, field: string): string {
  const lower = address.toLowerCase()
  const at = lower.indexOf('@')
  const username = lower.slice(0, at)
  if (at < 0 || !/^\$[a-z0-9\-_.+]+$/.test(username) || !/^[a-z0-9.:-]+$/.test(lower.slice(at + 1))) {
    throw refusal(field, address, 'expected $username@domain, the username of a-z, 0-9, -, _, . and +')
  }
  if (username.length > longestUsername) {
    throw refusal(field, address, `the username may have ${longestUsername} characters, $ included`)
  }
  return lower
}

function refusal(field: string, address: string, why: string): DomainError {
  return new DomainError('INVALID_UMA_ADDRESS', `${field}: ${why}`, { field, value: address.slice(0, 300) })
}

/** Spec silent: the form of a generated address. */
export function generateUmaAddress(domain: string): string {
  return `$${randomCode(12).toLowerCase()}@${domain}`
}
