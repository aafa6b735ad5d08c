/** Validators of what was answered: whether a client has it already. */
import { createHash } from 'node:crypto'

/** Equal for equal replies, in whatever encoding they travel. */
export function etagOf(text: string): string {
  return `W/"${createHash('sha256').update(text).digest('base64url').slice(0, 27)}"`
}

/** Whether an If-None-Match header names this validator. */
export function isKnown(ifNoneMatch: string | undefined, etag: string): boolean {
  const opaque = etag.replace(/^W\//, '')
  return (ifNoneMatch ?? '').split(',').some((tag) => ['*', opaque].includes(tag.trim().replace(/^W\//, '')))
}
