/** The opaque place in a list: the sort values of a row, so that a page starts after it even when the row is gone. */
import { DomainError } from './refusal.ts'

export interface Place {
  createdAt: Date
  /** Bare uuid, or whatever else tells rows of one instant apart. */
  id: string
}

const uuid = /^[0-9a-f-]{36}$/

export function encodePlace({ createdAt, id }: { createdAt: Date | string; id: string }): string {
  return Buffer.from(`${new Date(createdAt).getTime()}.${id}`).toString('base64url')
}

/** Refuses INVALID_INPUT for anything this service did not hand out. */
export function decodePlace(cursor: string, field = 'cursor', idShape = uuid): Place {
  const match = /^(\d{1,15})\.(.+)$/.exec(Buffer.from(cursor, 'base64url').toString('latin1'))
  if (!match || !idShape.test(match[2]!))
    throw new DomainError('INVALID_INPUT', `${field} is not a cursor of this service`, { field, value: cursor })
  return { createdAt: new Date(Number(match[1])), id: match[2]! }
}

export function encodePosition(position: bigint): string {
  return Buffer.from(`e.${position}`).toString('base64url')
}

/** The place in the event log that a cursor names. Refuses INVALID_INPUT. */
export function decodePosition(cursor: string, field = 'after'): bigint {
  const match = /^e\.(\d{1,18})$/.exec(Buffer.from(cursor, 'base64url').toString('latin1'))
  if (!match) throw new DomainError('INVALID_INPUT', `${field} is not an event cursor of this service`, { field, value: cursor })
  return BigInt(match[1]!)
}
