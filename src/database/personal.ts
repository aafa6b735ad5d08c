/** Which values are personal, or secret, by the names they go by: none of them is written in clear, wherever it stands. */
import type { Vault } from '../base/vault.ts'

const names: ReadonlySet<string> = new Set([
  'accountInfo',
  'accountNumber',
  'beneficialOwners',
  'birthDate',
  'businessInfo',
  'clabeNumber',
  'counterpartyInformation',
  'encryptionPrivateKey',
  'iban',
  'payerData',
  'paymentInstructions',
  'pixKey',
  'primaryIdentifier',
  'privateKey',
  'receiverUserInfo',
  'signingPrivateKey',
  'taxId',
  'vpa',
])

export function isPersonal(name: string): boolean {
  return names.has(name)
}

/** The same with every personal value in it sealed; most have none. */
export function sealPersonal<Value>(vault: Vault, value: Value): Value {
  return hasPersonal(value) ? (sealIn(vault, value) as Value) : value
}

/** The same without it. Of an account its kind is left. */
export function withoutPersonal<Value>(value: Value): Value {
  return erasedIn(value) as Value
}

const numbersOfAccounts: ReadonlySet<string> = new Set(['accountNumber', 'address', 'clabeNumber', 'iban', 'pixKey', 'vpa'])

/** What kind of account at which bank it was. */
export function erasedAccount(info: unknown): Record<string, string> {
  const { beneficiary: _person, ...rest } = info as Record<string, string>
  return Object.fromEntries(Object.entries(rest).map(([name, value]) => [name, numbersOfAccounts.has(name) ? '••••' : value]))
}

const alsoErased: ReadonlySet<string> = new Set(['fullName', 'nationality', 'email', 'address'])

function erasedIn(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(erasedIn)
  if (typeof value !== 'object' || value === null || value instanceof Date || JSON.isRawJSON(value)) return value
  return Object.fromEntries(
    Object.entries(value).flatMap(([name, item]) => {
      if (name === 'accountInfo') return [[name, erasedAccount(item)]]
      return names.has(name) || alsoErased.has(name) ? [] : [[name, erasedIn(item)]]
    }),
  )
}

/** Asked of everything that is written: it makes nothing. */
export function hasPersonal(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false
  for (const name in value) {
    const item = (value as Record<string, unknown>)[name]
    if ((names.has(name) && isThere(item)) || hasPersonal(item)) return true
  }
  return false
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
  if (typeof value !== 'object' || value === null || !hasPersonal(value)) return value
  const entries = Object.entries(value)
  return Object.fromEntries(
    entries.map(([name, item]) => [name, names.has(name) && isThere(item) ? vault.seal(item) : sealIn(vault, item)]),
  )
}

function isThere(item: unknown): boolean {
  return item !== null && item !== undefined
}
