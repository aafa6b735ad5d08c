/** The signature header: ECDSA P-256 over SHA-256 of the exact body, DER in base64, with the version of the key that made it. */
import { sign } from 'node:crypto'

export const signatureHeader = 'X-Service-Signature'

export function signatureOf(body: string, key: { keyVersion: number; privateKey: string }): string {
  const signature = sign('sha256', Buffer.from(body), key.privateKey)
  return JSON.stringify({ v: String(key.keyVersion), s: signature.toString('base64') })
}
