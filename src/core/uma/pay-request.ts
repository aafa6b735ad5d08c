/** What a payment keeps of the provider at its other end. */
import { minute } from '../../base/clock.ts'
import type { Queryable } from '../../database/port.ts'
import { type PayRequestRow, selectList } from '../../database/tables.ts'

/** Spec silent: for how long the price of an approved pay request is good. */
export const settlementMs = 5 * minute

/** `id`: the transaction's. */
export async function payRequestOf({ database }: { database: Queryable }, id: string): Promise<PayRequestRow | undefined> {
  const [row] = await database.query<PayRequestRow>(`select ${selectList('pay_request')} from pay_request where id = $1`, [id])
  return row
}
