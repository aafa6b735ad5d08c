/**
 * Persisted operations: GraphQL documents that a platform has registered, which its clients then name by their hash. A world can be
 * limited to them: see `graphqlDocuments` of its configuration.
 */
import { hash } from 'node:crypto'
import { z } from 'zod'
import { type Cached, cached } from '../../base/cached.ts'
import { toId } from '../../base/ids.ts'
import { isoText } from '../../base/instant.ts'
import { DomainError } from '../../base/refusal.ts'
import type { Queryable } from '../../database/port.ts'
import { type PersistedOperationRow, selectList } from '../../database/tables.ts'
import { listQuery } from '../list.ts'
import { operation } from '../operation.ts'
import { listed, pageInput, pageOf } from '../page.ts'
import { shapeOf } from '../shape.ts'

export const PersistedOperation = z.object({
  id: z.string(),
  hash: z.string(),
  document: z.string(),
  maxAgeSeconds: z.int(),
  createdAt: z.string(),
})

export type PersistedOperation = z.output<typeof PersistedOperation>

const persistedOperationShape = shapeOf<PersistedOperationRow, PersistedOperation>({
  id: [['id'], ({ id }) => toId('PersistedOperation', id)],
  hash: [['hash'], (row) => row.hash],
  document: [['document'], ({ document }) => document],
  maxAgeSeconds: [['maxAgeSeconds'], ({ maxAgeSeconds }) => maxAgeSeconds],
  createdAt: [['createdAt'], ({ createdAt }) => isoText(createdAt)],
})

/** What clients name a document by: SHA-256 of its text, hex. */
export function hashOf(document: string): string {
  return hash('sha256', document, 'hex')
}

/** The same document again is the same operation, with what was said of it first. Whether it can be run is the door's to check. */
export const registerOperation = operation({
  name: 'registerOperation',
  permission: 'MANAGE',
  input: z.object({
    // Byte for byte: line ends may be anybody's.
    document: z
      .string()
      .min(1)
      .max(100_000)
      .refine((text) => text.isWellFormed() && !text.includes('\u0000'), 'expected text without NUL'),
    maxAgeSeconds: z.int().min(0).max(86_400).default(0),
  }),
  output: PersistedOperation,
  load: ({ database }, { worldId }, { document }) => findOperation(database, worldId, hashOf(document)),
  decide({ document, maxAgeSeconds }, known, { caller: { worldId }, now, newId }) {
    if (known) return { reply: persistedOperationShape.whole(known) }
    const row: PersistedOperationRow = { id: newId(), worldId, hash: hashOf(document), document, maxAgeSeconds, createdAt: now }
    return { reply: persistedOperationShape.whole(row), insert: { persisted_operation: [row] } }
  },
  committed: ({ persisted }, { worldId }, { hash: of }) => persisted.drop(keyOf(worldId, of)),
})

/** Refuses NOT_FOUND. */
export const unregisterOperation = operation({
  name: 'unregisterOperation',
  permission: 'MANAGE',
  refuses: ['NOT_FOUND'],
  input: z.object({ hash: z.string().regex(/^[0-9a-f]{64}$/, 'expected SHA-256, as 64 hexadecimal digits') }),
  output: PersistedOperation,
  async load({ database }, { worldId }, { hash: of }) {
    const row = await findOperation(database, worldId, of)
    if (!row) throw new DomainError('NOT_FOUND', 'No operation with this hash is registered', { field: 'hash', value: of })
    return row
  },
  decide: (_input, row) => ({ reply: persistedOperationShape.whole(row), remove: { persisted_operation: [row.id] } }),
  committed: ({ persisted }, { worldId }, { hash: of }) => persisted.drop(keyOf(worldId, of)),
})

export const listPersistedOperations = listQuery({
  name: 'listPersistedOperations',
  permission: 'VIEW',
  input: z.object(pageInput),
  output: pageOf(PersistedOperation),
  source: listed('persisted_operation'),
  shape: persistedOperationShape,
  given: () => undefined,
  conditions: () => [],
})

/** By `keyOf`. */
export type PersistedOperations = Cached<PersistedOperationRow>

export function createPersistedOperations(database: Queryable): PersistedOperations {
  return cached((key) => findOperation(database, ...(key.split(' ') as [string, string])))
}

export function keyOf(worldId: string, of: string): string {
  return `${worldId} ${of}`
}

async function findOperation(database: Queryable, worldId: string, of: string): Promise<PersistedOperationRow | undefined> {
  const [row] = await database.query<PersistedOperationRow>(
    `select ${selectList('persisted_operation')} from persisted_operation where world_id = $1 and hash = $2`,
    [worldId, of],
  )
  return row
}
