/** PostgreSQL's text format, read the same way from both engines; what is sealed is opened here. */
import type { Vault } from '../base/vault.ts'

type Decode = (text: string) => unknown

const identity: Decode = (text) => text
const toNumber: Decode = (text) => Number(text)

export interface Decoders {
  /** By the type's oid. */
  values(typeOid: number): Decode
  /** For what is only shown: int8 stays its digits, and timestamptz becomes ISO 8601 text. */
  shown(typeOid: number): Decode
}

export function createDecoders(vault: Vault): Decoders {
  const json: Decode = (text) => vault.parseJson(text)
  const words: Decode = (text) => (text.startsWith('sealed:') ? vault.open(text) : text)
  const values: Readonly<Record<number, Decode>> = {
    16: (text) => text === 't',
    20: (text) => BigInt(text),
    21: toNumber,
    23: toNumber,
    25: words,
    26: toNumber,
    114: json,
    700: toNumber,
    701: toNumber,
    1184: timestamp,
    3802: json,
  }
  const shown: typeof values = { ...values, 20: identity, 1184: isoInstant }
  return { values: (typeOid) => values[typeOid] ?? identity, shown: (typeOid) => shown[typeOid] ?? identity }
}

/** `2026-11-21 09:00:00.123+00`: sessions are pinned to UTC, and instants kept to the millisecond. Read digit by digit: twice as quick. */
function timestamp(text: string): Date {
  const end = text.length - 3
  const ms = end > 19 ? digit(text, 20) * 100 + (end > 21 ? digit(text, 21) * 10 : 0) + (end > 22 ? digit(text, 22) : 0) : 0
  return new Date(
    Date.UTC(
      pair(text, 0) * 100 + pair(text, 2),
      pair(text, 5) - 1,
      pair(text, 8),
      pair(text, 11),
      pair(text, 14),
      pair(text, 17),
      ms,
    ),
  )
}

function pair(text: string, at: number): number {
  return digit(text, at) * 10 + digit(text, at + 1)
}

function digit(text: string, at: number): number {
  return text.charCodeAt(at) - 48
}

function isoInstant(text: string): string {
  const seconds = `${text.slice(0, 10)}T${text.slice(11, 19)}`
  return text.length === 22 ? `${seconds}.000Z` : `${seconds}${text.slice(19, -3).padEnd(4, '0')}Z`
}
