import type { permissions } from '../core/operation.ts'
import { createToken, deleteToken, getToken, listTokens, type Token } from '../core/platform/tokens.ts'
import { builder } from './builder.ts'
import { bothWayArgs, listOf, pageComplexity } from './connection.ts'
import { askCore, findInCore } from './context.ts'
import { addMutation, idempotencyKeyDescription } from './error.ts'

export const PermissionType = builder.enumType('Permission', {
  description: 'What a token may do. None includes another.',
  values: {
    VIEW: { description: 'Read everything, and subscribe.' },
    TRANSACT: { description: 'Move money.' },
    MANAGE: { description: 'Change configuration, tokens, customers and accounts.' },
  } satisfies Record<(typeof permissions)[number], { description: string }>,
})

const TokenRef = builder.objectRef<Token>('ApiToken')

builder.node(TokenRef, {
  description: 'Credentials of the platform in this world.',
  id: { resolve: ({ id }) => id, description: '`Token:<uuid>`' },
  loadOne: (id: string, context) => findInCore(context, getToken, { tokenId: id }),
  fields: (t) => ({
    name: t.exposeString('name', { description: 'What people call it.' }),
    permissions: t.expose('permissions', { type: [PermissionType], description: 'What it may do.' }),
    clientId: t.exposeString('clientId', { description: 'The user name of HTTP Basic.' }),
    clientSecret: t.exposeString('clientSecret', {
      nullable: true,
      description: 'The password of HTTP Basic: only in the answer that creates the token.',
    }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When it was created.' }),
    updatedAt: t.expose('updatedAt', { type: 'DateTime', description: 'When it last changed.' }),
  }),
})

const ApiTokenEdge = builder.edgeObject({ type: TokenRef, name: 'ApiTokenEdge', description: 'A token in a list.' })

const TokenConnection = builder.connectionObject(
  { type: TokenRef, name: 'ApiTokenConnection', description: 'A page of tokens.' },
  ApiTokenEdge,
)

builder.queryField('tokens', (t) =>
  t.field({
    type: TokenConnection,
    description: 'The tokens of the platform in this world, newest first.',
    args: { ...bothWayArgs, name: t.arg.string({ description: 'Called this only.' }) },
    complexity: pageComplexity,
    resolve: (_root, args, context, info) => listOf(context, listTokens, args, info),
  }),
)

builder.queryField('token', (t) =>
  t.field({
    type: TokenRef,
    description: 'One token.',
    args: { id: t.arg.id({ required: true, description: '`Token:<uuid>`' }) },
    resolve: (_root, { id }, context) => askCore(context, getToken, { tokenId: id }),
  }),
)

addMutation('createToken', {
  description: 'Makes credentials. The secret is shown once.',
  operation: createToken,
  input: builder.inputType('CreateTokenInput', {
    description: 'What it is called, and what it may do.',
    fields: (t) => ({
      name: t.string({ required: true, description: 'What people call it.' }),
      permissions: t.field({ type: [PermissionType], required: true, description: 'What it may do.' }),
      idempotencyKey: t.string({ description: idempotencyKeyDescription }),
    }),
  }),
  result: {
    field: 'token',
    type: TokenRef,
    description: 'The token, with its secret.',
    of: (token: Token) => token,
    edge: ApiTokenEdge,
  },
})

addMutation('deleteToken', {
  description: 'Takes credentials away: within a second, at every gateway, open sockets included.',
  operation: deleteToken,
  input: builder.inputType('DeleteTokenInput', {
    description: 'Which ones.',
    fields: (t) => ({
      tokenId: t.id({ required: true, description: '`Token:<uuid>`' }),
      idempotencyKey: t.string({ description: idempotencyKeyDescription }),
    }),
  }),
  result: { field: 'token', type: TokenRef, description: 'The token that is gone.', of: (token: Token) => token, deletes: true },
})
