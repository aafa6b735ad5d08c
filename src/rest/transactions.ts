import { approveTransaction, rejectTransaction } from '../core/approvals/approval.ts'
import { getTransaction, listTransactions } from '../core/transactions/read-transactions.ts'
import { transferIn, transferOut } from '../core/transactions/transfers.ts'
import type { Route } from './route.ts'

export const transactionRoutes: readonly Route[] = [
  { method: 'POST', path: '/transfer-out', asks: transferOut, status: 201, location: ({ id }) => `/transactions/${id}` },
  { method: 'POST', path: '/transfer-in', asks: transferIn, status: 201, location: ({ id }) => `/transactions/${id}` },
  { method: 'GET', path: '/transactions', asks: listTransactions, status: 200 },
  { method: 'GET', path: '/transactions/:transactionId', asks: getTransaction, status: 200 },
  { method: 'POST', path: '/transactions/:transactionId/approve', asks: approveTransaction, status: 200 },
  { method: 'POST', path: '/transactions/:transactionId/reject', asks: rejectTransaction, status: 200 },
]
