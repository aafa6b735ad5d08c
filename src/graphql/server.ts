/**
 * The GraphQL door: POST and GET (`direct.ts`), server-sent events (`streams.ts`) and graphql-transport-ws (`sockets.ts`), behind the same
 * credentials and limits. Requests that are malformed are Yoga's, which says what is wrong with them.
 */
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
import { createDirect, refuse } from './direct.ts'
import { createDocuments } from './documents.ts'
import { toGraphqlError } from './error.ts'
import { createFanout } from './fanout.ts'
import { createGraphiql, type GraphiqlOptions, wantsPage } from './graphiql.ts'
import { largestBody, mostTokens } from './limits.ts'
import { createReader } from './operation.ts'
import type { Revocations } from './revocations.ts'
import { schema } from './schema.ts'
import { type SocketRequest, serveSockets } from './sockets.ts'
import { createStreams, wantsStream } from './streams.ts'

interface ServerContext {
  /** Who asks, where that is known already. */
  caller?: Caller
  req: IncomingMessage
  res: ServerResponse
}

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
    plugins: [limitTokens, guard],
    maskedErrors: { isDev: false, maskError: (error) => maskError(error, logger) },
    context: async ({ caller, req, res }) => createContext(core, feed, caller ?? (await core.admission.admit(req, res))),
  })
  const sockets = new WebSocketServer({ noServer: true, maxPayload: largestBody })
  const fanout = createFanout(core.database, feed)
  const masked = (error: unknown) => maskError(error, logger)
  const readOperation = createReader({ core, feed, documents: createDocuments(), masked })
  const shared = { core, readOperation, fanout, revocations, masked }
  const protocol = serveSockets(sockets, shared)
  const streams = createStreams({ ...shared, largestBody })
  const graphiql = options.graphiql && createGraphiql(options.graphiql)
  const handOn = (request: IncomingMessage, response: ServerResponse, caller?: Caller) =>
    void yoga(request, response, { req: request, res: response, ...(caller ? { caller } : {}) })
  const direct = createDirect({ core, readOperation, masked, handOn })

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
      else if (request.method === 'POST' || request.method === 'GET') direct(request, response)
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

/** What comes the long way is out of the ordinary, and what is wrong with it has been said before this: it is not executed. */
const guard: Plugin = {
  onExecute: ({ setResultAndStopExecution }) => setResultAndStopExecution({ errors: [unusual()] }),
  onSubscribe: ({ setResultAndStopExecution }) => setResultAndStopExecution({ errors: [unusual()] }),
}

function unusual(): GraphQLError {
  return new GraphQLError('The request is not one that is executed here', { extensions: { code: 'INVALID_REQUEST_FORMAT' } })
}

/** A fault of the document or its variables, with a code as everybody else's have. */
function coded(error: GraphQLError): GraphQLError {
  if (error.extensions['code'] !== undefined) return error
  const code = /^Syntax Error/.test(error.message)
    ? 'GRAPHQL_PARSE_FAILED'
    : /^Variable "/.test(error.message) || error.path
      ? 'BAD_USER_INPUT'
      : 'GRAPHQL_VALIDATION_FAILED'
  const { message, path, originalError, extensions, nodes, source, positions, locations } = error
  const said = new GraphQLError(message, { nodes, source, positions, path, originalError, extensions: { ...extensions, code } })
  return !said.locations && locations ? Object.assign(said, { locations }) : said
}

/** What a caller may see of an error. Refusals and faults of the document are theirs; anything else is ours, and logged. */
function maskError(error: unknown, logger: Logger): GraphQLError {
  if (error instanceof DomainError) return toGraphqlError(error)
  if (error instanceof GraphQLError) {
    const { originalError } = error
    if (!originalError || originalError instanceof GraphQLError) return coded(error)
    const { message, extensions } = maskError(originalError, logger)
    const masked = new GraphQLError(message, { nodes: error.nodes, path: error.path, extensions })
    if (!error.nodes && error.locations) Object.assign(masked, { locations: error.locations })
    return masked
  }
  logger.error({ err: error }, 'a GraphQL operation failed')
  return new GraphQLError('Something went wrong here', { extensions: { code: 'INTERNAL_ERROR' } })
}
