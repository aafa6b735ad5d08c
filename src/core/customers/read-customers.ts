/** One customer, and the list of them. */
import { z } from 'zod'
import { idOf, instant, searchText } from '../input.ts'
import { listQuery } from '../list.ts'
import { query } from '../operation.ts'
import { given, listed, pageInput, pageOf } from '../page.ts'
import { Customer, customerShape, requireCustomer, toCustomer } from './customer.ts'

/** A deleted customer is still answered, as such. */
export const getCustomer = query({
  name: 'getCustomer',
  permission: 'VIEW',
  forViewers: true,
  refuses: ['USER_NOT_FOUND'],
  input: z.object({ customerId: idOf('Customer') }),
  output: Customer,
  answer: async ({ database }, caller, { customerId }) => toCustomer(await requireCustomer(database, caller, customerId)),
})

export const listCustomers = listQuery({
  name: 'listCustomers',
  permission: 'VIEW',
  forViewers: true,
  input: z.object({
    platformCustomerId: searchText(255).optional(),
    customerType: z.enum(['INDIVIDUAL', 'BUSINESS']).optional(),
    umaAddress: searchText(400).toLowerCase().optional(),
    createdAfter: instant.optional(),
    createdBefore: instant.optional(),
    updatedAfter: instant.optional(),
    updatedBefore: instant.optional(),
    isIncludingDeleted: z.union([z.boolean(), z.stringbool()]).default(false),
    ...pageInput,
  }),
  output: pageOf(Customer),
  source: listed('customer'),
  shape: customerShape,
  given: () => undefined,
  conditions: (input) => [
    ...given(input.platformCustomerId, 't.platform_customer_id = ?'),
    ...given(input.customerType, 't.customer_type = ?'),
    ...given(input.umaAddress, 't.uma_address = ?'),
    ...given(input.createdAfter, 't.created_at >= ?'),
    ...given(input.createdBefore, 't.created_at <= ?'),
    ...given(input.updatedAfter, 't.updated_at >= ?'),
    ...given(input.updatedBefore, 't.updated_at <= ?'),
    ...(input.isIncludingDeleted ? [] : [['not t.is_deleted'] as const]),
  ],
})
