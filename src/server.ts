/** The one HTTP server: what every request is held to, whichever door it is for. GraphQL takes its own path before Fastify sees it. */
import { createServer as createHttpServer, type ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { constants } from 'node:zlib'
import compress from '@fastify/compress'
import Fastify, { type FastifyInstance } from 'fastify'
import { minute, second } from './base/clock.ts'
import type { Logger } from './base/logger.ts'
import { requestIdHeader, requestIdOf } from './base/request-id.ts'
import { shareAcrossOrigins } from './cors.ts'
import type { Database } from './database/port.ts'
import type { GraphqlDoor } from './graphql/server.ts'
import { sendRefusal } from './rest/router.ts'

/** How long a client may take, before it is cut off. */
export interface Patience {
  /** To send its headers. */
  headersMs: number
  /** To send the whole request: the largest file, over a slow line. */
  requestMs: number
  /** Between two signs of life: while it sends, and while it reads what it was sent. */
  silenceMs: number
}

export const defaultPatience: Patience = { headersMs: 10 * second, requestMs: 5 * minute, silenceMs: 30 * second }

const largestHeaders = 16 * 1024
const largestBody = 256 * 1024
/** Smaller replies are not worth the work. */
const smallestCompressed = 4096

interface Parts {
  logger: Logger
  database: Database
  corsOrigins: readonly string[]
  patience: Patience
}

export async function createServer(
  { logger, database, corsOrigins, patience }: Parts,
  state: { closing: boolean },
  graphql: GraphqlDoor,
): Promise<FastifyInstance> {
  const answering = new WeakMap<Socket, ServerResponse>()
  const app = Fastify({
    serverFactory(handler) {
      const server = createHttpServer(
        {
          maxHeaderSize: largestHeaders,
          headersTimeout: patience.headersMs,
          requestTimeout: patience.requestMs,
          connectionsCheckingInterval: patience.headersMs / 4,
        },
        (request, response) => {
          answering.set(request.socket, response)
          if (shareAcrossOrigins(request, response, corsOrigins)) return
          if (!graphql.handle(request, response)) handler(request, response)
        },
      )
      // Silence of the client's: while an answer is being made it has nothing to say.
      server.setTimeout(patience.silenceMs, (socket) => {
        const response = answering.get(socket)
        if (response?.req.complete && !response.headersSent) socket.setTimeout(patience.silenceMs)
        else socket.destroy()
      })
      graphql.attach(server)
      return server
    },
    clientErrorHandler: refuseUnreadable,
    bodyLimit: largestBody,
    forceCloseConnections: 'idle',
    routerOptions: { maxParamLength: 400 },
    // Refused before any route is found.
    frameworkErrors: (error, _request, reply) => void sendRefusal(reply, error),
    genReqId: requestIdOf,
  })
  await app.register(compress, {
    encodings: ['br', 'gzip'],
    threshold: smallestCompressed,
    zlibOptions: { level: 1 },
    brotliOptions: { params: { [constants.BROTLI_PARAM_QUALITY]: 1 } },
  })
  app.addHook('onRequest', async (request, reply) => {
    reply.header(requestIdHeader, request.id)
  })
  app.addHook('onResponse', async (request, reply) => {
    // The route, not the URL: paths and queries can carry addresses and account numbers.
    const { method, routeOptions } = request
    const route = routeOptions.url ?? 'none'
    const level = route === '/healthz' || route === '/readyz' ? 'debug' : 'info'
    logger[level](
      { requestId: request.id, method, route, status: reply.statusCode, ms: Math.round(reply.elapsedTime) },
      'request',
    )
  })
  app.get('/healthz', async () => ({ status: 'ok' }))
  app.get('/readyz', async (_request, reply) => {
    const ready = !state.closing && (await answers(database))
    return reply.code(ready ? 200 : 503).send({ status: ready ? 'ready' : 'not ready' })
  })
  return app
}

async function answers(database: Database): Promise<boolean> {
  try {
    await database.query('select 1')
    return true
  } catch {
    return false
  }
}

const unreadable: Readonly<Record<string, readonly [status: number, reason: string, message: string]>> = {
  HPE_HEADER_OVERFLOW: [431, 'Request Header Fields Too Large', `The headers are larger than ${largestHeaders} bytes`],
  ERR_HTTP_REQUEST_TIMEOUT: [408, 'Request Timeout', 'The request did not arrive in time'],
}

/** What is not HTTP, too much of it, or too slow, is answered in the form of every other refusal. */
function refuseUnreadable(error: Error & { code?: string }, socket: Socket): void {
  if (error.code === 'ECONNRESET' || socket.destroyed) return
  const [status, reason, message] = unreadable[error.code ?? ''] ?? [400, 'Bad Request', 'That is not an HTTP request']
  const body = JSON.stringify({ status, code: 'INVALID_REQUEST_FORMAT', message })
  if (socket.writable) {
    socket.write(
      `HTTP/1.1 ${status} ${reason}\r\nContent-Type: application/json; charset=utf-8\r\nContent-Length: ${Buffer.byteLength(body)}\r\nConnection: close\r\n\r\n${body}`,
    )
  }
  socket.destroySoon()
}
