import { expect, test } from 'vitest'
import { changesBetween } from '../../scripts/schema-changes-between.ts'

const before =
  'type Query { quote(id: ID!): Quote } type Quote { id: ID! status: Status! memo: String! } enum Status { PENDING DONE }'

test.each([
  ['a field that goes', before.replace('memo: String!', ''), 'breaking', /memo was removed/],
  ['a field that may be null from now on', before.replace('memo: String!', 'memo: String'), 'breaking', /memo changed type/],
  ['an argument that must be given', before.replace('id: ID!)', 'id: ID!, at: String!)'), 'breaking', /quote\(at:\) was added/],
  ['a state that clients do not know', before.replace('DONE', 'DONE FAILED'), 'dangerous', /FAILED was added/],
  ['a field that comes', before.replace('memo: String!', 'memo: String! note: String'), 'safe', /note was added/],
] as const)('%s', (_what, after, kind, description) => {
  const found = changesBetween(before, after)
  expect(found[kind].join()).toMatch(description)
  expect(Object.values(found).flat()).toHaveLength(1)
})

test('nothing', () => {
  expect(changesBetween(before, before)).toEqual({ breaking: [], dangerous: [], safe: [] })
})
