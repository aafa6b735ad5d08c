/**
 * What the gateway refuses, and how it says so. A refusal is the caller's to mend; anything else that is thrown is a bug, which doors
 * answer as INTERNAL_ERROR without a detail.
 */
import type { Json } from './json.ts'

/** The closed catalogue, with what each code means. A new code does not compile until every door answers for it. */
export const refusals = {
  INVALID_INPUT: 'A field is missing, or is not what it should be.',
  INVALID_REQUEST_FORMAT: 'The request cannot be read: no JSON, or none where some is needed.',
  INVALID_AMOUNT: 'An amount is not a positive whole number of the smallest unit, or too large.',
  INVALID_CURRENCY: 'The currency is unknown, not one the platform moves, not that of the account, or has no price.',
  INVALID_RECEIVER: 'The receiver cannot take it.',
  INVALID_BANK_ACCOUNT: 'The details of the account do not fit its type, or the account is not ACTIVE.',
  INVALID_UMA_ADDRESS: 'It is not of the form `$username@domain`, or on a domain that it may not be on.',
  SELF_PAYMENT: 'Source and destination are the same.',
  MISSING_MANDATORY_USER_INFO: 'The other side must know more of a person than was said.',
  AMOUNT_OUT_OF_RANGE: 'The amount is outside the limits of the platform or of the receiver.',
  INSUFFICIENT_BALANCE: 'The source account holds less than that.',
  INVITATION_CANCELLED: 'The invitation has been cancelled.',
  invitation_already_claimed: 'The invitation has been claimed.',
  invitation_expired: 'The time of the invitation is over.',
  WEBHOOK_ENDPOINT_NOT_SET: 'The platform has no webhook endpoint.',
  WEBHOOK_DELIVERY_ERROR: 'The webhook endpoint could not be reached.',
  UNAUTHORIZED: 'Missing or invalid credentials.',
  FORBIDDEN: 'The credentials lack the permission, or are of the wrong environment or platform.',
  COUNTERPARTY_NOT_ALLOWED: 'Payments with this provider of UMA addresses are not allowed.',
  USER_NOT_READY: 'The customer has not been approved, or has been deleted.',
  NOT_FOUND: 'It does not exist in this world.',
  ACCOUNT_NOT_FOUND: 'The account does not exist in this world.',
  UMA_NOT_FOUND: 'Nobody has this UMA address.',
  BULK_UPLOAD_JOB_NOT_FOUND: 'The import does not exist in this world.',
  INVITATION_NOT_FOUND: 'The invitation does not exist.',
  LOOKUP_REQUEST_NOT_FOUND: 'The lookup does not exist in this world, or is too old.',
  REFERENCE_NOT_FOUND: 'Nothing waits for money with this reference.',
  QUOTE_NOT_FOUND: 'The quote does not exist in this world.',
  TOKEN_NOT_FOUND: 'The token does not exist in this world.',
  TRANSACTION_NOT_FOUND: 'The payment does not exist in this world.',
  USER_NOT_FOUND: 'The customer does not exist in this world.',
  WEBHOOK_NOT_FOUND: 'The webhook does not exist in this world.',
  CUSTOMER_DELETED: 'The customer has been deleted.',
  EXTERNAL_ACCOUNT_EXISTS: 'The same account of the same owner has been added already.',
  IDEMPOTENCY_KEY_REUSED: 'The idempotency key was used before, with another input.',
  QUOTE_ALREADY_EXECUTED: 'The quote has been executed.',
  QUOTE_EXPIRED: 'The time of the quote is over, or its payment was cancelled: make a new one.',
  TRANSACTION_NOT_CANCELLABLE: 'Only a payment whose quote is PENDING can be cancelled.',
  TRANSACTION_NOT_PENDING_PLATFORM_APPROVAL: 'The payment does not wait for approval, or no more.',
  UMA_ADDRESS_EXISTS: 'Another customer has this UMA address.',
  CONFLICT: 'It contradicts what has happened, or what it works on keeps changing.',
  RATE_LIMITED: 'Too many requests: try again when Retry-After says.',
  UNSUPPORTED_UMA_VERSION: 'The other provider speaks no version of UMA that we speak.',
  PARSE_LNURLP_RESPONSE_ERROR: 'What the other provider said of the receiver cannot be read.',
  LNURLP_REQUEST_FAILED: 'The other provider did not say who receives, or what it said cannot be believed: try again later.',
  COUNTERPARTY_PUBKEY_FETCH_ERROR: 'The keys of the other provider could not be had: try again later.',
  NOT_IMPLEMENTED: 'Nobody is configured here who could do it.',
} as const

export type RefusalCode = keyof typeof refusals

export const refusalCodes = Object.keys(refusals) as RefusalCode[]

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
