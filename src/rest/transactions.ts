import { getTransaction, listTransactions } from '../core/transactions/read-transactions.ts'
import type { Route } from './route.ts'

export const transactionRoutes: readonly Route[] = [
  { method: 'GET', path: '/transactions', asks: listTransactions, status: 200 },
  { method: 'GET', path: '/transactions/:transactionId', asks: getTransaction, status: 200 },
]
