import { expect, test } from 'vitest'
import { coalesced } from '../../src/database/coalesce.ts'
import type { Queryable } from '../../src/database/port.ts'
import { wholeWorld } from '../../src/database/sight.ts'

const database = {} as Queryable

/** A read whose statements end when told to. */
function controlled() {
  const statements: { world: string; ids: readonly string[]; end: (error?: Error) => void }[] = []
  const read = coalesced<{ id: string; world: string }>(
    (_database, world, ids) =>
      new Promise((resolve, reject) => {
        const rows = ids.filter((id) => id !== 'missing').map((id) => ({ id, world }))
        statements.push({ world, ids, end: (error) => (error ? reject(error) : resolve(rows)) })
      }),
    ({ id }) => id,
  )
  return { statements, read }
}

const settle = () => new Promise((resolve) => setImmediate(resolve))

test('the first asks at once; those who ask meanwhile are read together by the next statement, and get their own rows', async () => {
  const { statements, read } = controlled()
  const replies = [['a'], ['b', 'c'], ['c', 'missing', 'b']].map((ids) => read(database, wholeWorld('w'), ids))
  expect(statements.map(({ ids }) => ids)).toEqual([['a']])
  statements[0]!.end()
  await settle()
  expect(statements.map(({ ids }) => ids)).toEqual([['a'], ['b', 'c', 'missing']])
  statements[1]!.end()
  const rows = await Promise.all(replies)
  expect(rows.map((found) => found.map(({ id }) => id))).toEqual([['a'], ['b', 'c'], ['c', 'b']])
})

test('the same id is read again by whoever asks after the statement began', async () => {
  const { statements, read } = controlled()
  const early = read(database, wholeWorld('w'), ['a'])
  const late = read(database, wholeWorld('w'), ['a'])
  statements[0]!.end()
  await early
  await settle()
  expect(statements).toHaveLength(2)
  statements[1]!.end()
  expect(await late).toEqual([{ id: 'a', world: 'w' }])
})

test('worlds are never read together', async () => {
  const { statements, read } = controlled()
  const replies = [read(database, wholeWorld('mine'), ['a']), read(database, wholeWorld('theirs'), ['a'])]
  expect(statements.map(({ world }) => world)).toEqual(['mine', 'theirs'])
  for (const { end } of statements) end()
  expect(await Promise.all(replies)).toEqual([[{ id: 'a', world: 'mine' }], [{ id: 'a', world: 'theirs' }]])
})

test('a statement that fails fails those it was for, and nobody after them', async () => {
  const { statements, read } = controlled()
  const failing = read(database, wholeWorld('w'), ['a'])
  const waiting = read(database, wholeWorld('w'), ['b'])
  statements[0]!.end(new Error('no'))
  await expect(failing).rejects.toThrow('no')
  await settle()
  statements[1]!.end()
  expect(await waiting).toHaveLength(1)
  await settle()
  const next = read(database, wholeWorld('w'), ['c'])
  statements[2]!.end()
  expect(await next).toHaveLength(1)
  expect(await read(database, wholeWorld('w'), [])).toEqual([])
})

test('who may see one customer gets the rows of that customer alone, out of the same statement as everybody', async () => {
  const { statements, read } = controlled()
  const first = read(database, wholeWorld('w'), ['a'])
  const replies = [read(database, wholeWorld('w'), ['a', 'b']), read(database, { worldId: 'w', customerId: 'b' }, ['a', 'b'])]
  statements[0]!.end()
  await first
  await settle()
  expect(statements.map(({ ids }) => ids)).toEqual([['a'], ['a', 'b']])
  statements[1]!.end()
  expect((await Promise.all(replies)).map((rows) => rows.map(({ id }) => id))).toEqual([['a', 'b'], ['b']])
})
