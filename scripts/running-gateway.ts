/** The gateway that scripts talk to: GATEWAY_URL and GATEWAY_TOKEN=id:secret, or the one that `npm start` runs here, with the token it left. */
import { readFileSync } from 'node:fs'

export const base = (process.env['GATEWAY_URL'] ?? `http://127.0.0.1:${process.env['PORT'] ?? 4000}`).replace(/\/+$/, '')

/** The gateway cannot be worked with as it is; the message says what to do. */
export class NotPossible extends Error {}

/** Value of the Authorization header. */
export function readAuthorization(): string {
  return `Basic ${Buffer.from(readToken()).toString('base64')}`
}

function readToken(): string {
  const given = process.env['GATEWAY_TOKEN'] ?? process.env['BOOTSTRAP_SANDBOX_TOKEN']
  if (given) return given
  const file = `${process.env['DATA_DIR'] ?? '.data'}/sandbox-token`
  try {
    return readFileSync(file, 'utf8').trim()
  } catch {
    throw new NotPossible(
      `No credentials: set GATEWAY_TOKEN=id:secret to a sandbox token (there is no ${file} to take them from).`,
    )
  }
}
