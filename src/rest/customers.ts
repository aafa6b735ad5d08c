import { deleteCustomer, updateCustomer } from '../core/customers/change-customer.ts'
import { createCustomer } from '../core/customers/create-customer.ts'
import { getCustomer, listCustomers } from '../core/customers/read-customers.ts'
import type { Route } from './route.ts'

export const customerRoutes: readonly Route[] = [
  { method: 'POST', path: '/customers', asks: createCustomer, status: 201, location: ({ id }) => `/customers/${id}` },
  { method: 'GET', path: '/customers', asks: listCustomers, status: 200 },
  { method: 'GET', path: '/customers/:customerId', asks: getCustomer, status: 200 },
  { method: 'PATCH', path: '/customers/:customerId', asks: updateCustomer, status: 200 },
  { method: 'DELETE', path: '/customers/:customerId', asks: deleteCustomer, status: 200 },
]
