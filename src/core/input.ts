/** How input is read: once, by a zod schema, with every fault named by its field. And the kinds of value that many inputs share. */
import { z } from 'zod'
import { currencies } from '../base/currency.ts'
import { type IdType, uuidOf } from '../base/ids.ts'
import type { Json } from '../base/json.ts'
import { DomainError, type RefusalCode } from '../base/refusal.ts'

/** Reads input or refuses: the first fault decides code and field, `details.errors` lists them all. */
export function readInput<Schema extends z.ZodType>(schema: Schema, raw: unknown): z.output<Schema> {
  const result = schema.safeParse(raw)
  if (result.success) return result.data
  const errors = result.error.issues.flatMap((issue) => faultsOf(issue, [])).map((fault) => describe(fault, raw))
  const first = errors[0]!
  const { message, ...where } = withoutCode(first)
  throw new DomainError(first.code, first.message, { ...where, errors: errors.map(withoutCode) })
}

interface Fault {
  issue: z.core.$ZodIssue
  path: PropertyKey[]
}

/** Of a union none of whose options fits, the faults of the option that came closest. */
function faultsOf(issue: z.core.$ZodIssue, prefix: PropertyKey[]): Fault[] {
  const path = [...prefix, ...issue.path]
  if (issue.code === 'invalid_union' && issue.errors.length > 0) {
    const closest = issue.errors.reduce((best, option) => (option.length < best.length ? option : best))
    return closest.flatMap((inner) => faultsOf(inner, path))
  }
  return [{ issue, path }]
}

interface Described {
  code: RefusalCode
  message: string
  field?: string
  value?: Json
}

function describe({ issue, path }: Fault, raw: unknown): Described {
  const field = path.map(String).join('.')
  const value = valueAt(raw, path)
  return {
    code: issue.code === 'custom' && issue.params?.['code'] ? (issue.params['code'] as RefusalCode) : 'INVALID_INPUT',
    message: field ? `${field}: ${issue.message}` : issue.message,
    ...(field ? { field } : {}),
    ...(isScalar(value) ? { value } : {}),
  }
}

function withoutCode({ code: _code, message, ...details }: Described): { [key: string]: Json } {
  return { message, ...details }
}

function valueAt(raw: unknown, path: readonly PropertyKey[]): unknown {
  return path.reduce((at, key) => (typeof at === 'object' && at !== null ? Reflect.get(at, key) : undefined), raw)
}

/** Worth repeating in an error: short, and not a structure. */
function isScalar(value: unknown): value is string | number | bigint | boolean {
  if (typeof value === 'string') return value.length <= 100
  return typeof value === 'number' || typeof value === 'bigint' || typeof value === 'boolean'
}

// ── Kinds of value ───────────────────────────────────────────────────────────────────────────────────────────────────────────────

/** An id of the specification's form; reads as the bare uuid. */
export function idOf(type: IdType) {
  return z.string().transform((id, context) => {
    const uuid = uuidOf(type, id)
    if (uuid === undefined) context.addIssue({ code: 'custom', message: `expected an id of the form ${type}:<uuid>` })
    return uuid ?? z.NEVER
  })
}

/** The id of an account of either kind. */
export const accountReference = z.string().transform((id, context) => {
  for (const kind of ['InternalAccount', 'ExternalAccount'] as const) {
    const uuid = uuidOf(kind, id)
    if (uuid !== undefined) return { kind, id: uuid }
  }
  context.addIssue({ code: 'custom', message: 'expected an id of the form InternalAccount:<uuid> or ExternalAccount:<uuid>' })
  return z.NEVER
})

/** Of any single amount, in the smallest unit. */
export const largestAmount = 9_000_000_000_000_000n

/** An amount in the smallest unit: a positive whole number. Refuses INVALID_AMOUNT. */
export function amountUpTo(largest: bigint = largestAmount) {
  return z.union([z.number(), z.bigint()]).transform((value, context) => {
    const fault = amountFault(value, largest)
    if (fault === undefined) return BigInt(value)
    context.addIssue({ code: 'custom', message: fault, params: { code: 'INVALID_AMOUNT' } })
    return z.NEVER
  })
}

function amountFault(value: number | bigint, largest: bigint): string | undefined {
  if (typeof value === 'number' && !Number.isInteger(value)) return 'expected a whole number of the smallest unit'
  if (value <= 0) return 'expected more than zero'
  return value > largest ? `expected at most ${largest}` : undefined
}

/** A currency or asset code the service knows, upper case. Refuses INVALID_CURRENCY. */
export const currencyCode = z.string().refine((code) => currencies.has(code), {
  error: 'expected the code of a currency this service knows',
  params: { code: 'INVALID_CURRENCY' },
})

/** Text a person wrote: no control characters, no lone surrogates, bounded, not empty. */
export function text(longest: number) {
  return searchText(longest).min(1)
}

/** What the receiver's bank shows beside a payment: as much as every rail carries. */
export const remittanceInformation = text(80)

/** What is looked for: as text, though it may be empty. */
export function searchText(longest: number) {
  return z
    .string()
    .max(longest)
    .refine((value) => value.isWellFormed() && !hasControlCharacter(value), 'expected text without control characters')
}

function hasControlCharacter(value: string): boolean {
  for (let index = 0; index < value.length; index += 1) {
    const unit = value.charCodeAt(index)
    if ((unit < 0x20 && unit !== 0x0a && unit !== 0x09) || unit === 0x7f) return true
  }
  return false
}

/** A person's or company's name. */
export const name = text(200).refine(
  (value) => /^[\p{L}\p{M}\p{N} .,'’‘()&/+-]+$/u.test(value),
  'expected a name without special characters',
)

export const countryCode = z.string().regex(/^[A-Z]{2}$/, 'expected an ISO 3166-1 alpha-2 country code')

export const calendarDate = z.iso.date('expected a date as YYYY-MM-DD')

/** An ISO 8601 instant; reads as a Date. */
export const instant = z
  .union([z.iso.datetime({ offset: true, error: 'expected an ISO 8601 date-time' }), z.date()])
  .transform((value) => new Date(value))

export const address = z.object({
  line1: text(200),
  line2: text(200).optional(),
  city: text(100).optional(),
  state: text(100).optional(),
  postalCode: text(20),
  country: countryCode,
})

/** What REST sends as text and GraphQL as a number. */
export const pageLimit = z.coerce.number().pipe(z.int().min(1).max(100)).default(20)

/** Several of something. In a query: one value, several, or several in one with commas between. */
export function listOf<Item extends z.ZodType>(item: Item, most: number) {
  const split = (value: unknown) => (typeof value === 'string' ? value.split(',') : [value])
  return z.preprocess(
    (raw) => (raw === undefined ? undefined : [raw].flat().flatMap(split)),
    z.array(item).min(1).max(most).optional(),
  )
}

// ── Kinds of value in answers ────────────────────────────────────────────────────────────────────────────────────────────────────

/** An int64; a stored reply may hold it as either type of number. */
export const int64 = z.union([z.bigint(), z.int()]).transform((value) => BigInt(value))

export const currencyObject = z.object({ code: z.string(), name: z.string(), symbol: z.string(), decimals: z.int() })

export const money = z.object({ amount: int64, currency: currencyObject })
