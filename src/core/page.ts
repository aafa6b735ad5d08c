/**
 * Lists: keyset pages over (created_at, id), newest first unless asked otherwise, always inside one world. A page costs the same wherever
 * it stands; the total is counted only when asked for.
 */
import { z } from 'zod'
import { decodePlace, encodePlace, type Place } from '../base/cursor.ts'
import type { Parameter, Queryable, Reading } from '../database/port.ts'
import type { Sight } from '../database/sight.ts'
import { columnsAs, type TableName } from '../database/tables.ts'
import { pageLimit } from './input.ts'

/**
 * Whether all that match are counted: not at all, exactly, or (bounded) exactly up to `mostCounted`, beyond which there is no total. Counting
 * costs as much as there is to count.
 */
const total = z.enum(['none', 'bounded', 'exact']).default('none')

export const mostCounted = 1000

/** The part of a list's input that says which page. */
export const pageInput = { limit: pageLimit, cursor: z.string().max(200).optional(), total }

export interface PageInput {
  limit: number
  cursor?: string | undefined
  total: z.output<typeof total>
}

export interface Page<Item> {
  data: Item[]
  hasMore: boolean
  /** Only when there is more. */
  nextCursor?: string | undefined
  /** Of all that match, whatever the page; only when asked for, and only up to `mostCounted` unless asked for exactly. */
  totalCount?: number | undefined
}

export function pageOf<Item extends z.ZodType>(item: Item) {
  return z.object({
    data: z.array(item),
    hasMore: z.boolean(),
    nextCursor: z.string().optional(),
    totalCount: z.int().optional(),
  })
}

/** One condition of a list, with `?` for each of its parameters: `['status = ?', 'PENDING']`. */
export type Condition = readonly [sql: string, ...parameters: Parameter[]]

/** The conditions whose value was given. */
export function given<Value extends Parameter>(value: Value | undefined, sql: string): Condition[] {
  return value === undefined ? [] : [[sql, value]]
}

export interface ListSource {
  /** Table expression; the listed table's alias must be `t`. */
  from: string
  /** What can be selected: the names of the code, and where each comes from. */
  columns: ReadonlyMap<string, string>
  /** Whose a row is; undefined: the platform's alone. */
  owner: string | undefined
}

const owners: { readonly [Table in TableName]?: string } = {
  customer: 't.id',
  external_account: 't.customer_id',
  quote: 't.customer_id',
  transaction: 't.customer_id',
}

const sources = new Map<TableName, ListSource>()

export function listed(table: TableName): ListSource {
  let source = sources.get(table)
  if (!source) {
    source = { from: `${table} t`, columns: new Map(columnsAs(table, 't')), owner: owners[table] }
    sources.set(table, source)
  }
  return source
}

/** Every set of columns is a statement of its own, which the database keeps prepared: there must not be too many. */
const mostSelections = 100
const selections = new WeakMap<ListSource['columns'], Map<string, string>>()

/** The select list of some columns, and of those that say where a row stands; absent: of all. */
export function selectionOf({ columns }: ListSource, wanted?: readonly string[]): string {
  let known = selections.get(columns)
  if (!known) {
    known = new Map()
    selections.set(columns, known)
  }
  const key = wanted && known.size < mostSelections ? wanted.join() : ''
  let selection = known.get(wanted?.join() ?? '') ?? known.get(key)
  if (selection === undefined) {
    const names = key === '' ? [...columns.keys()] : [...new Set(['id', 'createdAt', ...wanted!])]
    selection = names.map((name) => `${columns.get(name)} as "${name}"`).join(', ')
    known.set(key, selection)
  }
  return selection
}

/** How a page is read, besides what its input says. */
export interface Manner {
  /** Oldest first. */
  ascending?: boolean
  /** The last of those that stand before the cursor, or of all; then `hasMore` says whether there are any before them. */
  backwards?: boolean
  /** The columns that are read; absent: all. */
  wanted?: readonly string[] | undefined
  /** `shown`: what shapes show as it is comes as text. */
  reading?: Reading
}

export async function readPage<Row extends Place>(
  database: Queryable,
  source: ListSource,
  sight: Sight,
  conditions: readonly Condition[],
  page: PageInput & Manner,
): Promise<Page<Row>> {
  const where = new Where([['t.world_id = ?', sight.worldId], ...seenOnly(source, sight), ...conditions])
  const [rows, totalCount] = await Promise.all([
    readRows<Row>(database, source, where, page),
    page.total === 'none' ? undefined : count(database, source, where, page.total === 'bounded' ? mostCounted : undefined),
  ])
  return { ...cut(rows, page), ...(totalCount === undefined ? {} : { totalCount }) }
}

/** What a list leaves out of what is asked for. */
function seenOnly({ owner }: ListSource, { customerId }: Sight): Condition[] {
  if (customerId === undefined) return []
  return [owner === undefined ? ['false'] : [`${owner} = ?`, customerId]]
}

async function readRows<Row>(
  database: Queryable,
  source: ListSource,
  where: Where,
  { cursor, limit, ascending = false, backwards = false, wanted, reading }: PageInput & Manner,
): Promise<Row[]> {
  const [direction, after] = directionOf(ascending !== backwards)
  const place = cursor === undefined ? undefined : decodePlace(cursor)
  const bounded = where.and(place ? [[`(t.created_at, t.id) ${after} (?, ?)`, place.createdAt, place.id]] : [])
  return database.query<Row>(
    `select ${selectionOf(source, wanted)} from ${source.from} where ${bounded.sql} order by t.created_at ${direction}, t.id ${direction} limit $${bounded.parameters.length + 1}`,
    [...bounded.parameters, limit + 1],
    reading,
  )
}

/** Which way places are read. */
export function directionOf(ascending: boolean): readonly [direction: 'asc' | 'desc', after: '>' | '<'] {
  return ascending ? ['asc', '>'] : ['desc', '<']
}

/**
 * The same page of several owners' lists at once, in one statement: for each owner the first rows after the cursor. Costs an index look-up
 * per owner, however many rows they own. Pages come in the order of `ownerIds`.
 */
export async function readPagesOfOwners<Row extends Place>(
  database: Queryable,
  source: ListSource,
  sight: Sight,
  ownerColumn: 'customer_id' | 'source_account_id' | 'destination_account_id',
  ownerIds: readonly string[],
  page: Pick<PageInput, 'limit' | 'cursor'> & Omit<Manner, 'ascending'>,
): Promise<Page<Row>[]> {
  const { limit, cursor, backwards = false, wanted, reading } = page
  const [direction, beyond] = directionOf(backwards)
  const place = cursor === undefined ? undefined : decodePlace(cursor, backwards ? 'before' : 'after')
  const where = new Where(
    [
      ...seenOnly(source, sight),
      ...(place ? [[`(t.created_at, t.id) ${beyond} (?, ?)`, place.createdAt, place.id] as const] : []),
    ],
    3,
  )
  const rows = await database.query<Row & { ownerId: string }>(
    `select owner.id as "ownerId", page.* from unnest($2::uuid[]) as owner(id) cross join lateral (
       select ${selectionOf(source, wanted)} from ${source.from} where t.world_id = $1 and t.${ownerColumn} = owner.id ${where.more}
       order by t.created_at ${direction}, t.id ${direction} limit $3
     ) page`,
    [sight.worldId, ownerIds, limit + 1, ...where.parameters],
    reading,
  )
  const rowsOf = Map.groupBy(rows, ({ ownerId }) => ownerId)
  return ownerIds.map((ownerId) => cut(rowsOf.get(ownerId) ?? [], page))
}

/** How many rows each owner has, in the order of `ownerIds`. */
export async function countOfOwners(
  database: Queryable,
  source: ListSource,
  sight: Sight,
  ownerColumn: 'customer_id' | 'source_account_id' | 'destination_account_id',
  ownerIds: readonly string[],
): Promise<number[]> {
  const where = new Where(seenOnly(source, sight), 2)
  const rows = await database.query<{ ownerId: string; count: bigint }>(
    `select t.${ownerColumn} as "ownerId", count(*) as count from ${source.from}
     where t.world_id = $1 and t.${ownerColumn} = any($2::uuid[]) ${where.more} group by t.${ownerColumn}`,
    [sight.worldId, ownerIds, ...where.parameters],
  )
  const counts = new Map(rows.map(({ ownerId, count }) => [ownerId, Number(count)]))
  return ownerIds.map((ownerId) => counts.get(ownerId) ?? 0)
}

/** A page of rows that were read with one more than its limit. */
function cut<Row extends Place>(rows: Row[], { limit, backwards }: { limit: number; backwards?: boolean }): Page<Row> {
  const hasMore = rows.length > limit
  const data = hasMore ? rows.slice(0, limit) : rows
  if (backwards) return { data: data.reverse(), hasMore }
  return { data, hasMore, ...(hasMore ? { nextCursor: encodePlace(data.at(-1)!) } : {}) }
}

/** Undefined where there are more than `most`. */
async function count(
  database: Queryable,
  { from }: ListSource,
  { sql, parameters }: Where,
  most?: number,
): Promise<number | undefined> {
  const matching = `select 1 from ${from} where ${sql}${most === undefined ? '' : ` limit ${most + 1}`}`
  const [row] = await database.query<{ count: bigint }>(`select count(*) as count from (${matching}) matching`, parameters)
  const counted = Number(row!.count)
  return most !== undefined && counted > most ? undefined : counted
}

class Where {
  readonly sql: string
  readonly parameters: readonly Parameter[]
  readonly #conditions: readonly Condition[]

  /** `before`: how many parameters the statement has before these. */
  constructor(conditions: readonly Condition[], before = 0) {
    let number = before
    this.#conditions = conditions
    this.sql = conditions.map(([sql]) => sql.replace(/\?/g, () => `$${++number}`)).join(' and ')
    this.parameters = conditions.flatMap(([, ...parameters]) => parameters)
  }

  /** After a condition that is there anyway. */
  get more(): string {
    return this.sql === '' ? '' : `and ${this.sql}`
  }

  and(conditions: readonly Condition[]): Where {
    return new Where([...this.#conditions, ...conditions])
  }
}

export function mapPage<From, To>(page: Page<From>, map: (item: From) => To): Page<To> {
  return { ...page, data: page.data.map(map) }
}
