/** What the graph is asked in the bench. */
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
