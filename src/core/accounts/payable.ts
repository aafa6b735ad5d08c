/** What money calls ask of an account before they use it. */
import type { Json } from '../../base/json.ts'
import { DomainError } from '../../base/refusal.ts'
import type { ExternalAccountRow } from '../../database/tables.ts'

/** Refuses INVALID_BANK_ACCOUNT: only ACTIVE accounts receive payments. */
export function requirePayable({ status }: ExternalAccountRow): void {
  if (status === 'ACTIVE') return
  throw new DomainError('INVALID_BANK_ACCOUNT', `destination.accountId: the account is ${status}; only ACTIVE ones are paid`, {
    field: 'destination.accountId',
    status,
  })
}

export function accountNotFound(field: string, value: Json): DomainError {
  return new DomainError('ACCOUNT_NOT_FOUND', `${field}: there is no such account`, { field, value })
}
