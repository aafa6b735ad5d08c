/** Random texts that people and banks handle: no letters that look like digits. */
import { randomBytes } from 'node:crypto'

const alphabet = '0123456789ABCDEFGHJKMNPQRSTVWXYZ'

/** `length` characters of 5 random bits each. */
export function randomCode(length: number): string {
  return Array.from(randomBytes(length), (byte) => alphabet[byte & 31]).join('')
}
