import { GraphQLError, Kind, type ValueNode } from 'graphql'
import { builder } from './builder.ts'

/** Any whole number: what is too large for its place is refused there, with its field, as over every door. */
function toInteger(value: unknown): bigint {
  const integer = typeof value === 'bigint' || (typeof value === 'number' && Number.isSafeInteger(value))
  const text = typeof value === 'string' && /^-?\d{1,100}$/.test(value)
  if (integer || text) return BigInt(value as bigint | number | string)
  throw new GraphQLError('Expected a whole number, as an integer or a string', { extensions: { code: 'INVALID_INPUT' } })
}

builder.scalarType('Int64', {
  description:
    'A whole number of up to 64 bits. Written as a string, since JSON readers lose digits; read as a string or an integer.',
  serialize: (value) => value.toString(),
  parseValue: toInteger,
  parseLiteral: (node: ValueNode) => {
    if (node.kind === Kind.INT || node.kind === Kind.STRING) return toInteger(node.value)
    throw new GraphQLError('Expected an Int64 as an integer or a string', { nodes: node, extensions: { code: 'INVALID_INPUT' } })
  },
})

function toText(value: unknown): string {
  if (typeof value !== 'string') throw new GraphQLError('Expected a string', { extensions: { code: 'INVALID_INPUT' } })
  return value
}

// What the text has to be is judged with the rest of the input, so that every door refuses it alike.
builder.scalarType('DateTime', {
  description: 'An instant as ISO 8601 text, in UTC: `2026-01-31T12:00:00.000Z`.',
  serialize: (value) => value,
  parseValue: toText,
})

builder.scalarType('Date', {
  description: 'A calendar date as text: `2026-01-31`.',
  serialize: (value) => value,
  parseValue: toText,
})
