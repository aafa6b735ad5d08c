/** The other providers of UMA addresses that customers can pay. */
import { z } from 'zod'
import { currencyOf } from '../../base/currency.ts'
import { DomainError } from '../../base/refusal.ts'
import type { UmaProvider as Provider } from '../../rails/port.ts'
import { currencyCode, currencyObject, pageLimit } from '../input.ts'
import { query } from '../operation.ts'

export const UmaProvider = z.object({
  name: z.string(),
  domain: z.string(),
  logoUrl: z.string().optional(),
  lei: z.string().optional(),
  supportedRegions: z.array(z.string()),
  supportedCurrencies: z.array(currencyObject),
  /** Whether the platform may pay there. */
  allowListStatus: z.boolean(),
})

export type UmaProvider = z.output<typeof UmaProvider>

function toUmaProvider({
  name,
  domain,
  regions,
  currencies,
  logoUrl,
  lei,
  allowed,
}: Provider & { allowed: boolean }): UmaProvider {
  return {
    name,
    domain,
    ...(logoUrl === undefined ? {} : { logoUrl }),
    ...(lei === undefined ? {} : { lei }),
    supportedRegions: [...regions],
    supportedCurrencies: currencies.map(currencyOf),
    allowListStatus: allowed,
  }
}

const flag = z.union([z.boolean(), z.stringbool()])

/** By domain: those that rails know of, and those that the operator lists, also blocked ones unless told otherwise. */
export const listUmaProviders = query({
  name: 'listUmaProviders',
  permission: 'VIEW',
  forViewers: true,
  refuses: ['INVALID_CURRENCY'],
  input: z.object({
    countryCode: z
      .string()
      .regex(/^[A-Z]{2}$/, 'expected an ISO 3166-1 alpha-2 code')
      .optional(),
    currencyCode: currencyCode.optional(),
    hasBlockedProviders: flag.optional(),
    sortOrder: z.enum(['asc', 'desc']).default('asc'),
    limit: pageLimit,
    cursor: z.string().max(400).optional(),
  }),
  output: z.object({
    data: z.array(UmaProvider),
    hasMore: z.boolean(),
    nextCursor: z.string().optional(),
    totalCount: z.int(),
  }),
  async answer(
    { rails, providers },
    { environment },
    { countryCode, currencyCode: code, hasBlockedProviders = true, sortOrder, limit, cursor },
  ) {
    const found = (rails[environment]?.providers?.() ?? [])
      .map((provider) => ({ ...provider, allowed: true }))
      .concat(providers.filter((listed) => listed.environment === environment))
      .filter(({ allowed }) => allowed || hasBlockedProviders)
      .filter(({ regions }) => countryCode === undefined || regions.includes(countryCode))
      .filter(({ currencies }) => code === undefined || currencies.includes(code))
      .toSorted((left, right) => left.domain.localeCompare(right.domain))
    if (sortOrder === 'desc') found.reverse()
    const after = cursor === undefined ? -1 : found.findIndex(({ domain }) => domain === domainIn(cursor))
    if (cursor !== undefined && after < 0) {
      throw new DomainError('INVALID_INPUT', 'cursor is not a cursor of this list', { field: 'cursor', value: cursor })
    }
    const page = found.slice(after + 1, after + 1 + limit)
    const hasMore = after + 1 + limit < found.length
    return {
      data: page.map(toUmaProvider),
      hasMore,
      ...(hasMore ? { nextCursor: Buffer.from(page.at(-1)!.domain).toString('base64url') } : {}),
      totalCount: found.length,
    }
  },
})

function domainIn(cursor: string): string {
  return Buffer.from(cursor, 'base64url').toString('utf8')
}
