/**
 * One thing by its id together with the single things it belongs to, in one statement: a transaction comes with its customer and its quote
 * where the document asks for them. Each is read with the fields that are asked for at this place alone, so it stays with its parent and
 * out of the loaders.
 */
import type { GraphQLResolveInfo } from 'graphql'
import { uuidOf } from '../base/ids.ts'
import { customerShape } from '../core/customers/customer.ts'
import { requirePermission } from '../core/operation.ts'
import { type ListSource, listed, selectionOf } from '../core/page.ts'
import { quoteShape } from '../core/quotes/quote.ts'
import type { Shape } from '../core/shape.ts'
import { type Transaction, transactionShape } from '../core/transactions/transaction.ts'
import { coalesced, type ReadById } from '../database/coalesce.ts'
import { byIdsInWorld, type TransactionRow } from '../database/tables.ts'
import type { Context } from './context.ts'
import { fieldsAt } from './lookahead.ts'

interface Link {
  field: 'customer' | 'quote'
  type: string
  source: ListSource
  // biome-ignore lint/suspicious/noExplicitAny: each link's own rows
  shape: Shape<any, any, void>
  /** Of the transaction. */
  column: string
}

const links: readonly Link[] = [
  { field: 'customer', type: 'Customer', source: listed('customer'), shape: customerShape, column: 'customer_id' },
  { field: 'quote', type: 'Quote', source: listed('quote'), shape: quoteShape, column: 'quote_id' },
]

type Linked = { [Field in Link['field']]?: unknown }

const known = new WeakMap<object, Linked>()

/** What has been read with its parent; undefined where it has not. */
export function linkedTo(parent: object, field: Link['field']): unknown {
  return known.get(parent)?.[field]
}

/** Null for what is not there, as the loaders say it. */
export async function loadLinked(context: Context, id: string, info: GraphQLResolveInfo): Promise<Transaction | null> {
  const { core, caller, loaders } = context
  const read = caller.customerId === undefined ? readerOf(info) : undefined
  const uuid = uuidOf('Transaction', id)
  if (!read || uuid === undefined) return loaders.transaction.load(id)
  requirePermission({ permission: 'VIEW', forViewers: true }, caller)
  const [found] = await read(core.database, caller, [uuid])
  if (!found) return null
  known.set(found.view, found.linked)
  return found.view
}

interface Found {
  id: string
  view: Transaction
  linked: Linked
}

/** One for each set of columns: they are prepared statements, of which there must not be too many. */
const mostReaders = 100
const readers = new Map<string, ReadById<Found>>()
const readersOf = new WeakMap<object, ReadById<Found> | undefined>()

/** Undefined where nothing is asked for that it is linked to. */
function readerOf(info: GraphQLResolveInfo): ReadById<Found> | undefined {
  const [node] = info.fieldNodes
  if (info.fieldNodes.length === 1 && readersOf.has(node!)) return readersOf.get(node!)
  const own = ['id', ...fieldsAt(info, 'Transaction', [])]
  const asked = links
    .map((link) => ({ ...link, fields: ['id', ...fieldsAt(info, link.type, [link.field])] }))
    .filter(({ fields }) => fields.length > 1)
  const key = JSON.stringify([own, asked.map(({ field, fields }) => [field, fields])])
  let reader = asked.length === 0 ? undefined : readers.get(key)
  if (!reader && asked.length > 0 && readers.size < mostReaders) {
    reader = newReader(own, asked)
    readers.set(key, reader)
  }
  if (info.fieldNodes.length === 1) readersOf.set(node!, reader)
  return reader
}

function newReader(own: readonly string[], asked: readonly (Link & { fields: readonly string[] })[]): ReadById<Found> {
  const main = transactionShape.part(own)
  const parts = asked.map(({ field, source, shape, column, fields }) => {
    const { columns, show } = shape.part(fields)
    const names = [...new Set(['id', ...columns])].map((name) => [name, `${field}.${name}`] as const)
    const selection = names.map(([name, as]) => `${source.columns.get(name)!.replace(/^t\./, `${field}.`)} as "${as}"`)
    const join = `left join ${field} on ${field}.id = t.${column} and ${field}.world_id = t.world_id`
    return { field, show, names, selection, join }
  })
  const selected = [selectionOf(listed('transaction'), main.columns), ...parts.flatMap(({ selection }) => selection)]
  const text = `select ${selected.join(', ')} from transaction t ${parts.map(({ join }) => join).join(' ')} where ${byIdsInWorld('t')}`
  return coalesced(
    async (database, worldId, ids) => {
      const rows = await database.query<Record<string, unknown> & TransactionRow>(text, [worldId, ids], 'shown')
      return rows.map((row) => {
        const linked: Linked = {}
        for (const { field, show, names } of parts) {
          if (row[`${field}.id`] !== null) linked[field] = show(Object.fromEntries(names.map(([name, as]) => [name, row[as]])))
        }
        return { id: row.id, view: main.show(row), linked }
      })
    },
    // Viewers read another way.
    () => null,
  )
}
