/** The keys that sign a world's webhooks: ECDSA on P-256. The version in the signature header names the key. */
import { generateKeyPairSync } from 'node:crypto'
import { z } from 'zod'
import type { Database } from '../../database/port.ts'
import type { SigningKeyRow } from '../../database/tables.ts'
import { query } from '../operation.ts'

export const WebhookKey = z.object({
  version: z.string(),
  /** SPKI, PEM. */
  publicKey: z.string(),
  status: z.enum(['ACTIVE', 'RETIRED']),
})

export type WebhookKey = z.output<typeof WebhookKey>

export function newSigningKey(worldId: string, keyVersion: number, id: string, now: Date): SigningKeyRow {
  const { publicKey, privateKey } = generateKeyPairSync('ec', {
    namedCurve: 'P-256',
    publicKeyEncoding: { type: 'spki', format: 'pem' },
    privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
  })
  return { id, worldId, keyVersion, publicKey, privateKey, status: 'ACTIVE', createdAt: now }
}

/** Newest first. */
export function readSigningKeys({ prisma }: Database, worldId: string): Promise<SigningKeyRow[]> {
  return prisma.signingKey.findMany({ where: { worldId }, orderBy: { keyVersion: 'desc' } })
}

export const listWebhookKeys = query({
  name: 'listWebhookKeys',
  permission: 'VIEW',
  input: z.object({}),
  output: z.object({ data: z.array(WebhookKey) }),
  answer: async ({ database }, { worldId }) => ({
    data: (await readSigningKeys(database, worldId)).map(({ keyVersion, publicKey, status }) => ({
      version: String(keyVersion),
      publicKey,
      status,
    })),
  }),
})
