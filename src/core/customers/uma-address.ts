/** The address rules of the specification: `$username@domain`, on the platform's own domain, lower case, 64 characters at most. */
import { randomCode } from '../../base/random.ts'
import { DomainError } from '../../base/refusal.ts'

const longestUsername = 64

/** The address as it is stored. Refuses INVALID_UMA_ADDRESS. */
export function readUmaAddress(address: string, domain: string): string {
  const lower = address.toLowerCase()
  const at = lower.indexOf('@')
  const username = lower.slice(0, at)
  const refuse = (why: string) =>
    new DomainError('INVALID_UMA_ADDRESS', `umaAddress: ${why}`, { field: 'umaAddress', value: address.slice(0, 300) })
  if (at < 0 || !/^\$[a-z0-9\-_.+]+$/.test(username)) {
    throw refuse('expected $username@domain, the username of a-z, 0-9, -, _, . and +')
  }
  if (username.length > longestUsername) throw refuse(`the username may have ${longestUsername} characters, $ included`)
  if (lower.slice(at + 1) !== domain) throw refuse(`expected the domain ${domain}`)
  return lower
}

/** Spec silent: the form of a generated address. */
export function generateUmaAddress(domain: string): string {
  return `$${randomCode(12).toLowerCase()}@${domain}`
}
