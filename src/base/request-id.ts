/** The id that leads from an answer to its log lines: the caller's own `x-request-id`, or a new one. */
import type { IncomingMessage } from 'node:http'
import { newId } from './ids.ts'

export const requestIdHeader = 'x-request-id'

export function requestIdOf({ headers }: IncomingMessage): string {
  const given = headers[requestIdHeader]
  return typeof given === 'string' && /^[\w.:-]{1,100}$/.test(given) ? given : newId()
}
