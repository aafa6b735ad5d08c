/** Relay connections over the core's pages. */

import type { GraphQLResolveInfo } from 'graphql'
import type { z } from 'zod'
import { encodePlace } from '../base/cursor.ts'
import { DomainError } from '../base/refusal.ts'
import { askFields, type ListQuery } from '../core/list.ts'
import { ask, type Query } from '../core/operation.ts'
import type { Page } from '../core/page.ts'
import { builder } from './builder.ts'
import { askCore, type Context, withoutNulls } from './context.ts'
import type { Loaders } from './loaders.ts'
import { fieldsOf } from './lookahead.ts'

/** What lists show of their items to say where they stand. */
interface Listed {
  id: string
  createdAt: string
}

/** A page as a connection, each of whose items says where it stands by `cursorOf`. */
export function connectionOf<Item>(
  page: Page<Item>,
  cursorOf: (item: Item) => string,
  { cursor, backwards }: Way,
  countTotal: () => Promise<number>,
) {
  const isBeyondCursor = cursor !== undefined
  const edges = page.data.map((node) => new Edge(node, cursorOf))
  const [hasNext, hasPrevious] = backwards ? [isBeyondCursor, page.hasMore] : [page.hasMore, isBeyondCursor]
  return { edges, pageInfo: new PageInfo(edges, hasNext, hasPrevious), countTotal }
}

/** Of something that has just been made: where it stands in its list. */
export function edgeOf<Item extends Listed>(node: Item): { node: Item; cursor: string } {
  return new Edge(node, cursorOf)
}

class PageInfo {
  readonly edges: readonly { cursor: string }[]
  readonly hasNextPage: boolean
  readonly hasPreviousPage: boolean

  constructor(edges: readonly { cursor: string }[], hasNextPage: boolean, hasPreviousPage: boolean) {
    this.edges = edges
    this.hasNextPage = hasNextPage
    this.hasPreviousPage = hasPreviousPage
  }

  get startCursor(): string | null {
    return this.edges[0]?.cursor ?? null
  }

  get endCursor(): string | null {
    return this.edges.at(-1)?.cursor ?? null
  }
}

/** Most documents ask for a few cursors at most: they are made when they are looked at. */
class Edge<Item> {
  readonly node: Item
  readonly cursorOf: (item: Item) => string

  constructor(node: Item, cursorOf: (item: Item) => string) {
    this.node = node
    this.cursorOf = cursorOf
  }

  get cursor(): string {
    return this.cursorOf(this.node)
  }
}

function cursorOf({ id, createdAt }: Listed): string {
  return encodePlace({ createdAt: new Date(createdAt), id: id.slice(id.indexOf(':') + 1) })
}

const expected = { message: 'expected 1 to 100' }
const howMany: { min: [number, object]; max: [number, object] } = { min: [1, expected], max: [100, expected] }

/** The arguments of every list. */
export const pageArgs = builder.args((t) => ({
  first: t.int({ description: 'How many items, 1 to 100; 20 unless said.', validate: howMany }),
  after: t.string({ description: 'The cursor to go on after.' }),
}))

function bothWays(validated: { validate?: typeof howMany }) {
  return builder.args((t) => ({
    first: t.int({
      description: 'How many items from the beginning, or after the cursor, 1 to 100; 20 unless said.',
      ...validated,
    }),
    after: t.string({ description: 'The cursor to go on after.' }),
    last: t.int({ description: 'How many items from the end, or before the cursor, 1 to 100.', ...validated }),
    before: t.string({ description: 'With `last`: the cursor to come before.' }),
  }))
}

/** The arguments of lists that can be read from their end, too. */
export const bothWayArgs = bothWays({ validate: howMany })

/** Of lists below the items of others: `wayOf` alone judges them, since validating them once for each parent costs as much as the list. */
export const ownedArgs = bothWays({})

export interface WayArgs {
  first?: number | null | undefined
  after?: string | null | undefined
  last?: number | null | undefined
  before?: string | null | undefined
}

/** Which page of a list, from which side. */
export interface Way {
  limit: number
  cursor: string | undefined
  backwards: boolean
}

const usualItems = 20

/** Refuses INVALID_INPUT for going both ways at once, and for fewer or more items than a page has. */
export function wayOf({ first, after, last, before }: WayArgs): Way {
  const backwards = typeof last === 'number'
  const stray = backwards
    ? ([
        ['first', first],
        ['after', after],
      ] as const)
    : ([['before', before]] as const)
  for (const [field, value] of stray) {
    if (value === undefined || value === null) continue
    throw new DomainError('INVALID_INPUT', `${field}: expected first with after, or last with before`, { field })
  }
  const limit = last ?? first ?? usualItems
  if (limit < 1 || limit > 100) {
    const field = backwards ? 'last' : 'first'
    throw new DomainError('INVALID_INPUT', `${field}: expected 1 to 100`, { field, value: limit })
  }
  return { limit, cursor: (backwards ? before : after) ?? undefined, backwards }
}

/** A list costs as many times its items as it may have. */
export const pageComplexity = ({ first, last }: WayArgs) => ({ field: 1, multiplier: Math.max(last ?? first ?? usualItems, 1) })

interface OwnedList<Item> {
  page(ownerId: string, way: Way, fields: readonly string[]): Promise<Page<Item>>
  count(ownerId: string): Promise<number>
}

/** The options of a field that lists what belongs to its parent, read together with its siblings' lists. */
export function ownedList<Item extends Listed>(description: string, listOf: (loaders: Loaders) => OwnedList<Item>) {
  return {
    description,
    args: { ...ownedArgs },
    complexity: pageComplexity,
    async resolve({ id }: { id: string }, args: WayArgs, { loaders }: Context, info: GraphQLResolveInfo) {
      const list = listOf(loaders)
      const way = wayOf(args)
      return connectionOf(await list.page(id, way, fieldsOf(info)), cursorOf, way, () => list.count(id))
    },
  }
}

/** One of the core's lists as a connection, filtered by `filters`. With `info` only what is asked for is read, from either end. */
export async function listOf<Input extends z.ZodType, Item extends Listed>(
  context: Context,
  query: Query<Input, z.ZodType<Page<Item>>> | ListQuery<Input, Item>,
  { first, after, last, before, ...filters }: WayArgs,
  info?: GraphQLResolveInfo,
) {
  const way = wayOf({ first, after, last, before })
  const { core, caller } = context
  const input = withoutNulls({ ...filters, limit: way.limit, cursor: way.cursor })
  const page =
    info && 'reading' in query
      ? await askFields(core, query, { caller }, input, { fields: fieldsOf(info), backwards: way.backwards })
      : await ask(core, query, { caller }, input)
  return connectionOf(page, cursorOf, way, async () => {
    const counted = await askCore(context, query, { ...filters, limit: 1, total: 'exact' })
    return counted.totalCount ?? 0
  })
}
