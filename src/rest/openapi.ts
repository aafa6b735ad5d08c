/**
 * The REST door described for programs (OpenAPI 3.1), made from what it is made of: the route tables and the schemas that read input and shape
 * answers. `openapi.json` is this, checked in.
 */
import { z } from 'zod'
import { refusalCodes } from '../base/refusal.ts'
import { accountInfo } from '../core/accounts/account-info.ts'
import { ExternalAccount } from '../core/accounts/external.ts'
import { PaymentInstruction } from '../core/accounts/funding-instructions.ts'
import { InternalAccount } from '../core/accounts/internal.ts'
import { BulkJob } from '../core/bulk-import/job.ts'
import { Customer } from '../core/customers/customer.ts'
import { WebhookAttempt, WebhookDelivery, WebhookHealth } from '../core/events/deliveries.ts'
import { address, currencyObject, money } from '../core/input.ts'
import { Invitation } from '../core/invitations/invitation.ts'
import { LookupReply } from '../core/lookups/lookup.ts'
import { UmaProvider } from '../core/lookups/uma-providers.ts'
import { PlatformConfig } from '../core/platform/configuration.ts'
import { WebhookKey } from '../core/platform/signing-keys.ts'
import { Token } from '../core/platform/tokens.ts'
import { Quote } from '../core/quotes/quote.ts'
import { ExchangeRate } from '../core/rates/exchange-rates.ts'
import { Transaction } from '../core/transactions/transaction.ts'
import { statuses } from './error.ts'
import type { Route } from './route.ts'

type Json = Record<string, unknown>

const version = '2025-10-13'

/** What has a name of its own in the description. */
const named: ReadonlyMap<unknown, string> = new Map<unknown, string>(
  Object.entries({
    Currency: currencyObject,
    CurrencyAmount: money,
    Address: address,
    Customer,
    InternalAccount,
    ExternalAccount,
    AccountInfo: accountInfo,
    PaymentInstruction,
    Quote,
    Transaction,
    Lookup: LookupReply,
    ExchangeRate,
    UmaProvider,
    Invitation,
    BulkImportJob: BulkJob,
    PlatformConfig,
    ApiToken: Token,
    WebhookKey,
    WebhookDelivery,
    WebhookAttempt,
    WebhookHealth,
  }).map(([name, schema]) => [schema, name]),
)

interface Node {
  zodSchema: z.core.$ZodTypes
  jsonSchema: Json
  path: readonly (string | number)[]
}

/** Amounts are read as numbers of either kind and instants as texts or dates; written they are JSON integers and texts. */
function override({ zodSchema, jsonSchema, path }: Node): void {
  const { def } = zodSchema._zod
  const has = (type: string) =>
    def.type === type || (def.type === 'union' && def.options.some((one) => one._zod.def.type === type))
  const name = path.length > 0 ? named.get(zodSchema) : undefined
  if (name !== undefined) become(jsonSchema, reference(name))
  else if (has('bigint')) become(jsonSchema, { type: 'integer', format: 'int64' })
  else if (has('date')) become(jsonSchema, { type: 'string', format: 'date-time' })
  if (jsonSchema['format']) delete jsonSchema['pattern']
  if (jsonSchema['maximum'] === Number.MAX_SAFE_INTEGER) delete jsonSchema['maximum']
  if (jsonSchema['minimum'] === Number.MIN_SAFE_INTEGER) delete jsonSchema['minimum']
}

function become(jsonSchema: Json, wanted: Json): void {
  for (const key of Object.keys(jsonSchema)) delete jsonSchema[key]
  Object.assign(jsonSchema, wanted)
}

function reference(name: string): Json {
  return { $ref: `#/components/schemas/${name}` }
}

/** Of input that is put in order before it is read, the form that it is put into. */
function inOrder(schema: z.ZodType): z.ZodType {
  const { def } = schema._zod as unknown as { def: { type: string; in?: z.ZodType; out?: z.ZodType } }
  return def.type === 'pipe' && def.in?._zod.def.type === 'transform' ? inOrder(def.out!) : schema
}

/** A schema as its name, where it has one. */
function shapeOf(schema: z.ZodType): Json {
  const name = named.get(schema)
  return name === undefined ? schemaOf(schema) : reference(name)
}

function schemaOf(schema: z.ZodType): Json {
  const { $schema: _dialect, ...rest } = z.toJSONSchema(inOrder(schema), {
    io: 'input',
    unrepresentable: 'any',
    override: override as never,
  }) as Json
  return rest
}

const idempotencyKey = {
  name: 'Idempotency-Key',
  in: 'header',
  description: 'A repeat with the same key answers what the first was answered.',
  schema: { type: 'string', minLength: 1, maxLength: 255 },
}

function operationOf({ method, path, asks, with: said, says, status, upload, caller }: Route, tag: string): Json {
  const inPath = [...path.matchAll(/:([^/]+)/g)].map(([, name]) => name!)
  const { properties = {}, required = [] } = schemaOf(asks.input) as { properties?: Record<string, Json>; required?: string[] }
  const others = Object.entries(properties).filter(
    ([name]) => !inPath.includes(name) && name !== 'withTotal' && said?.[name] === undefined,
  )
  const mandatory = required.filter((name) => others.some(([other]) => other === name))
  const parameters: Json[] = inPath.map((name) => ({ name, in: 'path', required: true, schema: { type: 'string' } }))
  if (method === 'GET') {
    for (const [name, schema] of others) {
      parameters.push({ name, in: 'query', ...(mandatory.includes(name) ? { required: true } : {}), schema: inQuery(schema) })
    }
  }
  if (asks.kind === 'operation') parameters.push(idempotencyKey)
  const form = { type: 'object', required: [upload], properties: { [upload ?? '']: { type: 'string', format: 'binary' } } }
  const body = {
    type: 'object',
    properties: Object.fromEntries(others),
    ...(mandatory.length > 0 ? { required: mandatory } : {}),
  }
  const hasBody = method !== 'GET' && (upload !== undefined || others.length > 0)
  return {
    operationId: said ? `${asks.name}Of${Object.values(said).join('')}` : asks.name,
    summary: says,
    tags: [tag],
    ...(caller ? { security: [] } : {}),
    ...(parameters.length > 0 ? { parameters } : {}),
    ...(hasBody
      ? {
          requestBody: {
            required: upload !== undefined || mandatory.length > 0,
            content: upload ? { 'multipart/form-data': { schema: form } } : { 'application/json': { schema: body } },
          },
        }
      : {}),
    responses: {
      [status]:
        status === 204
          ? { description: 'Done.' }
          : { description: says, content: { 'application/json': { schema: shapeOf(asks.output) } } },
      ...Object.fromEntries(
        refusalStatuses(method, path).map((refused) => [refused, { $ref: `#/components/responses/Refused${refused}` }]),
      ),
    },
  }
}

/** Everything of a query arrives as text; lists also as one text with commas between. */
function inQuery(schema: Json): Json {
  return schema['type'] === 'integer' || schema['type'] === 'boolean' || schema['type'] === 'array'
    ? schema
    : { type: 'string', ...schema }
}

function refusalStatuses(method: Route['method'], path: string): number[] {
  const ofBody = method === 'GET' ? [] : [413, 415]
  const ofPath = path.includes(':') ? [414] : []
  return [...new Set(Object.values(statuses)), 406, ...ofBody, ...ofPath, 500].sort((left, right) => left - right)
}

const meanings: Readonly<Record<number, string>> = {
  400: 'The input cannot be taken: the field and what is wrong with it are in details.',
  401: 'Missing or invalid credentials.',
  403: 'The credentials do not allow it, or the customer is not ready.',
  404: 'What it is about does not exist in this world.',
  406: 'Answers are application/json.',
  409: 'It conflicts with what has happened; a repeat does not help.',
  410: 'What it is about has been deleted.',
  413: 'The body is too large.',
  414: 'A part of the path is too long.',
  415: 'The body is of another type.',
  500: 'A fault of the service; the request id leads to it.',
  501: 'Not available here.',
}

const refusedBody = {
  type: 'object',
  required: ['status', 'code', 'message'],
  properties: {
    status: { type: 'integer' },
    code: { type: 'string', examples: refusalCodes.slice(0, 3) },
    message: { type: 'string' },
    details: { type: 'object' },
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
  const responses = Object.entries(meanings).map(([status, description]) => [
    `Refused${status}`,
    { description, content: { 'application/json': { schema: { $ref: '#/components/schemas/Refusal' } } } },
  ])
  return {
    openapi: '3.1.0',
    info: {
      title: 'Payments gateway',
      version,
      description:
        'Moves money across currencies. Amounts are integers of the smallest unit of their currency; ids are `<Type>:<uuid>`.',
      license: { name: 'MIT', identifier: 'MIT' },
    },
    servers: [{ url: `/${version}` }],
    security: [{ basic: [] }],
    tags: Object.keys(rooms).map((name) => ({ name, description: describedRooms[name] })),
    paths,
    components: {
      securitySchemes: { basic: { type: 'http', scheme: 'basic', description: 'The id and the secret of an API token.' } },
      schemas: {
        Refusal: refusedBody,
        ...Object.fromEntries([...named].map(([schema, name]) => [name, schemaOf(schema as z.ZodType)])),
      },
      responses: Object.fromEntries(responses),
    },
  }
}
