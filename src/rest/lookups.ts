import { lookUpExternalAccount, lookUpUmaAddress } from '../core/lookups/lookup.ts'
import type { Route } from './route.ts'

export const lookupRoutes: readonly Route[] = [
  { method: 'GET', path: '/receiver/uma/:receiverUmaAddress', asks: lookUpUmaAddress, status: 200 },
  { method: 'GET', path: '/receiver/external-account/:accountId', asks: lookUpExternalAccount, status: 200 },
]
