import { createCustomer } from '../core/customers/create-customer.ts'
import { getCustomer, listCustomers } from '../core/customers/read-customers.ts'
import type { Route } from './route.ts'

export const customerRoutes: readonly Route[] = [
  { method: 'POST', path: '/customers', asks: createCustomer, status: 201 },
  { method: 'GET', path: '/customers', asks: listCustomers, status: 200 },
  { method: 'GET', path: '/customers/:customerId', asks: getCustomer, status: 200 },
]
