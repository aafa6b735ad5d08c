/**
 * The REST door described for programs (OpenAPI 3.1), made from what it is made of: the route tables, the schemas that read input and shape
 * answers, and the refusals of each operation. `openapi.json` is this, checked in; tests hold every reply and every webhook against it.
 */
import { type RefusalCode, refusalCodes, refusals } from '../base/refusal.ts'
import { commonRefusals } from '../core/operation.ts'
import { mostCounted } from '../core/page.ts'
import { statuses } from './error.ts'
import { type Example, examples } from './examples.ts'
import { hasBody } from './http.ts'
import { componentOf, type Json, named, schemaOf, shapeOf } from './openapi-schemas.ts'
import { describedWebhooks } from './openapi-webhooks.ts'
import type { Route } from './route.ts'

const version = '2025-10-13'

const idempotencyKey = {
  name: 'Idempotency-Key',
  in: 'header',
  description: 'A repeat with the same key answers what the first was answered.',
  schema: { type: 'string', minLength: 1, maxLength: 255 },
}

/** The name of an endpoint: its operation's, and where two share one, whose it is. */
function operationId({ asks, with: said = {} }: Route): string {
  return [asks.name, ...Object.values(said).map((owner) => `Of${owner.charAt(0)}${owner.slice(1).toLowerCase()}`)].join('')
}

function operationOf(route: Route, tag: string): Json {
  const { method, path, asks, with: said = {}, says, status, upload, caller } = route
  const id = operationId(route)
  const shown = examples.filter((example) => example.of === id)
  const inPath = [...path.matchAll(/:([^/]+)/g)].map(([, name]) => name!)
  const { properties = {}, required = [] } = schemaOf(asks.input) as { properties?: Record<string, Json>; required?: string[] }
  const isOther = (name: string) => !inPath.includes(name) && !(name in said)
  const others = Object.entries(properties).filter(([name]) => isOther(name))
  const mandatory = required.filter(isOther)
  const parameters: Json[] = inPath.map((name) => ({
    name,
    in: 'path',
    required: true,
    schema: { type: 'string' },
    ...exampleOf(shown[0]?.path?.[name]),
  }))
  if (!hasBody(method)) {
    for (const [name, schema] of others) {
      const query = { name, in: 'query', ...(mandatory.includes(name) ? { required: true } : {}), ...inQuery(name, schema) }
      parameters.push({ ...query, ...exampleOf(shown[0]?.query?.[name]) })
    }
  }
  if (asks.kind === 'operation') parameters.push(idempotencyKey)
  const takesBody = hasBody(method) && (upload !== undefined || others.length > 0)
  return {
    operationId: id,
    summary: says,
    tags: [tag],
    ...(caller ? { security: [] } : asks.forViewers ? { security: [{ basic: [] }, { viewer: [] }] } : {}),
    ...(parameters.length > 0 ? { parameters } : {}),
    ...(takesBody
      ? {
          requestBody: {
            required: upload !== undefined || mandatory.length > 0,
            content: upload ? fileContent(upload) : bodyContent(Object.fromEntries(others), mandatory, shown),
          },
        }
      : {}),
    responses: { [status]: successOf(route), ...refusedBy(route, inPath.length + others.length > 0) },
  }
}

function exampleOf(value: unknown): Json {
  return value === undefined ? {} : { example: value }
}

function fileContent(field: string): Json {
  const schema = { type: 'object', required: [field], properties: { [field]: { type: 'string', format: 'binary' } } }
  return { 'multipart/form-data': { schema } }
}

function bodyContent(properties: Json, required: readonly string[], shown: readonly Example[]): Json {
  const withBodies = shown.filter(({ body }) => body !== undefined)
  return {
    'application/json': {
      schema: { type: 'object', properties, ...(required.length > 0 ? { required } : {}) },
      ...(withBodies.length > 0
        ? {
            examples: Object.fromEntries(
              withBodies.map(({ says, body }, index) => [
                `example${index + 1}`,
                { ...(says ? { summary: says } : {}), value: body },
              ]),
            ),
          }
        : {}),
    },
  }
}

/** Everything of a query arrives as text; lists also as one text with commas between. */
function inQuery(name: string, schema: Json): Json {
  if (name === 'total') {
    const description = `Whether totalCount is there: none; bounded, unless there are more than ${mostCounted}; exact, whatever it costs.`
    return { description, schema: { ...schema, default: 'bounded' } }
  }
  const isText = !['integer', 'boolean', 'array'].includes(String(schema['type']))
  return { schema: isText ? { type: 'string', ...schema } : schema }
}

function successOf({ says, status, asks, location, method, path }: Route): Json {
  if (status === 204) return { description: 'Done.' }
  const headers = {
    ...(location ? { Location: header('Where it is found from now on.') } : {}),
    ...(method === 'GET' && /:[^/]+$/.test(path) ? { ETag: header('Changes with the body: for If-None-Match.') } : {}),
  }
  return {
    description: says,
    ...(Object.keys(headers).length > 0 ? { headers } : {}),
    content: { 'application/json': { schema: shapeOf(asks.output) } },
  }
}

function header(description: string): Json {
  return { description, schema: { type: 'string' } }
}

/** Which codes an endpoint refuses with, by status. */
function refusalsOf({ method, asks, caller }: Route, takesInput: boolean): Map<number, RefusalCode[]> {
  const ofInput = (code: RefusalCode) =>
    code === 'INVALID_INPUT' ? takesInput : code !== 'INVALID_REQUEST_FORMAT' || method !== 'GET'
  const ofCredentials = (code: RefusalCode) => !caller || !['UNAUTHORIZED', 'FORBIDDEN', 'RATE_LIMITED'].includes(code)
  const codes = [...commonRefusals(asks).filter((code) => ofInput(code) && ofCredentials(code)), ...(asks.refuses ?? [])]
  return Map.groupBy([...new Set(codes)], (code) => statuses[code])
}

/** What HTTP itself refuses, by status. */
const protocol: Readonly<Record<number, { code: string; meaning: string }>> = {
  406: { code: 'NOT_ACCEPTABLE', meaning: 'Answers are application/json.' },
  413: { code: 'INVALID_REQUEST_FORMAT', meaning: 'The body is too large.' },
  414: { code: 'INVALID_REQUEST_FORMAT', meaning: 'A part of the path is too long.' },
  415: { code: 'INVALID_REQUEST_FORMAT', meaning: 'The body is of another type.' },
  500: { code: 'INTERNAL_ERROR', meaning: 'A fault of the service; the request id leads to it. Try again.' },
}

function refusedBy(route: Route, takesInput: boolean): Json {
  const ofOperation = refusalsOf(route, takesInput)
  const ofProtocol = [406, ...(route.method === 'GET' ? [] : [413, 415]), ...(route.path.includes(':') ? [414] : []), 500]
  const described = [...ofOperation].map(([status, codes]) => [
    status,
    shared.has(status) ? sharedResponse(status) : refusedWith(codes),
  ])
  return Object.fromEntries([...described, ...ofProtocol.map((status) => [status, sharedResponse(status)])])
}

/** The same at every endpoint that has them. */
const shared: ReadonlyMap<number, readonly RefusalCode[]> = new Map([
  [401, ['UNAUTHORIZED']],
  [429, ['RATE_LIMITED']],
])

function sharedResponse(status: number): Json {
  return { $ref: `#/components/responses/Refused${status}` }
}

function refusedWith(codes: readonly RefusalCode[]): Json {
  const description = codes.map((code) => `- \`${code}\`: ${refusals[code]}`).join('\n')
  return refusedResponse(description, codes)
}

function refusedResponse(description: string, codes: readonly string[]): Json {
  const code = codes.length === 1 ? { const: codes[0] } : { enum: codes }
  const schema = { allOf: [{ $ref: '#/components/schemas/Refusal' }, { properties: { code } }] }
  return { description, content: { 'application/json': { schema } } }
}

function sharedResponses(): Json {
  const headers = {
    'Retry-After': header('Seconds after which it is worth trying again.'),
    'RateLimit-Limit': header('Requests in a window.'),
    'RateLimit-Remaining': header('How many are left in this one.'),
    'RateLimit-Reset': header('Seconds until the next.'),
  }
  return Object.fromEntries([
    ...[...shared].map(([status, codes]) => [
      `Refused${status}`,
      { ...refusedWith(codes), ...(status === 429 ? { headers } : {}) },
    ]),
    ...Object.entries(protocol).map(([status, { code, meaning }]) => [
      `Refused${status}`,
      refusedResponse(`- \`${code}\`: ${meaning}`, [code]),
    ]),
  ])
}

const refusedBody = {
  type: 'object',
  description: 'Why something was refused. Nothing was written.',
  required: ['status', 'code', 'message'],
  properties: {
    status: { type: 'integer', description: 'The status of the reply.' },
    code: { type: 'string', description: 'For programs.', examples: refusalCodes.slice(0, 3) },
    message: { type: 'string', description: 'For people.' },
    details: {
      type: 'object',
      description: 'What else is known.',
      properties: {
        field: { type: 'string', description: 'Path of the field it is about.' },
        errors: {
          type: 'array',
          description: 'Every field of the input that is wrong.',
          items: {
            type: 'object',
            required: ['message'],
            properties: { field: { type: 'string' }, message: { type: 'string' } },
          },
        },
      },
    },
  },
}

const describedRooms: Readonly<Record<string, string>> = {
  platform: "The platform's configuration and credentials.",
  customers: "The platform's customers.",
  people: 'How people arrive: files, invitations, bank links.',
  accounts: 'Balances, and accounts outside.',
  lookups: 'Who can be paid, and what it would cost.',
  quotes: 'Payments across currencies.',
  transactions: 'Payments, whichever way they began.',
  events: 'What happened, and how it is told.',
  sandbox: 'Sandbox credentials only: what others would do.',
}

export function openApiDocument(rooms: Readonly<Record<string, readonly Route[]>>): Json {
  const paths: Record<string, Json> = {}
  for (const [tag, routes] of Object.entries(rooms)) {
    for (const route of routes) {
      const path = route.path.replace(/:([^/]+)/g, '{$1}')
      paths[path] = { ...paths[path], [route.method.toLowerCase()]: operationOf(route, tag) }
    }
  }
  return {
    openapi: '3.1.0',
    info: {
      title: 'Payments gateway',
      version,
      description:
        'Moves money across currencies. Amounts are integers of the smallest unit of their currency; ids are `<Type>:<uuid>`. Every POST takes an Idempotency-Key. Unknown fields of a body are ignored, and answers may gain fields.',
      license: { name: 'MIT', identifier: 'MIT' },
    },
    servers: [{ url: `/${version}` }],
    security: [{ basic: [] }],
    tags: Object.keys(rooms).map((name) => ({ name, description: describedRooms[name] })),
    paths,
    webhooks: describedWebhooks(),
    components: {
      securitySchemes: {
        basic: { type: 'http', scheme: 'basic', description: 'The id and the secret of an API token.' },
        viewer: {
          type: 'http',
          scheme: 'bearer',
          description: 'A viewer token: what belongs to its customer, for some minutes.',
        },
      },
      schemas: { Refusal: refusedBody, ...Object.fromEntries([...named].map(([schema, name]) => [name, componentOf(schema)])) },
      responses: sharedResponses(),
    },
  }
}
