/** Who asks, and the tokens with which customers ask themselves. */

import { toId } from '../base/ids.ts'
import type { Caller } from '../core/operation.ts'
import {
  createViewerToken,
  deleteViewerToken,
  listViewerTokens,
  type ViewerToken,
  type viewerPermissions,
} from '../core/platform/viewer-tokens.ts'
import { builder } from './builder.ts'
import { bothWayArgs, listOf, pageComplexity } from './connection.ts'
import { addMutation, idempotencyKeyDescription } from './error.ts'
import { CustomerRef } from './refs.ts'
import { PermissionType } from './tokens.ts'

const Environment = builder.enumType('Environment', {
  description: 'Which of the two worlds of a platform.',
  values: {
    SANDBOX: { description: 'Money is play money, and the outside is simulated.' },
    PRODUCTION: { description: 'Money is money.' },
  } as const,
})

const ViewerRef = builder.objectRef<Caller>('Viewer').implement({
  description: 'Who asks: the platform, or one of its customers with a viewer token.',
  fields: (t) => ({
    environment: t.expose('environment', { type: Environment, description: 'The world that everything is read from.' }),
    permissions: t.field({
      type: [PermissionType],
      description: 'What they may do.',
      resolve: ({ permissions }) => [...permissions],
    }),
    customer: t.field({
      type: CustomerRef,
      nullable: true,
      description: 'The customer whose viewer token it is; null when the platform asks.',
      resolve: ({ customerId }, _args, { loaders }) =>
        customerId === undefined ? null : loaders.customer.load(toId('Customer', customerId)),
    }),
    expiresAt: t.field({
      type: 'DateTime',
      nullable: true,
      description: 'When the credentials end; null: never.',
      resolve: ({ expiresAt }) => expiresAt?.toISOString() ?? null,
    }),
  }),
})

builder.queryField('viewer', (t) =>
  t.field({ type: ViewerRef, description: 'Who asks.', resolve: (_root, _args, { caller }) => caller }),
)

const ViewerPermission = builder.enumType('ViewerPermission', {
  description: 'What a viewer token may do with what is its customer’s.',
  values: {
    VIEW: { description: 'Read it, and subscribe.' },
    TRANSACT: { description: 'Move money.' },
  } satisfies Record<(typeof viewerPermissions)[number], { description: string }>,
})

const ViewerTokenRef = builder.objectRef<ViewerToken>('ViewerToken').implement({
  description: 'Credentials for the browser or phone of one customer, for some minutes. Nothing of anybody else exists for them.',
  fields: (t) => ({
    id: t.exposeID('id', { description: '`ViewerToken:<uuid>`' }),
    token: t.exposeString('token', {
      nullable: true,
      description: 'Send it as `Authorization: Bearer …`, on a socket in `connectionParams`. Only in the answer that makes it.',
    }),
    customerId: t.exposeID('customerId', { description: '`Customer:<uuid>`: whose it is.' }),
    customer: t.field({
      type: CustomerRef,
      nullable: true,
      description: 'Whose it is.',
      resolve: ({ customerId }, _args, { loaders }) => loaders.customer.load(customerId),
    }),
    permissions: t.expose('permissions', { type: [ViewerPermission], description: 'What it may do.' }),
    expiresAt: t.expose('expiresAt', { type: 'DateTime', description: 'When it ends; what it has open ends with it.' }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When it was made.' }),
  }),
})

const ViewerTokenEdge = builder.edgeObject({
  type: ViewerTokenRef,
  name: 'ViewerTokenEdge',
  description: 'A viewer token in a list.',
})

const ViewerTokenConnection = builder.connectionObject(
  { type: ViewerTokenRef, name: 'ViewerTokenConnection', description: 'A page of viewer tokens.' },
  ViewerTokenEdge,
)

builder.queryField('viewerTokens', (t) =>
  t.field({
    type: ViewerTokenConnection,
    description: 'The viewer tokens of this world that have not ended, newest first.',
    args: { ...bothWayArgs, customerId: t.arg.id({ description: 'Of this customer only.' }) },
    complexity: pageComplexity,
    resolve: (_root, args, context, info) => listOf(context, listViewerTokens, args, info),
  }),
)

addMutation('createViewerToken', {
  description: 'Makes a viewer token. It goes with the token that asks: whoever takes that away takes this away too.',
  operation: createViewerToken,
  input: builder.inputType('CreateViewerTokenInput', {
    description: 'Whose it is, what it may do, and for how long.',
    fields: (t) => ({
      customerId: t.id({ required: true, description: '`Customer:<uuid>`' }),
      permissions: t.field({ type: [ViewerPermission], description: 'VIEW unless said otherwise; none that you do not have.' }),
      expiresInSeconds: t.int({ description: '60 to 3600; 900 unless said otherwise.' }),
      idempotencyKey: t.string({ description: idempotencyKeyDescription }),
    }),
  }),
  result: {
    field: 'viewerToken',
    type: ViewerTokenRef,
    description: 'The token.',
    of: (token: ViewerToken) => token,
    edge: ViewerTokenEdge,
  },
})

addMutation('deleteViewerToken', {
  description: 'Takes a viewer token away: within a second, at every gateway, what it has open included.',
  operation: deleteViewerToken,
  input: builder.inputType('DeleteViewerTokenInput', {
    description: 'Which one.',
    fields: (t) => ({
      viewerTokenId: t.id({ required: true, description: '`ViewerToken:<uuid>`' }),
      idempotencyKey: t.string({ description: idempotencyKeyDescription }),
    }),
  }),
  result: {
    field: 'viewerToken',
    type: ViewerTokenRef,
    description: 'The token that is gone.',
    of: (token: ViewerToken) => token,
    deletes: true,
  },
})
