/** Asking an address that somebody else chose: only public ones, no redirects, bounded in time and in what is read. */
import { lookup } from 'node:dns'
import { isIP } from 'node:net'
import { Agent, buildConnector, request } from 'undici'
import { isLoopbackAddress, isPublicAddress } from './address.ts'
import { second } from './clock.ts'

interface Answer {
  status: number
  /** As much as is read of it. */
  body: string
  retryAfter: string | undefined
}

interface PostOptions {
  allowLocal: boolean
  /** For the whole of it, the answer's body included. */
  timeoutMs: number
}

export interface Poster {
  /** Rejects when there is no answer. `allowLocal` opens loopback addresses too. */
  post(url: string, body: string, headers: Readonly<Record<string, string>>, options: PostOptions): Promise<Answer>
  /** The same without a body. */
  get(url: string, options: PostOptions): Promise<Answer>
  close(): Promise<void>
}

const longestBody = 64 * 1024

/** `resolve`: how names become addresses. */
export function createPoster(resolve: typeof lookup = lookup): Poster {
  const agents = { open: guardedAgent(true, resolve), guarded: guardedAgent(false, resolve) }
  async function ask(url: string, { allowLocal, timeoutMs }: PostOptions, what: Parameters<typeof request>[1]): Promise<Answer> {
    const answer = await request(url, {
      ...what,
      dispatcher: allowLocal ? agents.open : agents.guarded,
      signal: AbortSignal.timeout(timeoutMs),
    })
    const { 'retry-after': retryAfter } = answer.headers
    return {
      status: answer.statusCode,
      body: await readStart(answer.body),
      retryAfter: Array.isArray(retryAfter) ? retryAfter[0] : retryAfter,
    }
  }
  const name = { 'user-agent': 'payments-gateway' }
  return {
    post: (url, body, headers, options) =>
      ask(url, options, { method: 'POST', headers: { 'content-type': 'application/json', ...name, ...headers }, body }),
    get: (url, options) => ask(url, options, { method: 'GET', headers: { accept: 'application/json', ...name } }),
    async close() {
      await Promise.all([agents.open.destroy(), agents.guarded.destroy()])
    },
  }
}

/** The address is judged where it cannot change any more: as a literal, after resolving, and on the connected socket. */
function guardedAgent(allowLocal: boolean, resolve: typeof lookup): Agent {
  const allowed = (address: string) => isPublicAddress(address) || (allowLocal && isLoopbackAddress(address))
  const connector = buildConnector({
    timeout: 5 * second,
    lookup: (hostname, options, callback) => {
      resolve(hostname, { ...options, all: true }, (error, addresses) => {
        if (error) callback(error, [])
        else if (addresses.every(({ address }) => allowed(address))) callback(null, addresses)
        else callback(new Error('the name does not resolve to public addresses only'), [])
      })
    },
  })
  return new Agent({
    pipelining: 1,
    connect(options, callback) {
      const host = options.hostname.replace(/^\[|\]$/g, '')
      if (isIP(host) && !allowed(host)) return callback(new Error('the address is not public'), null)
      connector(options, (error, socket) => {
        if (error) return callback(error, null)
        if (allowed(socket.remoteAddress ?? '')) return callback(null, socket)
        socket.destroy()
        callback(new Error('the address is not public'), null)
      })
    },
  })
}

async function readStart(body: AsyncIterable<Buffer> & { destroy(): void }): Promise<string> {
  const chunks: Buffer[] = []
  let length = 0
  for await (const chunk of body) {
    chunks.push(chunk)
    length += chunk.length
    if (length >= longestBody) break
  }
  body.destroy()
  return Buffer.concat(chunks).toString('utf8').slice(0, longestBody)
}
