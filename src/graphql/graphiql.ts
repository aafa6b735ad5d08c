/**
 * GraphiQL for whoever opens `/graphql` in a browser, with nothing loaded from elsewhere. Where the gateway keeps its sandbox token beside its
 * data, the page has it filled in already, for a browser on the same machine.
 */
import type { IncomingMessage, ServerResponse } from 'node:http'
import { promisify } from 'node:util'
import { gzip } from 'node:zlib'

export interface GraphiqlOptions {
  /** `id:secret` of the sandbox, where it may be shown. */
  sandboxToken: () => string | undefined
}

const firstDocument = `# What the platform has, as far as you look. Subscriptions work here too.
query Customers {
  customers(first: 10) {
    totalCount
    edges { node {
      fullName
      internalAccounts { edges { node { balance { display currency { code } } } } }
      transactions(first: 5) { edges { node { status receivedAmount { display currency { code } } } } }
    } }
  }
}
`

/** Inline is how the page is made; nothing of it comes from outside, and nothing goes there. */
const policy =
  "default-src 'self'; script-src 'self' 'unsafe-inline' 'unsafe-eval' blob:; style-src 'self' 'unsafe-inline'; worker-src blob:; img-src 'self' data:; font-src 'self' data:; frame-ancestors 'none'; base-uri 'none'; form-action 'none'"

/** Programs do not ask for HTML. */
export function wantsPage({ method, headers }: IncomingMessage): boolean {
  return method === 'GET' && (headers.accept ?? '').includes('text/html')
}

/** Only a name of this machine is asked for by somebody who sits at it, and not by a page of somewhere else that points its name here. */
function isAtHome({ headers: { host = '' }, socket }: IncomingMessage): boolean {
  const local = ['127.0.0.1', '::1', '::ffff:127.0.0.1'].includes(socket.remoteAddress ?? '')
  return local && /^(localhost|127\.0\.0\.1|\[::1\])(:\d+)?$/.test(host)
}

export function createGraphiql({ sandboxToken }: GraphiqlOptions) {
  return async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    // Nine megabytes: loaded when somebody asks for them.
    const { renderGraphiQL } = await import('@graphql-yoga/render-graphiql')
    const token = isAtHome(request) ? sandboxToken() : undefined
    const authorization = token && `Basic ${Buffer.from(token).toString('base64')}`
    const page = renderGraphiQL({
      title: 'Payments gateway',
      endpoint: '/graphql',
      defaultQuery: firstDocument,
      subscriptionsProtocol: 'SSE',
      headers: JSON.stringify({ authorization: authorization ?? 'Basic <base64 of id:secret>' }, null, 2),
    })
    const zips = /\bgzip\b/.test(String(request.headers['accept-encoding']))
    const body = zips ? await promisify(gzip)(page, { level: 1 }) : page
    response.writeHead(200, {
      'content-type': 'text/html; charset=utf-8',
      'content-security-policy': policy,
      'cache-control': 'no-store',
      ...(zips ? { 'content-encoding': 'gzip' } : {}),
    })
    response.end(body)
  }
}
