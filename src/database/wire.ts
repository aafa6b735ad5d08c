/** PostgreSQL's text format, read the same way from both engines. */
import { parseJson } from '../base/json.ts'

type Decode = (text: string) => unknown

const identity: Decode = (text) => text
const toNumber: Decode = (text) => Number(text)

const decoders: Readonly<Record<number, Decode>> = {
  16: (text) => text === 't',
  20: (text) => BigInt(text),
  21: toNumber,
  23: toNumber,
  26: toNumber,
  114: parseJson,
  700: toNumber,
  701: toNumber,
  1184: timestamp,
  3802: parseJson,
}

/** `2026-11-21 09:00:00.123+00`: sessions are pinned to UTC. */
function timestamp(text: string): Date {
  return new Date(`${text.slice(0, 10)}T${text.slice(11, text.length - 3)}Z`)
}

export function decoderOf(typeOid: number): Decode {
  return decoders[typeOid] ?? identity
}
