/** Who calls: HTTP Basic with the id and secret of an API token, or a viewer token as Bearer. Secrets are compared as digests. */
import { timingSafeEqual } from 'node:crypto'
import { type Cached, cached } from '../../base/cached.ts'
import { uuidOf } from '../../base/ids.ts'
import { DomainError } from '../../base/refusal.ts'
import type { Database } from '../../database/port.ts'
import type { ViewerTokenRow } from '../../database/tables.ts'
import type { Caller, Environment } from '../operation.ts'
import { digestOf, permissionSet } from './tokens.ts'

/** Known for a moment: what is taken away is dead within a second. */
export interface Tokens {
  /** By client id, or by `Token:<uuid>`. */
  api: Cached<{ secretHash: Buffer; caller: Caller }>
  /** By the digest of the token, hex. */
  viewers: Cached<Caller>
}

export function createTokens({ prisma, query }: Database): Tokens {
  return {
    api: cached(async (username) => {
      const id = uuidOf('Token', username)
      const row = await prisma.apiToken.findUnique({
        where: id === undefined ? { clientId: username } : { id },
        include: { world: { select: { environment: true } } },
      })
      if (!row) return undefined
      const { worldId, world, permissions: held } = row
      return {
        secretHash: Buffer.from(row.secretHash, 'hex'),
        caller: {
          worldId,
          customerId: undefined,
          environment: world.environment,
          permissions: permissionSet.parse(held),
          tokenId: row.id,
        },
      }
    }),
    viewers: cached(async (tokenHash) => {
      type Row = Pick<ViewerTokenRow, 'id' | 'worldId' | 'customerId' | 'permissions' | 'expiresAt'> & {
        environment: Environment
      }
      const [row] = await query<Row>(
        `select v.id, v.world_id as "worldId", v.customer_id as "customerId", v.permissions, v.expires_at as "expiresAt", w.environment
         from viewer_token v join world w on w.id = v.world_id join customer c on c.id = v.customer_id
         where v.token_hash = $1 and not c.is_deleted`,
        [tokenHash],
      )
      if (!row) return undefined
      const { id: tokenId, permissions: held, ...rest } = row
      return { ...rest, permissions: permissionSet.parse(held), tokenId }
    }),
  }
}

const nobody = digestOf('')

/** Who the credentials of an `Authorization` header belong to. Refuses UNAUTHORIZED, whatever is wrong with them. */
export async function authenticate(tokens: Tokens, authorization: string | undefined, now: Date): Promise<Caller> {
  const bearer = bearerOf(authorization)
  const caller =
    bearer === undefined ? await byBasic(tokens, authorization) : await tokens.viewers.get(digestOf(bearer).toString('hex'))
  if (!caller || (caller.expiresAt && caller.expiresAt <= now)) {
    throw new DomainError('UNAUTHORIZED', 'Missing or invalid credentials')
  }
  return caller
}

async function byBasic({ api }: Tokens, authorization: string | undefined): Promise<Caller | undefined> {
  const credentials = authorization === undefined ? undefined : readBasic(authorization)
  const token = credentials && (await api.get(credentials.username))
  // An unknown client costs the same comparison as a wrong secret.
  const matches = timingSafeEqual(token?.secretHash ?? nobody, digestOf(credentials?.password ?? ''))
  return matches ? token?.caller : undefined
}

/** The user name that an `Authorization` header gives, if it can be read. */
export function userNameOf(authorization: string | undefined): string | undefined {
  return authorization === undefined ? undefined : readBasic(authorization)?.username
}

/** The viewer token that it gives: too long to be guessed. */
export function bearerOf(authorization: string | undefined): string | undefined {
  return /^Bearer +([\w-]{1,200})$/i.exec(authorization ?? '')?.[1]
}

function readBasic(authorization: string): { username: string; password: string } | undefined {
  const encoded = /^Basic +([A-Za-z0-9+/=_-]+)$/i.exec(authorization)?.[1]
  if (encoded === undefined) return undefined
  const decoded = Buffer.from(encoded, 'base64').toString('utf8')
  // The id may contain a colon (Token:<uuid>): the secret never does.
  const colon = decoded.lastIndexOf(':')
  return colon < 0 ? undefined : { username: decoded.slice(0, colon), password: decoded.slice(colon + 1) }
}
