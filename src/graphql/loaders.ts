/**
 * Batching: whatever the resolvers of one request ask for together is read together, one statement per kind. All of it stays inside the
 * caller's world, and needs the permission to view.
 */
import DataLoader from 'dataloader'
import { type IdType, uuidOf } from '../base/ids.ts'
import { DomainError } from '../base/refusal.ts'
import { externalAccountsById, toExternalAccount } from '../core/accounts/external.ts'
import { internalAccountsById, toInternalAccount, withBalance } from '../core/accounts/internal.ts'
import { customersById, toCustomer } from '../core/customers/customer.ts'
import type { Caller, Core } from '../core/operation.ts'
import { countOfOwners, type ListSource, listed, mapPage, type Page, readPagesOfOwners } from '../core/page.ts'
import { quotesById, toQuote } from '../core/quotes/quote.ts'
import { toTransaction, transactionsById } from '../core/transactions/transaction.ts'
import type { ReadById } from '../database/coalesce.ts'
import type { CustomerRow, ExternalAccountRow, InternalAccountRow, QuoteRow, TransactionRow } from '../database/tables.ts'

type OwnerColumn = Parameters<typeof readPagesOfOwners>[3]

export type Loaders = ReturnType<typeof createLoaders>

export function createLoaders(core: Core, caller: Caller) {
  const { database } = core
  const { worldId } = caller

  /** Things by their id; null for what is not there, not of that type, or not an id at all. */
  function byId<Row extends { id: string }, View>(type: IdType, read: ReadById<Row>, toView: (row: Row) => View) {
    return new DataLoader<string, View | null>(async (ids) => {
      requireView(caller)
      const uuids = ids.map((id) => uuidOf(type, id))
      const rows = await read(
        database,
        worldId,
        uuids.filter((uuid) => uuid !== undefined),
      )
      const views = new Map(rows.map((row) => [row.id, toView(row)]))
      return uuids.map((uuid) => (uuid === undefined ? null : (views.get(uuid) ?? null)))
    })
  }

  /** The lists that belong to owners. Owners who are asked for the same page of the same list are read together. */
  function ofOwners<Row extends { id: string; createdAt: Date }, View>(
    source: ListSource,
    column: OwnerColumn,
    ownerType: IdType,
    toView: (row: Row) => View,
  ) {
    const pages = new Map<string, DataLoader<string, Page<View>>>()
    const counts = new DataLoader<string, number>((ids) => {
      requireView(caller)
      return countOfOwners(database, source, worldId, column, ids.map(uuid))
    })
    const uuid = (id: string) => uuidOf(ownerType, id)!
    return {
      page(ownerId: string, limit: number, cursor: string | undefined): Promise<Page<View>> {
        const key = `${limit} ${cursor ?? ''}`
        let loader = pages.get(key)
        if (!loader) {
          loader = new DataLoader(async (ids) => {
            requireView(caller)
            const found = await readPagesOfOwners<Row>(database, source, worldId, column, ids.map(uuid), { limit, cursor })
            return found.map((page) => mapPage(page, toView))
          })
          pages.set(key, loader)
        }
        return loader.load(ownerId)
      },
      count: (ownerId: string) => counts.load(ownerId),
    }
  }

  return {
    customer: byId<CustomerRow, ReturnType<typeof toCustomer>>('Customer', customersById, toCustomer),
    internalAccount: byId('InternalAccount', internalAccountsById, toInternalAccount),
    externalAccount: byId('ExternalAccount', externalAccountsById, toExternalAccount),
    quote: byId('Quote', quotesById, toQuote),
    transaction: byId('Transaction', transactionsById, toTransaction),
    ofCustomer: {
      internalAccounts: ofOwners<InternalAccountRow, ReturnType<typeof toInternalAccount>>(
        withBalance,
        'customer_id',
        'Customer',
        toInternalAccount,
      ),
      externalAccounts: ofOwners<ExternalAccountRow, ReturnType<typeof toExternalAccount>>(
        listed('external_account'),
        'customer_id',
        'Customer',
        toExternalAccount,
      ),
      quotes: ofOwners<QuoteRow, ReturnType<typeof toQuote>>(listed('quote'), 'customer_id', 'Customer', toQuote),
      transactions: ofOwners<TransactionRow, ReturnType<typeof toTransaction>>(
        listed('transaction'),
        'customer_id',
        'Customer',
        toTransaction,
      ),
    },
    ofInternalAccount: {
      quotes: ofOwners<QuoteRow, ReturnType<typeof toQuote>>(listed('quote'), 'source_account_id', 'InternalAccount', toQuote),
      outgoing: ofOwners<TransactionRow, ReturnType<typeof toTransaction>>(
        listed('transaction'),
        'source_account_id',
        'InternalAccount',
        toTransaction,
      ),
      incoming: ofOwners<TransactionRow, ReturnType<typeof toTransaction>>(
        listed('transaction'),
        'destination_account_id',
        'InternalAccount',
        toTransaction,
      ),
    },
    ofExternalAccount: {
      quotes: ofOwners<QuoteRow, ReturnType<typeof toQuote>>(
        listed('quote'),
        'destination_account_id',
        'ExternalAccount',
        toQuote,
      ),
      incoming: ofOwners<TransactionRow, ReturnType<typeof toTransaction>>(
        listed('transaction'),
        'destination_account_id',
        'ExternalAccount',
        toTransaction,
      ),
    },
  }
}

function requireView({ permissions }: Caller): void {
  if (!permissions.includes('VIEW')) {
    throw new DomainError('FORBIDDEN', 'This needs a token with the permission VIEW', { permission: 'VIEW' })
  }
}
