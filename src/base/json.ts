/**
 * The one JSON form of the gateway: integers are exact to any size, both ways. A `bigint` is written as a JSON integer; an integer
 * that a `number` cannot hold exactly is read as a `bigint`.
 */

export type Json =
  | string
  | number
  | bigint
  | boolean
  | null
  | undefined
  | Date
  | readonly Json[]
  | { readonly [key: string]: Json }

declare global {
  // Node has them; TypeScript's library does not know them yet.
  interface JSON {
    rawJSON(text: string): object
    isRawJSON(value: unknown): boolean
  }
}

// JSON.stringify asks every value for its toJSON, so this reaches replies, database parameters and log lines alike.
Object.defineProperty(BigInt.prototype, 'toJSON', {
  configurable: true,
  value(this: bigint) {
    return JSON.rawJSON(this.toString())
  },
})

export function stringifyJson(value: unknown): string {
  return JSON.stringify(value)
}

const longDigits = /\d{16}/

/** Throws a SyntaxError on malformed text. */
export function parseJson(text: string): unknown {
  return longDigits.test(text) ? JSON.parse(text, exactInteger) : JSON.parse(text)
}

function exactInteger(_key: string, value: unknown, context?: { source?: string }): unknown {
  if (typeof value !== 'number' || Number.isSafeInteger(value)) return value
  const source = context?.source
  return source !== undefined && /^-?\d+$/.test(source) ? BigInt(source) : value
}

/** The same text for equal values, whatever the order of their keys. */
export function canonicalJson(value: unknown): string {
  return JSON.stringify(value, (_key, item: unknown) =>
    item !== null && typeof item === 'object' && !Array.isArray(item) && !JSON.isRawJSON(item)
      ? Object.fromEntries(Object.entries(item).sort(([left], [right]) => (left < right ? -1 : 1)))
      : item,
  )
}
