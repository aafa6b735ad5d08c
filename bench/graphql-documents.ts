/** What the graph is asked in the bench. */
import { credentials } from './gateway.ts'

export const documents = {
  /** 20 customers with their internal accounts and 10 latest payments each. */
  N1: `query N1($after: String) { customers(first: 20, after: $after) {
  edges { node { id fullName kycStatus
    internalAccounts { edges { node { id balance { amount currency { code } } } } }
    transactions(first: 10) { edges { node { id status type sentAmount { amount } receivedAmount { amount currency { code } } createdAt } } } } }
  pageInfo { hasNextPage endCursor } } }`,
  /** One payment with its customer and quote. */
  Q2: `query Q2($id: ID!) { transaction(id: $id) { id status sentAmount { amount } receivedAmount { amount currency { code } } createdAt
  customer { id fullName } quote { id status exchangeRate totalSendingAmount { amount } } } }`,
  /** 50 payments of a customer by status, after a cursor. */
  Q3: `query Q3($customerId: ID!, $after: String) { transactions(first: 50, customerId: $customerId, status: COMPLETED, after: $after) {
  edges { cursor node { id status type sentAmount { amount currency { code } } receivedAmount { amount currency { code } } createdAt } }
  pageInfo { hasNextPage endCursor } } }`,
  typename: '{ __typename }',
} as const

export const authorization = `Basic ${Buffer.from(credentials).toString('base64')}`

/** What one of them is asked with, in turn. */
export interface Bodies {
  name: keyof typeof documents
  variables: readonly object[]
}

/** The next request, each time it is called. */
export function requestsOf(query: string, variables: readonly object[]): () => string {
  const texts = variables.map((one) => {
    const body = JSON.stringify({ query, variables: one })
    return `POST /graphql HTTP/1.1\r\nhost: bench\r\nauthorization: ${authorization}\r\ncontent-type: application/json\r\naccept: application/json\r\ncontent-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`
  })
  let asked = 0
  return () => {
    asked += 1
    return texts[asked % texts.length]!
  }
}
