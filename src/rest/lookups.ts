import { lookUpExternalAccount, lookUpUmaAddress } from '../core/lookups/lookup.ts'
import { listUmaProviders } from '../core/lookups/uma-providers.ts'
import { listExchangeRates } from '../core/rates/exchange-rates.ts'
import type { Route } from './route.ts'

export const lookupRoutes: readonly Route[] = [
  {
    method: 'GET',
    path: '/receiver/uma/:receiverUmaAddress',
    asks: lookUpUmaAddress,
    says: 'Look up a UMA address before paying it',
    status: 200,
  },
  {
    method: 'GET',
    path: '/receiver/external-account/:accountId',
    asks: lookUpExternalAccount,
    says: 'Look up an external account before paying it',
    status: 200,
  },
  { method: 'GET', path: '/exchange-rates', asks: listExchangeRates, says: 'Indicative exchange rates', status: 200 },
  {
    method: 'GET',
    path: '/uma-providers',
    asks: listUmaProviders,
    says: 'Providers whose UMA addresses can be paid',
    status: 200,
  },
]
