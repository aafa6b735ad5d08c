/**
 * Viewer tokens: with one, the browser or phone of a customer talks to the gateway itself. It sees what belongs to that customer, for some
 * minutes; everything else does not exist for it. It goes with the API token that made it, and with the customer.
 */
import { randomBytes } from 'node:crypto'
import { z } from 'zod'
import { toId } from '../../base/ids.ts'
import { isoText } from '../../base/instant.ts'
import { DomainError } from '../../base/refusal.ts'
import type { Queryable } from '../../database/port.ts'
import { selectList, type ViewerTokenRow } from '../../database/tables.ts'
import { newTask } from '../../log/tasks.ts'
import { customerDeleted, requireCustomer } from '../customers/customer.ts'
import { idOf } from '../input.ts'
import { listQuery } from '../list.ts'
import { operation } from '../operation.ts'
import { given, listed, pageInput, pageOf } from '../page.ts'
import { shapeOf } from '../shape.ts'
import { digestOf, findToken } from './tokens.ts'

export const viewerPermissions = ['VIEW', 'TRANSACT'] as const

const permissionSet = z.array(z.enum(viewerPermissions))

export const ViewerToken = z.object({
  id: z.string(),
  /** Only in the answer that makes it. */
  token: z.string().optional(),
  customerId: z.string(),
  permissions: permissionSet,
  expiresAt: z.string(),
  createdAt: z.string(),
})

export type ViewerToken = z.output<typeof ViewerToken>

const viewerTokenShape = shapeOf<ViewerTokenRow, ViewerToken>({
  id: [['id'], ({ id }) => toId('ViewerToken', id)],
  token: [[], () => undefined],
  customerId: [['customerId'], ({ customerId }) => toId('Customer', customerId)],
  permissions: [['permissions'], ({ permissions }) => permissionSet.parse(permissions)],
  expiresAt: [['expiresAt'], ({ expiresAt }) => isoText(expiresAt)],
  createdAt: [['createdAt'], ({ createdAt }) => isoText(createdAt)],
})

/**
 * Refuses USER_NOT_FOUND, CUSTOMER_DELETED, and FORBIDDEN for permissions that the token which asks does not have itself. It lives for
 * `expiresInSeconds`: a minute to an hour, 15 minutes unless said otherwise. A repeat with the same idempotency key is answered without the
 * token itself: it is stored nowhere.
 */
export const createViewerToken = operation({
  name: 'createViewerToken',
  permission: 'MANAGE',
  refuses: ['USER_NOT_FOUND', 'CUSTOMER_DELETED'],
  input: z.object({
    customerId: idOf('Customer'),
    permissions: permissionSet.min(1).default(['VIEW']),
    expiresInSeconds: z.int().min(60).max(3600).default(900),
  }),
  output: ViewerToken,
  load: async ({ database }, caller, { customerId }) => {
    const [customer, apiToken] = await Promise.all([
      requireCustomer(database, caller, customerId),
      caller.tokenId === undefined ? undefined : findToken(database, caller.worldId, caller.tokenId),
    ])
    return { customer, apiToken }
  },
  decide({ permissions, expiresInSeconds }, { customer, apiToken }, { caller, now, newId }) {
    if (!apiToken) throw new DomainError('UNAUTHORIZED', 'The token that asks is gone')
    const missing = permissions.find((permission) => !caller.permissions.includes(permission))
    if (missing) {
      throw new DomainError('FORBIDDEN', `permissions: your own token does not have ${missing}`, { field: 'permissions' })
    }
    if (customer.isDeleted) throw customerDeleted()
    const token = `viewer_${randomBytes(32).toString('base64url')}`
    const row: ViewerTokenRow = {
      id: newId(),
      worldId: caller.worldId,
      apiTokenId: apiToken.id,
      customerId: customer.id,
      tokenHash: digestOf(token).toString('hex'),
      permissions: [...new Set(permissions)],
      expiresAt: new Date(now.getTime() + expiresInSeconds * 1000),
      createdAt: now,
    }
    const shown = viewerTokenShape.whole(row)
    return {
      reply: { ...shown, token },
      remembered: shown,
      guard: { customer: [customer], api_token: [apiToken] },
      insert: { viewer_token: [row], task: [newTask('forget-viewer-token', row.worldId, row.id, row.expiresAt)] },
    }
  },
})

export const listViewerTokens = listQuery({
  name: 'listViewerTokens',
  permission: 'VIEW',
  input: z.object({ customerId: idOf('Customer').optional(), ...pageInput }),
  output: pageOf(ViewerToken),
  source: listed('viewer_token'),
  shape: viewerTokenShape,
  given: () => undefined,
  conditions: ({ customerId }) => given(customerId, 't.customer_id = ?'),
})

/** It is dead within a second at every gateway, what it has open included. Refuses TOKEN_NOT_FOUND, also for one whose time is over. */
export const deleteViewerToken = operation({
  name: 'deleteViewerToken',
  permission: 'MANAGE',
  refuses: ['TOKEN_NOT_FOUND'],
  input: z.object({ viewerTokenId: idOf('ViewerToken') }),
  output: ViewerToken,
  load: ({ database }, { worldId }, { viewerTokenId }) => requireViewerToken(database, worldId, viewerTokenId),
  decide: (_input, row) => ({
    reply: viewerTokenShape.whole(row),
    remove: { viewer_token: [row.id], task: [row.id] },
  }),
  committed: ({ tokens }) => tokens.viewers.clear(),
})

/** Run by its task when the token's time is over. */
export const forgetViewerToken = operation({
  name: 'forgetViewerToken',
  permission: 'MANAGE',
  input: z.object({ viewerTokenId: z.uuid() }),
  output: z.object({}),
  load: async () => undefined,
  decide: ({ viewerTokenId }) => ({ reply: {}, remove: { viewer_token: [viewerTokenId] } }),
})

async function requireViewerToken(database: Queryable, worldId: string, id: string): Promise<ViewerTokenRow> {
  const [row] = await database.query<ViewerTokenRow>(
    `select ${selectList('viewer_token')} from viewer_token where world_id = $1 and id = $2`,
    [worldId, id],
  )
  if (!row) throw new DomainError('TOKEN_NOT_FOUND', 'There is no such viewer token', { field: 'viewerTokenId' })
  return row
}
