/**
 * What the gateway refuses, and how it says so. A refusal is the caller's to mend; anything else that is thrown is a bug, which doors
 * answer as INTERNAL_ERROR without a detail.
 */
import type { Json } from './json.ts'

/** The closed catalogue. A new code does not compile until every door answers for it. */
export const refusalCodes = [
  'INVALID_INPUT',
  'INVALID_REQUEST_FORMAT',
  'INVALID_AMOUNT',
  'INVALID_CURRENCY',
  'INVALID_BANK_ACCOUNT',
  'INVALID_UMA_ADDRESS',
  'SELF_PAYMENT',
  'MISSING_MANDATORY_USER_INFO',
  'AMOUNT_OUT_OF_RANGE',
  'INSUFFICIENT_BALANCE',
  'INVITATION_CANCELLED',
  'invitation_already_claimed',
  'invitation_expired',
  'WEBHOOK_ENDPOINT_NOT_SET',
  'WEBHOOK_DELIVERY_ERROR',
  'UNAUTHORIZED',
  'FORBIDDEN',
  'USER_NOT_READY',
  'NOT_FOUND',
  'ACCOUNT_NOT_FOUND',
  'UMA_NOT_FOUND',
  'BULK_UPLOAD_JOB_NOT_FOUND',
  'INVITATION_NOT_FOUND',
  'LOOKUP_REQUEST_NOT_FOUND',
  'REFERENCE_NOT_FOUND',
  'QUOTE_NOT_FOUND',
  'TOKEN_NOT_FOUND',
  'TRANSACTION_NOT_FOUND',
  'USER_NOT_FOUND',
  'WEBHOOK_NOT_FOUND',
  'CUSTOMER_DELETED',
  'EXTERNAL_ACCOUNT_EXISTS',
  'IDEMPOTENCY_KEY_REUSED',
  'QUOTE_ALREADY_EXECUTED',
  'QUOTE_EXPIRED',
  'TRANSACTION_NOT_CANCELLABLE',
  'TRANSACTION_NOT_PENDING_PLATFORM_APPROVAL',
  'UMA_ADDRESS_EXISTS',
  'CONFLICT',
  'NOT_IMPLEMENTED',
] as const

export type RefusalCode = (typeof refusalCodes)[number]

export type RefusalDetails = { readonly [key: string]: Json }

export class DomainError extends Error {
  override readonly name = 'DomainError'
  readonly code: RefusalCode
  readonly details: RefusalDetails | undefined

  /** `message` is read by people: it says what is wrong and, where it can, what would be right. */
  constructor(code: RefusalCode, message: string, details?: RefusalDetails) {
    super(message)
    this.code = code
    this.details = details
  }
}
