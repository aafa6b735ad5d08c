import { fundInternalAccount } from '../core/sandbox/fund-internal-account.ts'
import { receiveUma } from '../core/sandbox/receive-uma.ts'
import { sandboxSend } from '../core/sandbox/send.ts'
import type { Route } from './route.ts'

export const sandboxRoutes: readonly Route[] = [
  {
    method: 'POST',
    path: '/sandbox/internal-accounts/:accountId/fund',
    asks: fundInternalAccount,
    says: 'Sandbox: money appears on a balance',
    status: 200,
  },
  { method: 'POST', path: '/sandbox/send', asks: sandboxSend, says: 'Sandbox: money is pushed with a reference', status: 200 },
  {
    method: 'POST',
    path: '/sandbox/uma/receive',
    asks: receiveUma,
    says: 'Sandbox: somebody pays a customer by UMA address',
    status: 200,
  },
]
