// What a frontend with Relay would ask; compiled by a test against schema.graphql, never run.
declare function graphql(strings: TemplateStringsArray): unknown

export const customersQuery = graphql`
  query PaymentsCustomersQuery($first: Int!, $after: String) {
    customers(first: $first, after: $after) {
      totalCount
      edges {
        cursor
        node {
          id
          fullName
          kycStatus
          ...PaymentsTransactionsFragment
        }
      }
      pageInfo {
        hasNextPage
        endCursor
      }
    }
  }
`

export const transactionsFragment = graphql`
  fragment PaymentsTransactionsFragment on Customer
  @argumentDefinitions(count: { type: "Int", defaultValue: 10 }, cursor: { type: "String" })
  @refetchable(queryName: "PaymentsTransactionsPaginationQuery") {
    transactions(first: $count, after: $cursor) @connection(key: "Payments_transactions") {
      edges {
        node {
          id
          status
          receivedAmount {
            amount
            display
            currency {
              code
            }
          }
        }
      }
    }
  }
`

export const transactionQuery = graphql`
  query PaymentsTransactionQuery($id: ID!) {
    node(id: $id) {
      __typename
      ... on Transaction {
        status
        quote {
          id
          expiresAt
        }
        destination {
          account {
            ... on ExternalAccount {
              accountInfo {
                __typename
                ... on IbanAccountInfo {
                  iban
                }
              }
            }
          }
        }
      }
    }
  }
`

export const createQuoteMutation = graphql`
  mutation PaymentsCreateQuoteMutation($input: CreateQuoteInput!) {
    createQuote(input: $input) {
      quote {
        id
        totalReceivingAmount {
          display
        }
      }
      errors {
        code
        field
        message
      }
    }
  }
`

export const eventsSubscription = graphql`
  subscription PaymentsEventsSubscription($after: String) {
    events(after: $after) {
      id
      cursor
      ... on PaymentEvent {
        transaction {
          id
          status
        }
      }
      ... on AccountStatusEvent {
        account {
          id
          balance {
            display
          }
        }
      }
    }
  }
`
