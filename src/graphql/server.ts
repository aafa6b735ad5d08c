/** The GraphQL door: Yoga over HTTP (POST, GET, SSE) and graphql-transport-ws over WebSocket, behind the same credentials and limits. */
import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import { GraphQLError, getOperationAST, OperationTypeNode } from 'graphql'
import { useServer } from 'graphql-ws/use/ws'
import { createYoga, type Plugin } from 'graphql-yoga'
import { WebSocketServer } from 'ws'
import type { Logger } from '../base/logger.ts'
import { DomainError } from '../base/refusal.ts'
import { requestIdHeader, requestIdOf } from '../base/request-id.ts'
import type { Caller, Core } from '../core/operation.ts'
import { authenticate } from '../core/platform/tokens.ts'
import { type Feed, SlowSubscriber } from '../log/feed.ts'
import { createContext } from './context.ts'
import { toGraphqlError } from './error.ts'
import { schema } from './schema.ts'

const path = '/graphql'
const mostTokens = 2000
const largestBody = 256 * 1024
const mostSubscriptionsPerSocket = 100

export interface GraphqlDoor {
  /** Answers the request if it is for this door. */
  handle(request: IncomingMessage, response: ServerResponse): boolean
  /** Takes the server's WebSocket upgrades. */
  attach(server: Server): void
  /** Closes every socket with 1001: going away. */
  close(): Promise<void>
}

interface ServerContext {
  /** Of a socket, authenticated when it was opened. */
  caller?: Caller
}

export function createGraphqlDoor(core: Core, feed: Feed, logger: Logger): GraphqlDoor {
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
    plugins: [limitTokens],
    maskedErrors: { isDev: false, maskError: (error) => maskError(error, logger) },
    context: async ({ caller, request }) =>
      createContext(core, feed, caller ?? (await authenticate(core.tokens, request.headers.get('authorization') ?? undefined))),
  })
  const sockets = new WebSocketServer({ noServer: true, maxPayload: largestBody })
  const protocol = serveSockets(sockets, core, yoga)

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
      } else void yoga(request, response)
      return true
    },
    attach(server) {
      server.on('upgrade', (request, socket, head) => {
        if (pathOf(request) !== path) socket.end('HTTP/1.1 404 Not Found\r\nConnection: close\r\n\r\n')
        else sockets.handleUpgrade(request, socket, head, (opened) => sockets.emit('connection', opened, request))
      })
    },
    async close() {
      await protocol.dispose()
      sockets.close()
    },
  }
}

function pathOf({ url }: IncomingMessage): string {
  return (url ?? '').split('?', 1)[0] ?? ''
}

function refuse(response: ServerResponse, status: number, message: string): void {
  response.writeHead(status, { 'content-type': 'application/json; charset=utf-8' })
  response.end(JSON.stringify({ errors: [{ message, extensions: { code: 'INVALID_REQUEST_FORMAT' } }] }))
}

/** Refuses long documents while they are read: before anything of them is kept. */
const limitTokens: Plugin = {
  onParse({ parseFn, setParseFn }) {
    setParseFn((source: string, options: object) => parseFn(source, { ...options, maxTokens: mostTokens }))
  },
}

/** What a caller may see of an error. Refusals and faults of the document are theirs; anything else is ours, and logged. */
function maskError(error: unknown, logger: Logger): Error {
  if (error instanceof DomainError) return toGraphqlError(error)
  if (error instanceof SlowSubscriber) {
    return new GraphQLError(error.message, { extensions: { code: 'SLOW_SUBSCRIBER', cursor: error.cursor } })
  }
  if (error instanceof GraphQLError) {
    const { originalError } = error
    if (!originalError || originalError instanceof GraphQLError) return error
    const masked = maskError(originalError, logger)
    const extensions = masked instanceof GraphQLError ? masked.extensions : {}
    return new GraphQLError(masked.message, { nodes: error.nodes, path: error.path, extensions })
  }
  logger.error({ err: error }, 'a GraphQL operation failed')
  return new GraphQLError('Something went wrong here', { extensions: { code: 'INTERNAL_ERROR' } })
}

type SocketState = {
  caller?: Caller
  /** Ids of the subscriptions that are open. */
  open?: Set<string>
}

/** graphql-transport-ws: credentials come in `connectionParams.authorization`, as the header would have them. */
function serveSockets(sockets: WebSocketServer, core: Core, yoga: ReturnType<typeof createYoga<ServerContext>>) {
  return useServer<Record<string, unknown>, SocketState>(
    {
      schema,
      async onConnect({ connectionParams, extra }) {
        const authorization = connectionParams?.['authorization'] ?? connectionParams?.['Authorization']
        try {
          extra.caller = await authenticate(core.tokens, typeof authorization === 'string' ? authorization : undefined)
          extra.open = new Set()
          return true
        } catch (error) {
          if (error instanceof DomainError) return false
          throw error
        }
      },
      async onSubscribe({ extra }, id, params) {
        const { parse, validate, contextFactory, execute, subscribe } = yoga.getEnveloped({ caller: extra.caller, params })
        const document = parsed(() => parse(params.query))
        if (document instanceof GraphQLError) return [document]
        const errors = validate(schema, document)
        if (errors.length > 0) return errors
        if (getOperationAST(document, params.operationName)?.operation === OperationTypeNode.SUBSCRIPTION) {
          if (extra.open!.size >= mostSubscriptionsPerSocket) {
            return [new GraphQLError(`A socket carries ${mostSubscriptionsPerSocket} subscriptions at most`)]
          }
          extra.open!.add(id)
        }
        return {
          schema,
          document,
          operationName: params.operationName,
          variableValues: params.variables,
          contextValue: await contextFactory(),
          rootValue: { execute, subscribe },
        }
      },
      onComplete({ extra }, id) {
        extra.open?.delete(id)
      },
      execute: (args) => (args.rootValue as Enveloped).execute({ ...args, rootValue: undefined }),
      subscribe: (args) => (args.rootValue as Enveloped).subscribe({ ...args, rootValue: undefined }),
    },
    sockets,
  )
}

type Enveloped = Pick<ReturnType<ReturnType<typeof createYoga<ServerContext>>['getEnveloped']>, 'execute' | 'subscribe'>

/** A syntax error is an answer to the operation, not the end of the socket. */
function parsed<Document>(parse: () => Document): Document | GraphQLError {
  try {
    return parse()
  } catch (error) {
    if (error instanceof GraphQLError) return error
    throw error
  }
}
