/** The GraphQL door: Yoga over HTTP (POST, GET, SSE) and graphql-transport-ws over WebSocket, behind the same credentials and limits. */
import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import { GraphQLError } from 'graphql'
import { createYoga, type Plugin } from 'graphql-yoga'
import { WebSocketServer } from 'ws'
import { second } from '../base/clock.ts'
import type { Logger } from '../base/logger.ts'
import { DomainError } from '../base/refusal.ts'
import { requestIdHeader, requestIdOf } from '../base/request-id.ts'
import type { Caller, Core } from '../core/operation.ts'
import type { Feed } from '../log/feed.ts'
import { createContext } from './context.ts'
import { judgeOf } from './cost.ts'
import { createDirect, refuse } from './direct.ts'
import { createDocuments } from './documents.ts'
import { toGraphqlError } from './error.ts'
import { createFanout } from './fanout.ts'
import { createGraphiql, type GraphiqlOptions, wantsPage } from './graphiql.ts'
import { largestBody, mostTokens } from './limits.ts'
import type { ServerContext } from './operation.ts'
import type { Revocations } from './revocations.ts'
import { schema } from './schema.ts'
import { type SocketRequest, serveSockets } from './sockets.ts'
import { createStreams, wantsStream } from './streams.ts'

const path = '/graphql'
/** How long a socket may take to close when the gateway does. */
const patienceMs = 2 * second

export interface GraphqlDoor {
  /** Answers the request if it is for this door. */
  handle(request: IncomingMessage, response: ServerResponse): boolean
  /** Takes the server's WebSocket upgrades. */
  attach(server: Server): void
  /** Closes every socket with 1001: going away; ends every stream. */
  close(): Promise<void>
}

export function createGraphqlDoor(
  core: Core,
  feed: Feed,
  revocations: Revocations,
  logger: Logger,
  options: { graphiql: GraphiqlOptions | undefined },
): GraphqlDoor {
  const yoga = createYoga<ServerContext>({
    schema,
    graphqlEndpoint: path,
    landingPage: false,
    graphiql: false,
    multipart: false,
    batching: false,
    cors: false,
    logging: false,
    maxRequestBodySize: largestBody,
    plugins: [limitTokens, limitCost, followElsewhere],
    maskedErrors: { isDev: false, maskError: (error) => maskError(error, logger) },
    context: async ({ caller, req, res }) => createContext(core, feed, caller ?? (await core.admission.admit(req!, res!))),
  })
  const sockets = new WebSocketServer({ noServer: true, maxPayload: largestBody })
  const fanout = createFanout(core.database, feed)
  const masked = (error: unknown) => maskError(error, logger)
  const shared = { core, yoga, fanout, revocations, masked }
  const protocol = serveSockets(sockets, shared)
  const streams = createStreams({ ...shared, largestBody })
  const graphiql = options.graphiql && createGraphiql(options.graphiql)
  const handOn = (request: IncomingMessage, response: ServerResponse, caller?: Caller) =>
    void yoga(request, response, { req: request, res: response, ...(caller ? { caller } : {}) })
  const direct = createDirect({ core, feed, documents: createDocuments(), masked, handOn })

  return {
    handle(request, response) {
      if (pathOf(request) !== path) return false
      const requestId = requestIdOf(request)
      const startedAt = performance.now()
      response.setHeader(requestIdHeader, requestId)
      response.once('close', () => {
        const ms = Math.round(performance.now() - startedAt)
        logger.info({ requestId, method: request.method, route: path, status: response.statusCode, ms }, 'request')
      })
      // Forms can be sent across sites without asking, and browsers add Basic credentials to them: JSON only.
      if (request.method === 'POST' && !/^application\/(graphql\+)?json\b/i.test(request.headers['content-type'] ?? '')) {
        refuse(response, 415, 'Send the operation as application/json')
      } else if (graphiql && wantsPage(request)) {
        graphiql(request, response).catch((error) => {
          logger.error({ err: error }, 'GraphiQL could not be shown')
          response.destroy()
        })
      } else if (wantsStream(request)) void streams.handle(request, response)
      else if (request.method === 'POST') direct(request, response)
      else handOn(request, response)
      return true
    },
    attach(server) {
      server.on('upgrade', (request, socket, head) => {
        if (pathOf(request) !== path) socket.end('HTTP/1.1 404 Not Found\r\nConnection: close\r\n\r\n')
        else {
          // Of the request only its connection is kept, for as long as the socket is open.
          const kept = { socket: request.socket, address: core.admission.addressOf(request) } satisfies SocketRequest
          sockets.handleUpgrade(request, socket, head, (opened) => sockets.emit('connection', opened, kept))
        }
      })
    },
    async close() {
      streams.close()
      // Who does not read does not hear that it is over either.
      const impatient = setTimeout(() => {
        for (const socket of sockets.clients) socket.terminate()
      }, patienceMs)
      await protocol.dispose()
      clearTimeout(impatient)
      sockets.close()
    },
  }
}

function pathOf({ url }: IncomingMessage): string {
  return (url ?? '').split('?', 1)[0] ?? ''
}

/** Refuses long documents while they are read: before anything of them is kept. */
const limitTokens: Plugin = {
  onParse({ parseFn, setParseFn }) {
    setParseFn((source: string, options: object) => parseFn(source, { ...options, maxTokens: mostTokens }))
  },
}

const limitCost: Plugin = {
  onExecute({ args, setResultAndStopExecution }) {
    const refusal = judgeOf(args.document, args.operationName)(args.variableValues)
    if (refusal) setResultAndStopExecution({ errors: [refusal] })
  },
}

/** Sockets and streams do not come this way. */
const followElsewhere: Plugin = {
  onSubscribe({ setResultAndStopExecution }) {
    const message = 'Subscriptions are followed over a WebSocket, or with Accept: text/event-stream'
    setResultAndStopExecution({ errors: [new GraphQLError(message, { extensions: { code: 'INVALID_REQUEST_FORMAT' } })] })
  },
}

/** What a caller may see of an error. Refusals and faults of the document are theirs; anything else is ours, and logged. */
function maskError(error: unknown, logger: Logger): GraphQLError {
  if (error instanceof DomainError) return toGraphqlError(error)
  if (error instanceof GraphQLError) {
    const { originalError } = error
    if (!originalError || originalError instanceof GraphQLError) return error
    const { message, extensions } = maskError(originalError, logger)
    const masked = new GraphQLError(message, { nodes: error.nodes, path: error.path, extensions })
    if (!error.nodes && error.locations) Object.assign(masked, { locations: error.locations })
    return masked
  }
  logger.error({ err: error }, 'a GraphQL operation failed')
  return new GraphQLError('Something went wrong here', { extensions: { code: 'INTERNAL_ERROR' } })
}
