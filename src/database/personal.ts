/** Which values are personal, or secret, by the names they go by: none of them is written in clear, wherever it stands. */
import type { Vault } from '../base/vault.ts'

const names: ReadonlySet<string> = new Set([
  'accountInfo',
  'accountNumber',
  'beneficialOwners',
  'encryptionPrivateKey',
  'payerData',
  'paymentInstructions',
  'signingPrivateKey',
  'birthDate',
  'businessInfo',
  'clabeNumber',
  'counterpartyInformation',
  'iban',
  'pixKey',
  'primaryIdentifier',
  'privateKey',
  'receiverUserInfo',
  'requestData',
  'taxId',
  'vpa',
])

export function isPersonal(name: string): boolean {
  return names.has(name)
}

/** The same with every personal value in it sealed. */
export function sealPersonal<Value>(vault: Vault, value: Value): Value {
  return sealIn(vault, value) as Value
}

export function hasPersonal(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false
  return Object.entries(value).some(([name, item]) => (names.has(name) && isThere(item)) || hasPersonal(item))
}

/** Whether everything personal in what the database keeps is sealed with the key that seals now. */
export function isSealedWithin(vault: Vault, stored: unknown): boolean {
  if (typeof stored !== 'object' || stored === null) return true
  return Object.entries(stored).every(([name, item]) =>
    names.has(name) && isThere(item) ? typeof item === 'string' && vault.isCurrent(item) : isSealedWithin(vault, item),
  )
}

function sealIn(vault: Vault, value: unknown): unknown {
  if (Array.isArray(value)) return value.map((item) => sealIn(vault, item))
  if (typeof value !== 'object' || value === null || !isPlain(value)) return value
  const entries = Object.entries(value)
  return Object.fromEntries(
    entries.map(([name, item]) => [name, names.has(name) && isThere(item) ? vault.seal(item) : sealIn(vault, item)]),
  )
}

function isThere(item: unknown): boolean {
  return item !== null && item !== undefined
}

/** Dates and raw JSON are values, not lists of them. */
function isPlain(value: object): boolean {
  return Object.getPrototypeOf(value) === Object.prototype
}
