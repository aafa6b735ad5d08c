import { getConfiguration, updateConfiguration } from '../core/platform/configuration.ts'
import { createToken, deleteToken, getToken, listTokens } from '../core/platform/tokens.ts'
import type { Route } from './route.ts'

export const platformRoutes: readonly Route[] = [
  { method: 'GET', path: '/config', asks: getConfiguration, status: 200 },
  { method: 'PATCH', path: '/config', asks: updateConfiguration, status: 200 },
  { method: 'POST', path: '/tokens', asks: createToken, status: 201, location: ({ id }) => `/tokens/${id}` },
  { method: 'GET', path: '/tokens', asks: listTokens, status: 200 },
  { method: 'GET', path: '/tokens/:tokenId', asks: getToken, status: 200 },
  { method: 'DELETE', path: '/tokens/:tokenId', asks: deleteToken, status: 204 },
]
