/**
 * Personal data at rest: AES-256-GCM under keys that are not in the database. A sealed value is a text that names its key, so several keys
 * can be in use while one takes over from another; whatever was altered does not open.
 */
import { createCipheriv, createDecipheriv, createHash, createHmac, randomBytes } from 'node:crypto'
import { parseJson, stringifyJson } from './json.ts'

const mark = 'sealed:'
const sealedForm = /^sealed:([\w-]{8}):([\w-]{38,})$/
const ivBytes = 12
const tagBytes = 16

export interface DataKey {
  /** From the key itself: what a sealed value names it by. */
  id: string
  /** 32 bytes. */
  secret: Buffer
}

export function dataKey(secret: Buffer): DataKey {
  if (secret.length !== 32) throw new Error('a data key has 32 bytes')
  return { id: createHash('sha256').update('data key').update(secret).digest('base64url').slice(0, 8), secret }
}

class AlteredData extends Error {
  override readonly name = 'AlteredData'
}

/** Holds the keys once they are known; until then nothing can be sealed, and what is sealed stays so. */
export class Vault {
  #keys: ReadonlyMap<string, DataKey> = new Map()
  #current: DataKey | undefined
  #indexKey: Buffer | undefined

  /** The first key seals; all of them open. `indexKey`: what digests are made with, the same under every data key. */
  unlock(keys: readonly DataKey[], indexKey: Buffer): void {
    this.#keys = new Map(keys.map((key) => [key.id, key]))
    this.#current = keys[0]
    this.#indexKey = indexKey
  }

  /** Whether a text names the key that seals now. */
  isCurrent(sealed: string): boolean {
    return sealed.startsWith(`${mark}${this.#current?.id}:`)
  }

  seal(value: unknown): string {
    if (!this.#current) throw new Error('no data key is known yet')
    return sealWith(this.#current, value)
  }

  /**
   * The value of a sealed text. What names no key of ours comes back as it is: it is somebody's own words. Throws AlteredData for what names
   * one and does not open.
   */
  open(text: string): unknown {
    const [, id, body] = sealedForm.exec(text) ?? []
    const key = id === undefined ? undefined : this.#keys.get(id)
    if (!key) return text
    const opened = openWith(key, body!)
    if (opened === undefined) throw new AlteredData('A sealed value does not open: it was altered')
    return opened
  }

  /** JSON as the database keeps it, with every sealed value in it opened. */
  parseJson(text: string): unknown {
    const value = parseJson(text)
    return text.includes(`"${mark}`) ? this.#openWithin(value) : value
  }

  /** For looking up equal values without storing them: HMAC-SHA-256, hex. */
  digest(text: string): string {
    if (!this.#indexKey) throw new Error('no data key is known yet')
    return createHmac('sha256', this.#indexKey).update(text).digest('hex')
  }

  #openWithin(value: unknown): unknown {
    if (typeof value === 'string') return value.startsWith(mark) ? this.open(value) : value
    if (Array.isArray(value)) return value.map((item) => this.#openWithin(item))
    if (typeof value !== 'object' || value === null) return value
    return Object.fromEntries(Object.entries(value).map(([name, item]) => [name, this.#openWithin(item)]))
  }
}

export function sealWith({ id, secret }: DataKey, value: unknown): string {
  const iv = randomBytes(ivBytes)
  const cipher = createCipheriv('aes-256-gcm', secret, iv)
  cipher.setAAD(Buffer.from(id))
  const sealed = Buffer.concat([iv, cipher.update(stringifyJson(value), 'utf8'), cipher.final(), cipher.getAuthTag()])
  return `${mark}${id}:${sealed.toString('base64url')}`
}

/** What it seals; undefined when this is not the key, or it was altered. */
export function unsealWith(key: DataKey, text: string): unknown {
  const [, id, body] = sealedForm.exec(text) ?? []
  return id === key.id ? openWith(key, body!) : undefined
}

function openWith({ id, secret }: DataKey, body: string): unknown {
  const bytes = Buffer.from(body, 'base64url')
  const decipher = createDecipheriv('aes-256-gcm', secret, bytes.subarray(0, ivBytes))
  decipher.setAAD(Buffer.from(id))
  decipher.setAuthTag(bytes.subarray(-tagBytes))
  try {
    const opened = Buffer.concat([decipher.update(bytes.subarray(ivBytes, -tagBytes)), decipher.final()])
    return parseJson(opened.toString('utf8'))
  } catch {
    return undefined
  }
}
