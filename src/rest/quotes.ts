import { createQuote } from '../core/quotes/create-quote.ts'
import { executeQuote } from '../core/quotes/execute-quote.ts'
import { getQuote, listQuotes } from '../core/quotes/read-quotes.ts'
import type { Route } from './route.ts'

export const quoteRoutes: readonly Route[] = [
  {
    method: 'POST',
    path: '/quotes',
    asks: createQuote,
    says: 'Make a quote that locks a rate',
    status: 201,
    location: ({ id }) => `/quotes/${id}`,
  },
  { method: 'GET', path: '/quotes', asks: listQuotes, says: 'List quotes', status: 200 },
  { method: 'GET', path: '/quotes/:quoteId', asks: getQuote, says: 'Get a quote', status: 200 },
  { method: 'POST', path: '/quotes/:quoteId/execute', asks: executeQuote, says: 'Execute a quote', status: 200 },
]
