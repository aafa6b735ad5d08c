/** Relay connections over the core's pages. */

import type { GraphQLResolveInfo } from 'graphql'
import type { z } from 'zod'
import { encodePlace } from '../base/cursor.ts'
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

function toConnection<Item extends Listed>(
  page: Page<Item>,
  after: string | null | undefined,
  countTotal: () => Promise<number>,
) {
  return connectionOf(page, cursorOf, after, countTotal)
}

/** A page as a connection, each of whose items says where it stands by `cursorOf`. */
export function connectionOf<Item>(
  page: Page<Item>,
  cursorOf: (item: Item) => string,
  after: string | null | undefined,
  countTotal: () => Promise<number>,
) {
  const edges = page.data.map((node) => new Edge(node, cursorOf))
  return {
    edges,
    pageInfo: {
      hasNextPage: page.hasMore,
      hasPreviousPage: after !== undefined && after !== null,
      get startCursor() {
        return edges[0]?.cursor ?? null
      },
      get endCursor() {
        return edges.at(-1)?.cursor ?? null
      },
    },
    countTotal,
  }
}

/** Most documents ask for a few cursors at most: they are made when they are looked at. */
class Edge<Item> {
  readonly node: Item
  readonly #cursorOf: (item: Item) => string

  constructor(node: Item, cursorOf: (item: Item) => string) {
    this.node = node
    this.#cursorOf = cursorOf
  }

  get cursor(): string {
    return this.#cursorOf(this.node)
  }
}

function cursorOf({ id, createdAt }: Listed): string {
  return encodePlace({ createdAt: new Date(createdAt), id: id.slice(id.indexOf(':') + 1) })
}

/** The arguments of every list. */
export const pageArgs = builder.args((t) => ({
  first: t.int({
    required: true,
    defaultValue: 20,
    description: 'How many items, 1 to 100.',
    validate: { min: [1, { message: 'expected 1 to 100' }], max: [100, { message: 'expected 1 to 100' }] },
  }),
  after: t.string({ description: 'The cursor to go on after.' }),
}))

/** A list costs as many times its items as it may have. */
export const pageComplexity = ({ first }: { first: number }) => ({ field: 1, multiplier: Math.max(first, 1) })

interface OwnedList<Item> {
  page(ownerId: string, limit: number, cursor: string | undefined, fields: readonly string[]): Promise<Page<Item>>
  count(ownerId: string): Promise<number>
}

/** The options of a field that lists what belongs to its parent, read together with its siblings' lists. */
export function ownedList<Item extends Listed>(description: string, listOf: (loaders: Loaders) => OwnedList<Item>) {
  return {
    description,
    args: { ...pageArgs },
    complexity: pageComplexity,
    async resolve(
      { id }: { id: string },
      { first, after }: { first: number; after?: string | null | undefined },
      { loaders }: Context,
      info: GraphQLResolveInfo,
    ) {
      const list = listOf(loaders)
      return toConnection(await list.page(id, first, after ?? undefined, fieldsOf(info)), after, () => list.count(id))
    },
  }
}

interface ListArgs {
  first: number
  after?: string | null | undefined
}

/** One of the core's lists as a connection, filtered by `filters`. With `info` only what is asked for is read. */
export async function listOf<Input extends z.ZodType, Item extends Listed>(
  context: Context,
  query: Query<Input, z.ZodType<Page<Item>>> | ListQuery<Input, Item>,
  { first, after, ...filters }: ListArgs,
  info?: GraphQLResolveInfo,
) {
  const input = withoutNulls({ ...filters, limit: first, cursor: after })
  const { core, caller } = context
  const page =
    info && 'reading' in query
      ? await askFields(core, query, { caller }, input, fieldsOf(info))
      : await ask(core, query, { caller }, input)
  return toConnection(page, after, async () => {
    const counted = await askCore(context, query, { ...filters, limit: 1, total: 'exact' })
    return counted.totalCount ?? 0
  })
}
