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
    says: 'Import customers from a CSV file',
    status: 202,
    upload: 'file',
    location: ({ jobId }) => `/customers/bulk/jobs/${jobId}`,
  },
  { method: 'GET', path: '/customers/bulk/jobs/:jobId', asks: getBulkJob, says: 'How far an import has come', status: 200 },
  {
    method: 'POST',
    path: '/invitations',
    asks: createInvitation,
    says: 'Invite somebody to get a UMA address',
    status: 201,
    location: ({ code }) => `/invitations/${code}`,
  },
  { method: 'GET', path: '/invitations/:invitationCode', asks: getInvitation, says: 'Get an invitation', status: 200 },
  { method: 'POST', path: '/invitations/:invitationCode/claim', asks: claimInvitation, says: 'Claim an invitation', status: 200 },
  {
    method: 'POST',
    path: '/invitations/:invitationCode/cancel',
    asks: cancelInvitation,
    says: 'Take an invitation back',
    status: 200,
  },
  { method: 'POST', path: '/bank-link/link-tokens', asks: createLinkToken, says: 'Begin to link a bank account', status: 200 },
  {
    method: 'POST',
    path: '/bank-link/callback/:linkToken',
    asks: completeBankLink,
    says: 'The customer is done at the bank-link provider',
    status: 202,
    caller: bearerOfLinkToken,
  },
]

/** The link token is what allows it: credentials may be sent along, and are not looked at. */
async function bearerOfLinkToken(core: Core, { linkToken }: Record<string, string>): Promise<Caller> {
  const row = await linkTokenOf(core.database, linkToken ?? '')
  if (!row) throw tokenNotFound()
  return serviceCaller(core, row.worldId)
}
