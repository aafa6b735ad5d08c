/**
 * Batching: whatever the resolvers of one request ask for together is read together, one statement per kind. All of it stays inside the
 * caller's world, and needs the permission to view.
 */
import DataLoader from 'dataloader'
import type { z } from 'zod'
import { type IdType, uuidOf } from '../base/ids.ts'
import { externalAccountShape, heldAccounts } from '../core/accounts/external.ts'
import { internalAccountShape, withBalance } from '../core/accounts/internal.ts'
import { balancesAt, countStatements, readStatements, type StatementLine } from '../core/accounts/statement.ts'
import { approvalsByTransaction } from '../core/approvals/approval.ts'
import { customerShape } from '../core/customers/customer.ts'
import { attemptsOf, type WebhookAttempt } from '../core/events/deliveries.ts'
import { type Caller, type Core, requirePermission } from '../core/operation.ts'
import { countOfOwners, type ListSource, listed, mapPage, type Page, readPagesOfOwners, selectionOf } from '../core/page.ts'
import { quoteShape } from '../core/quotes/quote.ts'
import type { Shape } from '../core/shape.ts'
import { type TimelineItem, timelinesOf } from '../core/transactions/timeline.ts'
import { transactionShape } from '../core/transactions/transaction.ts'
import { coalesced, type ReadById } from '../database/coalesce.ts'
import { sees } from '../database/sight.ts'
import { type ApprovalRow, byIdsInWorld } from '../database/tables.ts'
import { eventColumns, type LoggedEvent } from '../log/event.ts'
import type { Way } from './connection.ts'

/** Rows by id, with the columns that are shown. */
function shownById<Row extends { id: string }, View, Given>(
  source: ListSource,
  { columns }: Shape<Row, View, Given>,
  ownerOf: (row: Row) => string | null,
): ReadById<Row> {
  return coalesced(
    (database, worldId, ids) =>
      database.query<Row>(
        `select ${selectionOf(source, columns)} from ${source.from} where ${byIdsInWorld('t')}`,
        [worldId, ids],
        'shown',
      ),
    ownerOf,
  )
}

const customerOf = ({ customerId }: { customerId: string | null }) => customerId

const customers = shownById(listed('customer'), customerShape, ({ id }) => id)
const internalAccounts = shownById(withBalance, internalAccountShape, customerOf)
const externalAccounts = shownById(listed('external_account'), externalAccountShape, customerOf)
const quotes = shownById(listed('quote'), quoteShape, customerOf)
const transactions = shownById(listed('transaction'), transactionShape, customerOf)

type OwnerColumn = Parameters<typeof readPagesOfOwners>[3]

/** Reads the same page of each owner's list, in their order. */
type PagesOf<View> = (uuids: string[], page: Way & { fields: readonly string[] }) => Promise<Page<View>[]>

export type Loaders = ReturnType<typeof createLoaders>

export function createLoaders(core: Core, caller: Caller) {
  const { database } = core
  const { worldId, environment } = caller
  const rails = core.rails[environment]

  /** Things by their id; null for what is not there, not of that type, or not an id at all. */
  function byId<Row extends { id: string }, View>(type: IdType, read: ReadById<Row>, toView: (row: Row) => View) {
    return new DataLoader<string, View | null>(async (ids) => {
      requireView(caller)
      const uuids = ids.map((id) => uuidOf(type, id))
      const rows = await read(
        database,
        caller,
        uuids.filter((uuid) => uuid !== undefined),
      )
      const views = new Map(rows.map((row) => [row.id, toView(row)]))
      return uuids.map((uuid) => (uuid === undefined ? null : (views.get(uuid) ?? null)))
    })
  }

  /** The lists that belong to owners. Owners who are asked for the same page of the same list are read together. */
  function lists<View>(ownerType: IdType, read: PagesOf<View>, countAll: (uuids: string[]) => Promise<number[]>) {
    const pages = new Map<string, DataLoader<string, Page<View>>>()
    const counts = new DataLoader<string, number>((ids) => {
      requireView(caller)
      return countAll(ids.map(uuid))
    })
    const uuid = (id: string) => uuidOf(ownerType, id)!
    return {
      page(ownerId: string, way: Way, fields: readonly string[] = []): Promise<Page<View>> {
        const key = `${way.limit} ${way.cursor ?? ''} ${way.backwards} ${fields.join()}`
        let loader = pages.get(key)
        if (!loader) {
          loader = new DataLoader(async (ids) => {
            requireView(caller)
            return read(ids.map(uuid), { ...way, fields })
          })
          pages.set(key, loader)
        }
        return loader.load(ownerId)
      },
      count: (ownerId: string) => counts.load(ownerId),
    }
  }

  function ofOwners<Row extends { id: string; createdAt: Date }, View, Given>(
    source: ListSource,
    column: OwnerColumn,
    ownerType: IdType,
    shape: Shape<Row, View, Given>,
    given: Given,
  ) {
    return lists(
      ownerType,
      async (uuids, { fields, ...page }) => {
        const { columns: wanted, show } = shape.part(fields)
        const found = await readPagesOfOwners<Row>(database, source, caller, column, uuids, { ...page, wanted, reading: 'shown' })
        return found.map((one) => mapPage(one, (row) => show(row, given)))
      },
      (uuids) => countOfOwners(database, source, caller, column, uuids),
    )
  }

  return {
    customer: byId('Customer', customers, (row) => customerShape.lazily(row)),
    internalAccount: byId('InternalAccount', internalAccounts, (row) => internalAccountShape.lazily(row, rails)),
    externalAccount: byId('ExternalAccount', externalAccounts, (row) => externalAccountShape.lazily(row)),
    quote: byId('Quote', quotes, (row) => quoteShape.lazily(row)),
    transaction: byId('Transaction', transactions, (row) => transactionShape.lazily(row)),
    /** By `Webhook:<uuid>`. */
    event: new DataLoader<string, LoggedEvent | null>(async (ids) => {
      requireView(caller)
      const uuids = ids.map((id) => uuidOf('Webhook', id)!)
      const rows = await database.query<LoggedEvent>(
        `select ${eventColumns} from event e where e.uuid = any($2::uuid[]) and (e.world_id = $1) is true`,
        [worldId, uuids],
      )
      const events = new Map(rows.filter(({ customerId }) => sees(caller, customerId)).map((event) => [event.uuid, event]))
      return uuids.map((uuid) => events.get(uuid) ?? null)
    }),
    /** Of deliveries that were read in this world. */
    webhookAttempts: new DataLoader<string, z.output<typeof WebhookAttempt>[]>(async (ids) => {
      const uuids = ids.map((id) => uuidOf('Webhook', id)!)
      const attempts = await attemptsOf(database, uuids)
      return uuids.map((uuid) => attempts.get(uuid) ?? [])
    }),
    /** What is asked of the platform, by the transaction; null where nothing was. */
    approval: new DataLoader<string, ApprovalRow | null>(async (ids) => {
      requireView(caller)
      const uuids = ids.map((id) => uuidOf('Transaction', id)!)
      const found = new Map((await approvalsByTransaction(database, caller, uuids)).map(({ id, approval }) => [id, approval]))
      return uuids.map((uuid) => found.get(uuid) ?? null)
    }),
    /** What happened to a payment. */
    timeline: new DataLoader<string, TimelineItem[]>((ids) => {
      requireView(caller)
      return timelinesOf(
        database,
        caller,
        ids.map((id) => uuidOf('Transaction', id)!),
      )
    }),
    statement: lists<StatementLine>(
      'InternalAccount',
      (uuids, page) => readStatements(database, worldId, uuids, page),
      (uuids) => countStatements(database, worldId, uuids),
    ),
    balanceAt: new DataLoader<{ id: string; at: Date }, bigint, string>(
      async (asked) => {
        requireView(caller)
        const byInstant = Map.groupBy(asked, ({ at }) => at.getTime())
        const found = new Map<string, bigint>()
        for (const [time, group] of byInstant) {
          const uuids = group.map(({ id }) => uuidOf('InternalAccount', id)!)
          const balances = await balancesAt(database, worldId, uuids, new Date(time))
          group.forEach(({ id }, index) => {
            found.set(`${id} ${time}`, balances[index]!)
          })
        }
        return asked.map(({ id, at }) => found.get(`${id} ${at.getTime()}`)!)
      },
      { cacheKeyFn: ({ id, at }) => `${id} ${at.getTime()}` },
    ),
    ofCustomer: {
      internalAccounts: ofOwners(withBalance, 'customer_id', 'Customer', internalAccountShape, rails),
      externalAccounts: ofOwners(heldAccounts, 'customer_id', 'Customer', externalAccountShape, undefined),
      quotes: ofOwners(listed('quote'), 'customer_id', 'Customer', quoteShape, undefined),
      transactions: ofOwners(listed('transaction'), 'customer_id', 'Customer', transactionShape, undefined),
    },
    ofInternalAccount: {
      quotes: ofOwners(listed('quote'), 'source_account_id', 'InternalAccount', quoteShape, undefined),
      outgoing: ofOwners(listed('transaction'), 'source_account_id', 'InternalAccount', transactionShape, undefined),
      incoming: ofOwners(listed('transaction'), 'destination_account_id', 'InternalAccount', transactionShape, undefined),
    },
    ofExternalAccount: {
      quotes: ofOwners(listed('quote'), 'destination_account_id', 'ExternalAccount', quoteShape, undefined),
      incoming: ofOwners(listed('transaction'), 'destination_account_id', 'ExternalAccount', transactionShape, undefined),
    },
  }
}

function requireView(caller: Caller): void {
  requirePermission({ permission: 'VIEW', forViewers: true }, caller)
}
