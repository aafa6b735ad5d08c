import { completeBankLink, createLinkToken, linkTokenOf, tokenNotFound } from '../core/bank-link/bank-link.ts'
import { getBulkJob } from '../core/bulk-import/job.ts'
import { uploadCustomers } from '../core/bulk-import/upload.ts'
import { cancelInvitation, claimInvitation, createInvitation, getInvitation } from '../core/invitations/invitations.ts'
import { type Caller, type Core, serviceCaller } from '../core/operation.ts'
import type { Route } from './route.ts'

export const peopleRoutes: readonly Route[] = [
  {
    method: 'POST',
    path: '/customers/bulk/csv',
    asks: uploadCustomers,
    status: 202,
    upload: 'file',
    location: ({ jobId }) => `/customers/bulk/jobs/${jobId}`,
  },
  { method: 'GET', path: '/customers/bulk/jobs/:jobId', asks: getBulkJob, status: 200 },
  { method: 'POST', path: '/invitations', asks: createInvitation, status: 201, location: ({ code }) => `/invitations/${code}` },
  { method: 'GET', path: '/invitations/:invitationCode', asks: getInvitation, status: 200 },
  { method: 'POST', path: '/invitations/:invitationCode/claim', asks: claimInvitation, status: 200 },
  { method: 'POST', path: '/invitations/:invitationCode/cancel', asks: cancelInvitation, status: 200 },
  { method: 'POST', path: '/bank-link/link-tokens', asks: createLinkToken, status: 200 },
  { method: 'POST', path: '/bank-link/callback/:linkToken', asks: completeBankLink, status: 202, caller: bearerOfLinkToken },
]

/** The link token is what allows it: credentials may be sent along, and are not looked at. */
async function bearerOfLinkToken(core: Core, { linkToken }: Record<string, string>): Promise<Caller> {
  const row = await linkTokenOf(core.database, linkToken ?? '')
  if (!row) throw tokenNotFound()
  return serviceCaller(core, row.worldId)
}
