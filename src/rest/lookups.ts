import { lookUpExternalAccount, lookUpUmaAddress } from '../core/lookups/lookup.ts'
import { listUmaProviders } from '../core/lookups/uma-providers.ts'
import { listExchangeRates } from '../core/rates/exchange-rates.ts'
import type { Route } from './route.ts'

export const lookupRoutes: readonly Route[] = [
  { method: 'GET', path: '/receiver/uma/:receiverUmaAddress', asks: lookUpUmaAddress, status: 200 },
  { method: 'GET', path: '/receiver/external-account/:accountId', asks: lookUpExternalAccount, status: 200 },
  { method: 'GET', path: '/exchange-rates', asks: listExchangeRates, status: 200 },
  { method: 'GET', path: '/uma-providers', asks: listUmaProviders, status: 200 },
]
