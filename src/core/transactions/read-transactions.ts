/** One transaction, and the list of them. */
import { z } from 'zod'
import { uuidOf } from '../../base/ids.ts'
import { idOf, instant, searchText } from '../input.ts'
import { listQuery } from '../list.ts'
import { query } from '../operation.ts'
import { type Condition, given, listed, pageInput, pageOf } from '../page.ts'
import {
  requireTransaction,
  Transaction,
  toTransaction,
  transactionShape,
  transactionStatuses,
  transactionTypes,
} from './transaction.ts'

export const getTransaction = query({
  name: 'getTransaction',
  permission: 'VIEW',
  forViewers: true,
  refuses: ['TRANSACTION_NOT_FOUND'],
  input: z.object({ transactionId: idOf('Transaction') }),
  output: Transaction,
  answer: async ({ database }, caller, { transactionId }) =>
    toTransaction(await requireTransaction(database, caller, transactionId)),
})

/** An account id or a UMA address. */
const accountIdentifier = searchText(400)

export const listTransactions = listQuery({
  name: 'listTransactions',
  permission: 'VIEW',
  forViewers: true,
  input: z.object({
    customerId: idOf('Customer').optional(),
    platformCustomerId: searchText(255).optional(),
    accountIdentifier: accountIdentifier.optional(),
    senderAccountIdentifier: accountIdentifier.optional(),
    receiverAccountIdentifier: accountIdentifier.optional(),
    status: z.enum(transactionStatuses).optional(),
    type: z.enum(transactionTypes).optional(),
    reference: searchText(100).optional(),
    startDate: instant.optional(),
    endDate: instant.optional(),
    sortOrder: z.enum(['asc', 'desc']).default('desc'),
    ...pageInput,
  }),
  output: pageOf(Transaction),
  source: listed('transaction'),
  shape: transactionShape,
  given: () => undefined,
  ascending: ({ sortOrder }) => sortOrder === 'asc',
  conditions: (input) => [
    ...given(input.customerId, 't.customer_id = ?'),
    ...given(input.platformCustomerId, 't.platform_customer_id = ?'),
    ...side(input.accountIdentifier, ['source', 'destination']),
    ...side(input.senderAccountIdentifier, ['source']),
    ...side(input.receiverAccountIdentifier, ['destination']),
    ...given(input.status, 't.status = ?'),
    ...given(input.type, 't.type = ?'),
    ...given(input.reference, 't.reference = ?'),
    ...given(input.startDate, 't.created_at >= ?'),
    ...given(input.endDate, 't.created_at <= ?'),
  ],
})

function side(identifier: string | undefined, sides: readonly ('source' | 'destination')[]): Condition[] {
  if (identifier === undefined) return []
  const accountId = uuidOf('InternalAccount', identifier) ?? uuidOf('ExternalAccount', identifier)
  const [column, value] = accountId === undefined ? ['uma_address', identifier.toLowerCase()] : ['account_id', accountId]
  return [[`(${sides.map((one) => `t.${one}_${column} = ?`).join(' or ')})`, ...sides.map(() => value)]]
}
