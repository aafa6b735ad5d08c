/** How REST answers what goes wrong: a status per code, and one error body. */
import type { FastifyError } from 'fastify'
import { DomainError, type RefusalCode, type RefusalDetails } from '../base/refusal.ts'

export const statuses = {
  INVALID_INPUT: 400,
  INVALID_REQUEST_FORMAT: 400,
  INVALID_AMOUNT: 400,
  INVALID_CURRENCY: 400,
  INVALID_RECEIVER: 400,
  INVALID_BANK_ACCOUNT: 400,
  INVALID_UMA_ADDRESS: 400,
  SELF_PAYMENT: 400,
  MISSING_MANDATORY_USER_INFO: 400,
  AMOUNT_OUT_OF_RANGE: 400,
  INSUFFICIENT_BALANCE: 400,
  INVITATION_CANCELLED: 400,
  invitation_already_claimed: 400,
  invitation_expired: 400,
  WEBHOOK_ENDPOINT_NOT_SET: 400,
  WEBHOOK_DELIVERY_ERROR: 400,
  PARSE_LNURLP_RESPONSE_ERROR: 400,
  UNAUTHORIZED: 401,
  FORBIDDEN: 403,
  COUNTERPARTY_NOT_ALLOWED: 403,
  USER_NOT_READY: 403,
  NOT_FOUND: 404,
  ACCOUNT_NOT_FOUND: 404,
  UMA_NOT_FOUND: 404,
  BULK_UPLOAD_JOB_NOT_FOUND: 404,
  INVITATION_NOT_FOUND: 404,
  LOOKUP_REQUEST_NOT_FOUND: 404,
  REFERENCE_NOT_FOUND: 404,
  QUOTE_NOT_FOUND: 404,
  TOKEN_NOT_FOUND: 404,
  TRANSACTION_NOT_FOUND: 404,
  USER_NOT_FOUND: 404,
  WEBHOOK_NOT_FOUND: 404,
  CONFLICT: 409,
  EXTERNAL_ACCOUNT_EXISTS: 409,
  IDEMPOTENCY_KEY_REUSED: 409,
  QUOTE_ALREADY_EXECUTED: 409,
  QUOTE_EXPIRED: 409,
  TRANSACTION_NOT_CANCELLABLE: 409,
  TRANSACTION_NOT_PENDING_PLATFORM_APPROVAL: 409,
  UMA_ADDRESS_EXISTS: 409,
  CUSTOMER_DELETED: 410,
  UNSUPPORTED_UMA_VERSION: 412,
  LNURLP_REQUEST_FAILED: 424,
  COUNTERPARTY_PUBKEY_FETCH_ERROR: 424,
  RATE_LIMITED: 429,
  NOT_IMPLEMENTED: 501,
} satisfies Record<RefusalCode, number>

/** Refused by the protocol, before any operation is asked. */
export class HttpRefusal extends Error {
  override readonly name = 'HttpRefusal'
  readonly status: number
  readonly code: string

  constructor(status: number, code: string, message: string) {
    super(message)
    this.status = status
    this.code = code
  }
}

export interface ErrorAnswer {
  status: number
  code: string
  message: string
  details?: RefusalDetails
}

/** Undefined for a bug, which the door logs and masks. */
export function answerTo(error: unknown): ErrorAnswer | undefined {
  if (error instanceof DomainError) {
    const { code, message, details } = error
    return { status: statuses[code], code, message, ...(details ? { details } : {}) }
  }
  if (error instanceof HttpRefusal) return { status: error.status, code: error.code, message: error.message }
  return isFastifyError(error) ? fromFastify(error) : undefined
}

export const masked: ErrorAnswer = {
  status: 500,
  code: 'INTERNAL_ERROR',
  message: 'Something went wrong here; the request id leads to what',
}

function isFastifyError(error: unknown): error is FastifyError {
  return error instanceof Error && 'statusCode' in error && typeof error.statusCode === 'number' && error.statusCode < 500
}

/** What the HTTP layer refuses before any operation is asked. */
function fromFastify({ statusCode, message, code }: FastifyError): ErrorAnswer {
  const status = statusCode ?? 400
  const known: Record<number, string> = {
    413: 'The body is too large',
    414: 'A part of the path is too long',
    415: 'Send the body as application/json',
  }
  return {
    status,
    code: 'INVALID_REQUEST_FORMAT',
    message: known[status] ?? (code === 'FST_ERR_CTP_EMPTY_JSON_BODY' ? 'Send a JSON body' : message),
  }
}
