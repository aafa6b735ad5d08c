/** The things of the domain, by which the rooms' types refer to each other; each is described in its room. */
import type { ExternalAccount } from '../core/accounts/external.ts'
import type { InternalAccount } from '../core/accounts/internal.ts'
import type { Customer } from '../core/customers/customer.ts'
import type { Quote } from '../core/quotes/quote.ts'
import type { Transaction } from '../core/transactions/transaction.ts'
import { builder } from './builder.ts'

export const CustomerRef = builder.objectRef<Customer>('Customer')
export const InternalAccountRef = builder.objectRef<InternalAccount>('InternalAccount')
export const ExternalAccountRef = builder.objectRef<ExternalAccount>('ExternalAccount')
export const QuoteRef = builder.objectRef<Quote>('Quote')
export const TransactionRef = builder.objectRef<Transaction>('Transaction')

export const CustomerConnection = builder.connectionObject(
  { type: CustomerRef, name: 'CustomerConnection', description: 'A page of customers.' },
  { name: 'CustomerEdge', description: 'A customer in a list.' },
)

export const InternalAccountConnection = builder.connectionObject(
  { type: InternalAccountRef, name: 'InternalAccountConnection', description: 'A page of internal accounts.' },
  { name: 'InternalAccountEdge', description: 'An internal account in a list.' },
)

export const ExternalAccountConnection = builder.connectionObject(
  { type: ExternalAccountRef, name: 'ExternalAccountConnection', description: 'A page of external accounts.' },
  { name: 'ExternalAccountEdge', description: 'An external account in a list.' },
)

export const QuoteConnection = builder.connectionObject(
  { type: QuoteRef, name: 'QuoteConnection', description: 'A page of quotes.' },
  { name: 'QuoteEdge', description: 'A quote in a list.' },
)

export const TransactionConnection = builder.connectionObject(
  { type: TransactionRef, name: 'TransactionConnection', description: 'A page of transactions.' },
  { name: 'TransactionEdge', description: 'A transaction in a list.' },
)
