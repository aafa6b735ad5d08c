import { deleteCustomer, updateCustomer } from '../core/customers/change-customer.ts'
import { createCustomer } from '../core/customers/create-customer.ts'
import { createKycLink } from '../core/customers/kyc-link.ts'
import { getCustomer, listCustomers } from '../core/customers/read-customers.ts'
import type { Route } from './route.ts'

export const customerRoutes: readonly Route[] = [
  {
    method: 'POST',
    path: '/customers',
    asks: createCustomer,
    says: 'Add a customer',
    status: 201,
    location: ({ id }) => `/customers/${id}`,
  },
  { method: 'GET', path: '/customers', asks: listCustomers, says: 'List customers', status: 200 },
  { method: 'GET', path: '/customers/kyc-link', asks: createKycLink, says: 'A link that a customer is verified by', status: 200 },
  { method: 'GET', path: '/customers/:customerId', asks: getCustomer, says: 'Get a customer', status: 200 },
  {
    method: 'PATCH',
    path: '/customers/:customerId',
    asks: updateCustomer,
    says: 'Change what is known of a customer',
    status: 200,
  },
  { method: 'DELETE', path: '/customers/:customerId', asks: deleteCustomer, says: 'Mark a customer as deleted', status: 200 },
]
