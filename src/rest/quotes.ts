import { createQuote } from '../core/quotes/create-quote.ts'
import { executeQuote } from '../core/quotes/execute-quote.ts'
import { getQuote, listQuotes } from '../core/quotes/read-quotes.ts'
import type { Route } from './route.ts'

export const quoteRoutes: readonly Route[] = [
  { method: 'POST', path: '/quotes', asks: createQuote, status: 201, location: ({ id }) => `/quotes/${id}` },
  { method: 'GET', path: '/quotes', asks: listQuotes, status: 200 },
  { method: 'GET', path: '/quotes/:quoteId', asks: getQuote, status: 200 },
  { method: 'POST', path: '/quotes/:quoteId/execute', asks: executeQuote, status: 200 },
]
