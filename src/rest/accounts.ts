import {
  createCustomerExternalAccount,
  createPlatformExternalAccount,
  listCustomerExternalAccounts,
  listPlatformExternalAccounts,
} from '../core/accounts/external.ts'
import { listCustomerInternalAccounts, listPlatformInternalAccounts } from '../core/accounts/internal.ts'
import type { Route } from './route.ts'

export const accountRoutes: readonly Route[] = [
  { method: 'GET', path: '/customers/internal-accounts', asks: listCustomerInternalAccounts, status: 200 },
  { method: 'GET', path: '/platform/internal-accounts', asks: listPlatformInternalAccounts, status: 200 },
  { method: 'POST', path: '/customers/external-accounts', asks: createCustomerExternalAccount, status: 201 },
  { method: 'GET', path: '/customers/external-accounts', asks: listCustomerExternalAccounts, status: 200 },
  { method: 'POST', path: '/platform/external-accounts', asks: createPlatformExternalAccount, status: 201 },
  { method: 'GET', path: '/platform/external-accounts', asks: listPlatformExternalAccounts, status: 200 },
]
