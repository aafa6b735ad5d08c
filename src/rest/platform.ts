import { getConfiguration, updateConfiguration } from '../core/platform/configuration.ts'
import { createToken, deleteToken, getToken, listTokens } from '../core/platform/tokens.ts'
import { createViewerToken, deleteViewerToken, listViewerTokens } from '../core/platform/viewer-tokens.ts'
import type { Route } from './route.ts'

export const platformRoutes: readonly Route[] = [
  { method: 'GET', path: '/config', asks: getConfiguration, says: "The platform's configuration", status: 200 },
  { method: 'PATCH', path: '/config', asks: updateConfiguration, says: "Change the platform's configuration", status: 200 },
  {
    method: 'POST',
    path: '/tokens',
    asks: createToken,
    says: 'Make API credentials',
    status: 201,
    location: ({ id }) => `/tokens/${id}`,
  },
  { method: 'GET', path: '/tokens', asks: listTokens, says: 'List API credentials', status: 200 },
  { method: 'GET', path: '/tokens/:tokenId', asks: getToken, says: 'Get API credentials', status: 200 },
  { method: 'DELETE', path: '/tokens/:tokenId', asks: deleteToken, says: 'Take API credentials away', status: 204 },
  { method: 'POST', path: '/viewer-tokens', asks: createViewerToken, says: 'Make a token for one customer', status: 201 },
  { method: 'GET', path: '/viewer-tokens', asks: listViewerTokens, says: 'List the tokens of customers', status: 200 },
  {
    method: 'DELETE',
    path: '/viewer-tokens/:viewerTokenId',
    asks: deleteViewerToken,
    says: "Take a customer's token away",
    status: 204,
  },
]
