import { approveTransaction, rejectTransaction } from '../core/approvals/approval.ts'
import { cancelTransaction } from '../core/transactions/cancel.ts'
import { getTransaction, listTransactions } from '../core/transactions/read-transactions.ts'
import { transferIn, transferOut } from '../core/transactions/transfers.ts'
import type { Route } from './route.ts'

export const transactionRoutes: readonly Route[] = [
  {
    method: 'POST',
    path: '/transfer-out',
    asks: transferOut,
    says: 'Pay out of a balance, without exchange',
    status: 201,
    location: ({ id }) => `/transactions/${id}`,
  },
  {
    method: 'POST',
    path: '/transfer-in',
    asks: transferIn,
    says: 'Collect onto a balance, without exchange',
    status: 201,
    location: ({ id }) => `/transactions/${id}`,
  },
  { method: 'GET', path: '/transactions', asks: listTransactions, says: 'List payments', status: 200 },
  { method: 'GET', path: '/transactions/:transactionId', asks: getTransaction, says: 'Get a payment', status: 200 },
  {
    method: 'POST',
    path: '/transactions/:transactionId/approve',
    asks: approveTransaction,
    says: 'Let an incoming payment go on',
    status: 200,
  },
  {
    method: 'POST',
    path: '/transactions/:transactionId/reject',
    asks: rejectTransaction,
    says: 'Refuse an incoming payment',
    status: 200,
  },
  {
    method: 'POST',
    path: '/transactions/:transactionId/cancel',
    asks: cancelTransaction,
    says: 'Give up a payment of which nothing has been paid',
    status: 200,
  },
]
