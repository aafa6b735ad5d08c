/** What a subscription follows. Its resolvers say it; the fan-out does it, once for all who follow the same. */
import { decodePosition } from '../base/cursor.ts'
import { requirePermission } from '../core/operation.ts'
import { type Interest, interestOf, type LoggedEvent } from '../log/event.ts'
import type { Context } from './context.ts'

/** The executor wants something to iterate over, and never does. */
export class Following implements AsyncIterable<LoggedEvent> {
  readonly interest: Interest
  /** What comes after this is wanted; undefined: what happens from now on. */
  readonly after: bigint | undefined

  constructor(interest: Interest, after: bigint | undefined) {
    this.interest = interest
    this.after = after
  }

  [Symbol.asyncIterator](): AsyncIterator<LoggedEvent> {
    throw new Error('a subscription is followed by the fan-out')
  }
}

/** Refuses FORBIDDEN without the permission to view, INVALID_INPUT for a cursor that is not one. */
export function follow({ caller }: Context, after: string | null | undefined, interest: Omit<Interest, 'worldId'>): Following {
  requirePermission({ permission: 'VIEW', forViewers: true }, caller)
  const position = after === null || after === undefined ? undefined : decodePosition(after)
  return new Following(interestOf(caller, interest), position)
}
