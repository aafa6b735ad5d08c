/** The REST door: the route tables of the rooms, behind Basic authentication, in the specification's JSON. */
import multipart from '@fastify/multipart'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { etagOf, isKnown } from '../base/etag.ts'
import { parseJson, stringifyJson } from '../base/json.ts'
import type { Logger } from '../base/logger.ts'
import { DomainError } from '../base/refusal.ts'
import { maskedFor } from '../core/masked.ts'
import { ask, type Call, type Core, perform } from '../core/operation.ts'
import { accountRoutes } from './accounts.ts'
import { customerRoutes } from './customers.ts'
import { answerTo, HttpRefusal, masked } from './error.ts'
import { eventRoutes } from './events.ts'
import { hasBody, methodsOf, readsOnly, takesJson } from './http.ts'
import { lookupRoutes } from './lookups.ts'
import { openApiDocument } from './openapi.ts'
import { peopleRoutes } from './people.ts'
import { platformRoutes } from './platform.ts'
import { quoteRoutes } from './quotes.ts'
import { addReference } from './reference.ts'
import type { Route } from './route.ts'
import { sandboxRoutes } from './sandbox.ts'
import { transactionRoutes } from './transactions.ts'

const apiVersion = '2025-10-13'

/** By room, in the order in which a platform meets them. */
const rooms: Readonly<Record<string, readonly Route[]>> = {
  platform: platformRoutes,
  customers: customerRoutes,
  people: peopleRoutes,
  accounts: accountRoutes,
  lookups: lookupRoutes,
  quotes: quoteRoutes,
  transactions: transactionRoutes,
  events: eventRoutes,
  sandbox: sandboxRoutes,
}

const routes = Object.values(rooms).flat()

export function printedOpenApi(): string {
  return `${JSON.stringify(openApiDocument(rooms), null, 2)}\n`
}

const largestFile = 100 * 1024 * 1024
const json = 'application/json; charset=utf-8'

export function addRestDoor(app: FastifyInstance, core: Core, logger: Logger): void {
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('application/json', { parseAs: 'string' }, async (_request: FastifyRequest, body: string) =>
    readBody(body),
  )
  app.register(multipart, { limits: { fileSize: largestFile, files: 1, fields: 10 } })
  app.setErrorHandler((error, request, reply) => sendError(error, request, reply, logger))
  const allowed = methodsOf(routes, `/${apiVersion}`)
  app.setNotFoundHandler((request, reply) => {
    const path = request.url.split('?')[0]!
    const methods = allowed(path)
    if (methods.length > 0) reply.header('allow', methods.join(', '))
    if (methods.length > 0 && request.method === 'OPTIONS') return reply.code(204).send()
    const refusal =
      methods.length > 0
        ? new HttpRefusal(405, 'METHOD_NOT_ALLOWED', `This path takes ${methods.join(', ')}`)
        : new DomainError('NOT_FOUND', `There is no ${request.method} ${path}`)
    return sendError(refusal, request, reply, logger)
  })
  addReference(app)
  let described: string | undefined
  app.get('/openapi.json', (_request, reply) => {
    described ??= printedOpenApi()
    return reply.type(json).send(described)
  })
  for (const route of routes) {
    app.route({
      method: route.method,
      url: `/${apiVersion}${route.path}`,
      // A HEAD must change nothing.
      exposeHeadRoute: readsOnly(route),
      handler: async (request, reply) => {
        if (!takesJson(request.headers.accept)) throw new HttpRefusal(406, 'NOT_ACCEPTABLE', 'Answers are application/json')
        const answer = await answerOf(core, route, request, reply)
        if (route.location) reply.header('location', `/${apiVersion}${route.location(answer)}`)
        return route.status === 204 ? reply.code(204).send() : sendAnswer(stringifyJson(answer), route, request, reply)
      },
    })
  }
}

function sendAnswer(text: string, { method, path, status }: Route, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  // A resource of its own can be asked for again: only if it has changed.
  if (method === 'GET' && /:[^/]+$/.test(path)) {
    const etag = etagOf(text)
    reply.header('etag', etag)
    if (isKnown(request.headers['if-none-match'], etag)) return reply.code(304).send()
  }
  return reply.code(status).type(json).send(text)
}

async function answerOf(
  core: Core,
  { asks, method, caller, upload, with: said }: Route,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<unknown> {
  const call: Call = {
    caller: caller
      ? await caller(core, request.params as Record<string, string>)
      : await core.admission.admit(request.raw, reply.raw),
    idempotencyKey: headerOf(request, 'idempotency-key'),
  }
  const params = { ...(request.params as object), ...said }
  return maskedFor(call.caller, await asked(core, { asks, method, upload, params, call }, request))
}

async function asked(
  core: Core,
  {
    asks,
    method,
    upload,
    params,
    call,
  }: Pick<Route, 'asks' | 'method'> & { upload: string | undefined; params: object; call: Call },
  request: FastifyRequest,
): Promise<unknown> {
  if (asks.kind === 'query') return ask(core, asks, call, { total: 'bounded', ...(request.query as object), ...params })
  if (request.isMultipart() !== (upload !== undefined)) {
    throw new DomainError(
      'INVALID_REQUEST_FORMAT',
      upload ? `Send a multipart form with the file in ${upload}` : 'Send a JSON object',
    )
  }
  if (asks.kind === 'action') {
    return ask(core, asks, call, upload ? { [upload]: await fileIn(request, upload) } : { ...objectOf(request.body), ...params })
  }
  return perform(core, asks, call, { ...(hasBody(method) ? objectOf(request.body) : (request.query as object)), ...params })
}

/** The stream of a form's file; undefined when it has none. */
async function fileIn(request: FastifyRequest, field: string): Promise<object | undefined> {
  const part = await request.file()
  return part?.fieldname === field ? part.file : undefined
}

function headerOf(request: FastifyRequest, name: string): string | undefined {
  const value = request.headers[name]
  return Array.isArray(value) ? value[0] : value
}

/** An absent body is an empty one: what is missing from it is said field by field. */
function objectOf(body: unknown): object {
  if (body === undefined || body === null) return {}
  if (typeof body === 'object' && !Array.isArray(body)) return body
  throw new DomainError('INVALID_REQUEST_FORMAT', 'Send a JSON object')
}

function readBody(body: string): unknown {
  if (body.trim() === '') return undefined
  try {
    return parseJson(body)
  } catch {
    throw new DomainError('INVALID_REQUEST_FORMAT', 'The body is not valid JSON')
  }
}

function sendError(error: unknown, request: FastifyRequest, reply: FastifyReply, logger: Logger): void {
  if (!answerTo(error)) logger.error({ err: error, requestId: request.id }, 'a request failed')
  sendRefusal(reply, error)
}

export function sendRefusal(reply: FastifyReply, error: unknown): FastifyReply {
  const answer = answerTo(error) ?? masked
  if (answer.status === 401) reply.header('www-authenticate', 'Basic realm="payments gateway", charset="UTF-8"')
  if (answer.status === 429) reply.header('retry-after', String(answer.details?.['retryAfterSeconds'] ?? 1))
  if (answer.status === 409) reply.header('x-should-retry', 'false')
  return reply.code(answer.status).type(json).send(stringifyJson(answer))
}
