/** Which pages of other origins may read our answers: those that the configuration names, on every door. Credentials never travel by themselves. */
import type { IncomingMessage, ServerResponse } from 'node:http'

const allowedHeaders = 'authorization, content-type, idempotency-key, if-none-match, last-event-id, x-request-id'
const exposedHeaders =
  'allow, etag, location, ratelimit-limit, ratelimit-remaining, ratelimit-reset, retry-after, x-request-id, x-should-retry'
const rememberedSeconds = 600

/** `origins`: as browsers send them, or `*`. True when the request was a preflight, which is answered here. */
export function shareAcrossOrigins(request: IncomingMessage, response: ServerResponse, origins: readonly string[]): boolean {
  const { origin } = request.headers
  if (origin === undefined || origins.length === 0) return false
  response.setHeader('vary', 'Origin')
  if (!origins.includes('*') && !origins.includes(origin)) return false
  response.setHeader('access-control-allow-origin', origin)
  response.setHeader('access-control-expose-headers', exposedHeaders)
  if (request.method !== 'OPTIONS' || request.headers['access-control-request-method'] === undefined) return false
  response.writeHead(204, {
    'access-control-allow-methods': 'GET, HEAD, POST, PATCH, DELETE',
    'access-control-allow-headers': allowedHeaders,
    'access-control-max-age': String(rememberedSeconds),
  })
  response.end()
  return true
}
