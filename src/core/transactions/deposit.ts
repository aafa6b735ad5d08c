/** Money that came in from outside for a payment, as a row of its own: unique by the rail's name for it. */
import type { DepositRow, TransactionRow } from '../../database/tables.ts'

export interface ReportedDeposit {
  /** The rail's own name for it. */
  railReference: string
  /** What the payer wrote. */
  reference: string
  currency: string
  /** Smallest unit. */
  amount: bigint
}

export function depositRow(
  { railReference, reference, currency, amount }: ReportedDeposit,
  { id: transactionId, worldId }: TransactionRow,
  status: DepositRow['status'],
  now: Date,
  id: string,
): DepositRow {
  return {
    id,
    worldId,
    railReference,
    reference,
    currency,
    amount,
    transactionId,
    status,
    createdAt: now,
    updatedAt: now,
    version: 1,
  }
}
