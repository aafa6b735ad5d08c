/** One quote, and the list of them. */
import { z } from 'zod'
import { accountReference, idOf, instant, searchText } from '../input.ts'
import { listQuery } from '../list.ts'
import { query } from '../operation.ts'
import { given, listed, pageInput, pageOf } from '../page.ts'
import { Quote, quoteShape, quoteStatuses, requireQuote, toQuote } from './quote.ts'

export const getQuote = query({
  name: 'getQuote',
  permission: 'VIEW',
  forViewers: true,
  refuses: ['QUOTE_NOT_FOUND'],
  input: z.object({ quoteId: idOf('Quote') }),
  output: Quote,
  answer: async ({ database }, caller, { quoteId }) => toQuote(await requireQuote(database, caller, quoteId)),
})

export const listQuotes = listQuery({
  name: 'listQuotes',
  permission: 'VIEW',
  forViewers: true,
  input: z.object({
    customerId: idOf('Customer').optional(),
    sendingAccountId: accountReference.optional(),
    receivingAccountId: accountReference.optional(),
    sendingUmaAddress: searchText(400).toLowerCase().optional(),
    receivingUmaAddress: searchText(400).toLowerCase().optional(),
    status: z.enum(quoteStatuses).optional(),
    createdAfter: instant.optional(),
    createdBefore: instant.optional(),
    ...pageInput,
  }),
  output: pageOf(Quote),
  source: listed('quote'),
  shape: quoteShape,
  given: () => undefined,
  conditions: (input) => [
    ...given(input.customerId, 't.customer_id = ?'),
    ...given(input.sendingAccountId?.id, 't.source_account_id = ?'),
    ...given(input.receivingAccountId?.id, 't.destination_account_id = ?'),
    ...given(input.sendingUmaAddress, 't.source_uma_address = ?'),
    ...given(input.receivingUmaAddress, 't.destination_uma_address = ?'),
    ...given(input.status, 't.status = ?'),
    ...given(input.createdAfter, 't.created_at >= ?'),
    ...given(input.createdBefore, 't.created_at <= ?'),
  ],
})
