/** The payer's provider hands the money over: it is in flight from here on, and the payment goes on like any other. */
import type { TransactionRow } from '../../database/tables.ts'
import { endOfFlight, intoFlight } from '../../ledger/entry.ts'
import type { Moment } from '../operation.ts'
import { depositRow } from '../transactions/deposit.ts'
import { movePayment, tell } from '../transactions/moves.ts'

export function handedOver(transaction: TransactionRow, { now, newId }: Moment) {
  const { id: transactionId, worldId, sourceCurrency: currency, sentAmount: amount, reference } = transaction
  const after = movePayment({ transaction, quote: undefined }, 'fund', now)
  const handed = { railReference: `uma:${transactionId}`, reference, currency, amount }
  const entry = intoFlight('DEPOSIT', worldId, currency, endOfFlight(worldId, currency, null), amount)
  return {
    funded: after.transaction,
    deposit: depositRow(handed, transaction, 'APPLIED', now, newId()),
    entries: [{ worldId, transactionId, entry }],
    events: tell('fund', after),
  }
}
