/** What the service's operator decides on somebody's verification, by hand. */
import { z } from 'zod'
import { DomainError } from '../../base/refusal.ts'
import type { Database } from '../../database/port.ts'
import { type CustomerRow, selectList } from '../../database/tables.ts'
import { operation } from '../operation.ts'
import { Customer, customerDeleted, kycDecided, requireCustomer, toCustomer } from './customer.ts'

const mostReviews = 100

export interface Review {
  customer: Customer
  platform: string
  environment: string
}

/** Who waits for a decision in any world, the longest wait first; a hundred at most. */
export async function reviewsOf(database: Database): Promise<Review[]> {
  const rows = await database.query<CustomerRow & { platform: string; environment: string }>(
    `select ${selectList('customer', 'c')}, p.name as platform, w.environment::text as environment
     from customer c join world w on w.id = c.world_id join platform p on p.id = w.platform_id
     where c.kyc_status = 'PENDING_REVIEW' and not c.is_deleted order by c.updated_at, c.id limit ${mostReviews}`,
  )
  return rows.map(({ platform, environment, ...row }) => ({ customer: toCustomer(row), platform, environment }))
}

/**
 * MANUALLY_APPROVED or MANUALLY_REJECTED, whatever it was before: the operator may also take a decision back. Refuses USER_NOT_FOUND,
 * CUSTOMER_DELETED, CONFLICT for what has been decided so already.
 */
export const decideKyc = operation({
  name: 'decideKyc',
  permission: 'MANAGE',
  refuses: ['USER_NOT_FOUND', 'CUSTOMER_DELETED'],
  input: z.object({ customerId: z.uuid(), decision: z.enum(['MANUALLY_APPROVED', 'MANUALLY_REJECTED']) }),
  output: Customer,
  load: ({ database }, caller, { customerId }) => requireCustomer(database, caller, customerId),
  decide({ decision }, customer, { now }) {
    if (customer.isDeleted) throw customerDeleted()
    if (customer.kycStatus === decision) {
      throw new DomainError('CONFLICT', 'This has been decided already', { field: 'decision', value: decision })
    }
    const decided: CustomerRow = { ...customer, kycStatus: decision, updatedAt: now }
    return { reply: toCustomer(decided), update: { customer: [decided] }, events: [kycDecided(decided)] }
  },
})
