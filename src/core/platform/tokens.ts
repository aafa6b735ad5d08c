/** API tokens: who may call, and what they may do. Secrets are random, shown once and stored as their digest. */
import { hash, randomBytes } from 'node:crypto'
import { z } from 'zod'
import { toId } from '../../base/ids.ts'
import { isoText } from '../../base/instant.ts'
import { DomainError } from '../../base/refusal.ts'
import type { Database } from '../../database/port.ts'
import type { ApiTokenRow } from '../../database/tables.ts'
import { idOf, instant, searchText, text } from '../input.ts'
import { listQuery } from '../list.ts'
import { operation, type Permission, permissions, query } from '../operation.ts'
import { given, listed, pageInput, pageOf } from '../page.ts'
import { shapeOf } from '../shape.ts'

export const permissionSet = z.array(z.enum(permissions))

export const Token = z.object({
  id: z.string(),
  name: z.string(),
  permissions: permissionSet,
  clientId: z.string(),
  /** Only in the answer that creates the token. */
  clientSecret: z.string().optional(),
  createdAt: z.string(),
  updatedAt: z.string(),
})

export type Token = z.output<typeof Token>

const tokenShape = shapeOf<ApiTokenRow, Token>({
  id: [['id'], ({ id }) => toId('Token', id)],
  name: [['name'], ({ name }) => name],
  permissions: [['permissions'], ({ permissions: held }) => permissionSet.parse(held)],
  clientId: [['clientId'], ({ clientId }) => clientId],
  clientSecret: [[], () => undefined],
  createdAt: [['createdAt'], ({ createdAt }) => isoText(createdAt)],
  updatedAt: [['updatedAt'], ({ updatedAt }) => isoText(updatedAt)],
})

function toToken(row: ApiTokenRow): Token {
  return tokenShape.whole(row)
}

export interface NewToken {
  worldId: string
  name: string
  permissions: readonly Permission[]
  /** Given only by the bootstrap. */
  credentials?: Credentials | undefined
}

export interface Credentials {
  clientId: string
  clientSecret: string
}

/** The row of a new token, and the secret that is shown once. */
export function newToken(token: NewToken, id: string, now: Date): { row: ApiTokenRow; credentials: Credentials } {
  const credentials = token.credentials ?? {
    clientId: randomBytes(16).toString('hex'),
    clientSecret: randomBytes(32).toString('hex'),
  }
  const row: ApiTokenRow = {
    id,
    worldId: token.worldId,
    name: token.name,
    clientId: credentials.clientId,
    secretHash: digestOf(credentials.clientSecret).toString('hex'),
    permissions: [...token.permissions],
    createdAt: now,
    updatedAt: now,
    version: 1,
  }
  return { row, credentials }
}

/** A repeat with the same idempotency key is answered without the secret: it is stored nowhere. */
export const createToken = operation({
  name: 'createToken',
  permission: 'MANAGE',
  input: z.object({ name: text(100), permissions: permissionSet.min(1) }),
  output: Token,
  load: async () => undefined,
  decide(input, _loaded, { caller, now, newId }) {
    const { row, credentials } = newToken(
      { worldId: caller.worldId, ...input, permissions: [...new Set(input.permissions)] },
      newId(),
      now,
    )
    const token = toToken(row)
    return {
      reply: { ...token, clientSecret: credentials.clientSecret },
      remembered: token,
      insert: { api_token: [row] },
    }
  },
})

export const listTokens = listQuery({
  name: 'listTokens',
  permission: 'VIEW',
  input: z.object({
    name: searchText(100).optional(),
    createdAfter: instant.optional(),
    createdBefore: instant.optional(),
    updatedAfter: instant.optional(),
    updatedBefore: instant.optional(),
    ...pageInput,
  }),
  output: pageOf(Token),
  source: listed('api_token'),
  shape: tokenShape,
  given: () => undefined,
  conditions: ({ name, createdAfter, createdBefore, updatedAfter, updatedBefore }) => [
    ...given(name, 't.name = ?'),
    ...given(createdAfter, 't.created_at >= ?'),
    ...given(createdBefore, 't.created_at <= ?'),
    ...given(updatedAfter, 't.updated_at >= ?'),
    ...given(updatedBefore, 't.updated_at <= ?'),
  ],
})

const tokenInput = z.object({ tokenId: idOf('Token') })

export const getToken = query({
  name: 'getToken',
  permission: 'VIEW',
  refuses: ['TOKEN_NOT_FOUND'],
  input: tokenInput,
  output: Token,
  answer: async ({ database }, { worldId }, { tokenId }) => toToken(await requireToken(database, worldId, tokenId)),
})

export const deleteToken = operation({
  name: 'deleteToken',
  permission: 'MANAGE',
  refuses: ['TOKEN_NOT_FOUND'],
  input: tokenInput,
  output: Token,
  load: ({ database }, { worldId }, { tokenId }) => requireToken(database, worldId, tokenId),
  decide: (_input, row) => ({ reply: toToken(row), guard: { api_token: [row] }, remove: { api_token: [row.id] } }),
  committed: ({ tokens }, _caller, { clientId, id }) => {
    tokens.api.drop(clientId)
    tokens.api.drop(id)
    tokens.viewers.clear()
  },
})

export async function findToken(
  { prisma }: Pick<Database, 'prisma'>,
  worldId: string,
  id: string,
): Promise<ApiTokenRow | undefined> {
  return (await prisma.apiToken.findFirst({ where: { worldId, id } })) ?? undefined
}

async function requireToken({ prisma }: Database, worldId: string, id: string): Promise<ApiTokenRow> {
  const row = await findToken({ prisma }, worldId, id)
  if (!row) throw new DomainError('TOKEN_NOT_FOUND', 'There is no such token', { field: 'tokenId' })
  return row
}

/** What is stored of a secret: SHA-256. */
export function digestOf(secret: string): Buffer {
  return hash('sha256', secret, 'buffer')
}
