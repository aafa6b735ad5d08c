/** The two ends of a quote or a transaction, as every door shows them. */
import { z } from 'zod'
import { toId } from '../base/ids.ts'
import type { QuoteRow } from '../database/tables.ts'

export const Source = z.object({
  sourceType: z.enum(['ACCOUNT', 'UMA_ADDRESS', 'REALTIME_FUNDING']),
  accountId: z.string().optional(),
  umaAddress: z.string().optional(),
  currency: z.string(),
})

export const Destination = z.object({
  destinationType: z.enum(['ACCOUNT', 'UMA_ADDRESS', 'REALTIME_FUNDING']),
  accountId: z.string().optional(),
  umaAddress: z.string().optional(),
  currency: z.string(),
})

type EndpointType = QuoteRow['sourceType']

type SourceColumns = Pick<QuoteRow, 'sourceType' | 'sourceAccountId' | 'sourceUmaAddress'>

type DestinationColumns = Pick<QuoteRow, 'destinationType' | 'destinationAccountId' | 'destinationUmaAddress'>

export function toSource(row: SourceColumns, currency: string): z.output<typeof Source> {
  return { sourceType: shown(row.sourceType), ...where(row.sourceType, row.sourceAccountId, row.sourceUmaAddress), currency }
}

export function toDestination(row: DestinationColumns, currency: string): z.output<typeof Destination> {
  return {
    destinationType: shown(row.destinationType),
    ...where(row.destinationType, row.destinationAccountId, row.destinationUmaAddress),
    currency,
  }
}

function shown(type: EndpointType): 'ACCOUNT' | 'UMA_ADDRESS' | 'REALTIME_FUNDING' {
  return type === 'INTERNAL_ACCOUNT' || type === 'EXTERNAL_ACCOUNT' ? 'ACCOUNT' : type
}

/** An account is named by its id; whose UMA address stands behind it is said beside. */
function where(type: EndpointType, accountId: string | null, umaAddress: string | null) {
  return {
    ...(accountId === null
      ? {}
      : { accountId: toId(type === 'INTERNAL_ACCOUNT' ? 'InternalAccount' : 'ExternalAccount', accountId) }),
    ...(umaAddress === null || accountId !== null ? {} : { umaAddress }),
  }
}
