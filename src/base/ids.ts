/**
 * Identifiers. Outside they are the specification's `<Type>:<uuid>`; in the database they are the bare uuid. New ones are version 7,
 * so that rows made later sort later.
 */
import { createHash, randomUUIDv7 } from 'node:crypto'

export type IdType =
  | 'Customer'
  | 'ExternalAccount'
  | 'InternalAccount'
  | 'Invitation'
  | 'Job'
  | 'Lookup'
  | 'PersistedOperation'
  | 'PlatformConfig'
  | 'Quote'
  | 'Token'
  | 'Transaction'
  | 'ViewerToken'
  | 'Webhook'

export function newId(): string {
  return randomUUIDv7()
}

/** Before every id that is made from this instant on, and after those made before. */
export function oldestId(from: Date): string {
  const hex = from.getTime().toString(16).padStart(12, '0')
  return `${hex.slice(0, 8)}-${hex.slice(8)}-7000-8000-000000000000`
}

export function toId(type: IdType, uuid: string): string {
  return `${type}:${uuid}`
}

const uuidPattern = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/

/** Prefixes that existing clients also send. */
const aliases: Readonly<Record<string, IdType>> = { LookupRequest: 'Lookup' }

/** The bare uuid of `<type>:<uuid>`, or undefined when the id is not of that type or shape. Case of the uuid does not matter. */
export function uuidOf(type: IdType, id: string): string | undefined {
  const colon = id.indexOf(':')
  const prefix = id.slice(0, colon)
  if (prefix !== type && aliases[prefix] !== type) return undefined
  const uuid = id.slice(colon + 1).toLowerCase()
  return uuidPattern.test(uuid) ? uuid : undefined
}

/** A uuid that is always the same for the same parts: for rows that exist once per world and currency. */
export function derivedUuid(...parts: readonly string[]): string {
  const hex = createHash('sha256').update(parts.join('\u0000')).digest('hex')
  const variant = ((Number.parseInt(hex.slice(16, 17), 16) & 0x3) | 0x8).toString(16)
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-8${hex.slice(13, 16)}-${variant}${hex.slice(17, 20)}-${hex.slice(20, 32)}`
}
