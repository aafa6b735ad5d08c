/**
 * The keys that sign a world's webhooks: ECDSA on P-256. The version in the signature header names the key. A new key is published before it
 * signs, so that receivers have the time to fetch it; old ones stay published, for what they have signed.
 */
import { createPublicKey, generateKeyPairSync, sign } from 'node:crypto'
import { z } from 'zod'
import { day, second } from '../../base/clock.ts'
import type { Queryable } from '../../database/port.ts'
import { type SigningKeyRow, selectList } from '../../database/tables.ts'
import { operation, query } from '../operation.ts'

export const WebhookKey = z.object({
  version: z.string(),
  /** SPKI, PEM. */
  publicKey: z.string(),
  /** PENDING: published, signs from `signsFrom` on. ACTIVE: signs. RETIRED: has signed. */
  status: z.enum(['PENDING', 'ACTIVE', 'RETIRED']),
  signsFrom: z.string(),
})

export type WebhookKey = z.output<typeof WebhookKey>

/** A public key as JOSE libraries read it (RFC 7517). */
const JsonWebKey = z.object({
  kty: z.string(),
  crv: z.string(),
  x: z.string(),
  y: z.string(),
  kid: z.string(),
  use: z.literal('sig'),
  alg: z.literal('ES256'),
})

export function newSigningKey(worldId: string, keyVersion: number, id: string, now: Date, signsFrom = now): SigningKeyRow {
  const { publicKey, privateKey } = generateKeyPairSync('ec', {
    namedCurve: 'P-256',
    publicKeyEncoding: { type: 'spki', format: 'pem' },
    privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
  })
  return { id, worldId, keyVersion, publicKey, privateKey, signsFrom, createdAt: now }
}

/** Newest first. */
export function readSigningKeys(database: Queryable, worldId: string): Promise<SigningKeyRow[]> {
  return database.query(`select ${selectList('signing_key')} from signing_key where world_id = $1 order by key_version desc`, [
    worldId,
  ])
}

/** The key that signs at an instant, of keys that are newest first. */
export function signingKeyAt(keys: readonly SigningKeyRow[], now: Date): SigningKeyRow | undefined {
  return keys.find(({ signsFrom }) => signsFrom <= now)
}

/** Value of the signature header: ECDSA over SHA-256 of the exact body, DER in base64, with the version of the key that made it. */
export function signatureOf(body: string, key: Pick<SigningKeyRow, 'keyVersion' | 'privateKey'>): string {
  const signature = sign('sha256', Buffer.from(body), key.privateKey)
  return JSON.stringify({ v: String(key.keyVersion), s: signature.toString('base64') })
}

function toWebhookKey({ keyVersion, publicKey, signsFrom }: SigningKeyRow, active: SigningKeyRow | undefined): WebhookKey {
  const status = keyVersion === active?.keyVersion ? 'ACTIVE' : keyVersion > (active?.keyVersion ?? 0) ? 'PENDING' : 'RETIRED'
  return { version: String(keyVersion), publicKey, status, signsFrom: signsFrom.toISOString() }
}

/** The same keys twice: in `data` as PEM, and in `keys` as a JSON Web Key Set. */
export const listWebhookKeys = query({
  name: 'listWebhookKeys',
  permission: 'VIEW',
  input: z.object({}),
  output: z.object({ data: z.array(WebhookKey), keys: z.array(JsonWebKey) }),
  async answer({ database, clock }, { worldId }) {
    const rows = await readSigningKeys(database, worldId)
    const active = signingKeyAt(rows, clock.now())
    return {
      data: rows.map((row) => toWebhookKey(row, active)),
      keys: rows.map(({ publicKey, keyVersion }) => {
        const jwk = createPublicKey(publicKey).export({ format: 'jwk' })
        return JsonWebKey.parse({ ...jwk, kid: String(keyVersion), use: 'sig', alg: 'ES256' })
      }),
    }
  },
})

const longestOverlapSeconds = (30 * day) / second

/**
 * Publishes a new key, which signs after the overlap: a day, unless told otherwise; 0 signs with it at once. Spec silent: how keys are
 * rotated. Two rotations at once make two keys.
 */
export const rotateWebhookKey = operation({
  name: 'rotateWebhookKey',
  permission: 'MANAGE',
  input: z.object({
    overlapSeconds: z
      .int()
      .min(0)
      .max(longestOverlapSeconds)
      .default(day / second),
  }),
  output: WebhookKey,
  load: ({ database }, { worldId }) => readSigningKeys(database, worldId),
  decide({ overlapSeconds }, keys, { caller: { worldId }, now, newId }) {
    const signsFrom = new Date(now.getTime() + overlapSeconds * second)
    const key = newSigningKey(worldId, (keys[0]?.keyVersion ?? 0) + 1, newId(), now, signsFrom)
    return {
      reply: toWebhookKey(key, signingKeyAt([key, ...keys], now)),
      insert: { signing_key: [key] },
    }
  },
})
