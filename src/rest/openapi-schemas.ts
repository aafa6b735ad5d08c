/** Schemas that read input and shape answers, as JSON Schema: what has a name is described once and referred to. */
import { z } from 'zod'
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
import { maskedPattern } from '../core/masked.ts'
import { PlatformConfig } from '../core/platform/configuration.ts'
import { WebhookKey } from '../core/platform/signing-keys.ts'
import { Token } from '../core/platform/tokens.ts'
import { ViewerToken } from '../core/platform/viewer-tokens.ts'
import { Quote } from '../core/quotes/quote.ts'
import { ExchangeRate } from '../core/rates/exchange-rates.ts'
import { Transaction } from '../core/transactions/transaction.ts'

export type Json = Record<string, unknown>

/** What has a name of its own in the description. */
export const named: ReadonlyMap<z.ZodType, string> = new Map<z.ZodType, string>(
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
    ViewerToken,
    WebhookKey,
    WebhookDelivery,
    WebhookAttempt,
    WebhookHealth,
  }).map(([name, schema]) => [schema, name]),
)

/** As it is described under its name. Numbers of accounts are shown to viewer tokens as their ends. */
export function componentOf(schema: z.ZodType): Json {
  return schema === accountInfo ? orMasked(schemaOf(schema)) : schemaOf(schema)
}

function orMasked(schema: Json): Json {
  return Object.fromEntries(
    Object.entries(schema).map(([name, value]) => {
      if (name === 'pattern') return [name, `${value}|^${maskedPattern}$`]
      if (name === 'minLength') return [name, Math.min(value as number, 4)]
      if (Array.isArray(value)) return [name, value.map((item) => (isObject(item) ? orMasked(item) : item))]
      return [name, isObject(value) ? orMasked(value) : value]
    }),
  )
}

function isObject(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

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
  const name = path.length > 0 ? named.get(zodSchema as unknown as z.ZodType) : undefined
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
export function shapeOf(schema: z.ZodType): Json {
  const name = named.get(schema)
  return name === undefined ? schemaOf(schema) : reference(name)
}

export function schemaOf(schema: z.ZodType): Json {
  const { $schema: _dialect, ...rest } = z.toJSONSchema(inOrder(schema), {
    io: 'input',
    unrepresentable: 'any',
    override: override as never,
  }) as Json
  return rest
}
