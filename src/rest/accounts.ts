import {
  createCustomerExternalAccount,
  createPlatformExternalAccount,
  deleteExternalAccount,
  getExternalAccount,
  listCustomerExternalAccounts,
  listPlatformExternalAccounts,
} from '../core/accounts/external.ts'
import { listCustomerInternalAccounts, listPlatformInternalAccounts } from '../core/accounts/internal.ts'
import type { Route } from './route.ts'

export const accountRoutes: readonly Route[] = [
  {
    method: 'GET',
    path: '/customers/internal-accounts',
    asks: listCustomerInternalAccounts,
    says: 'Balances of customers',
    status: 200,
  },
  {
    method: 'GET',
    path: '/platform/internal-accounts',
    asks: listPlatformInternalAccounts,
    says: "The platform's own balances",
    status: 200,
  },
  {
    method: 'POST',
    path: '/customers/external-accounts',
    asks: createCustomerExternalAccount,
    says: 'Add a bank account or wallet of a customer',
    status: 201,
    location: ({ id, customerId }) => `/${customerId ? 'customers' : 'platform'}/external-accounts/${id}`,
  },
  {
    method: 'GET',
    path: '/customers/external-accounts',
    asks: listCustomerExternalAccounts,
    says: 'Bank accounts and wallets of customers',
    status: 200,
  },
  {
    method: 'POST',
    path: '/platform/external-accounts',
    asks: createPlatformExternalAccount,
    says: "Add a bank account or wallet of the platform's own",
    status: 201,
    location: ({ id }) => `/platform/external-accounts/${id}`,
  },
  {
    method: 'GET',
    path: '/platform/external-accounts',
    asks: listPlatformExternalAccounts,
    says: "The platform's own bank accounts and wallets",
    status: 200,
  },
  {
    method: 'GET',
    path: '/customers/external-accounts/:externalAccountId',
    asks: getExternalAccount,
    with: { owner: 'CUSTOMER' },
    says: 'Get a bank account or wallet of a customer',
    status: 200,
  },
  {
    method: 'DELETE',
    path: '/customers/external-accounts/:externalAccountId',
    asks: deleteExternalAccount,
    with: { owner: 'CUSTOMER' },
    says: 'Delete a bank account or wallet of a customer',
    status: 204,
  },
  {
    method: 'GET',
    path: '/platform/external-accounts/:externalAccountId',
    asks: getExternalAccount,
    with: { owner: 'PLATFORM' },
    says: "Get a bank account or wallet of the platform's own",
    status: 200,
  },
  {
    method: 'DELETE',
    path: '/platform/external-accounts/:externalAccountId',
    asks: deleteExternalAccount,
    with: { owner: 'PLATFORM' },
    says: "Delete a bank account or wallet of the platform's own",
    status: 204,
  },
]
