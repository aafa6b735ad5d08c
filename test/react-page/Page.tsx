/**
 * What a customer sees: their accounts, their payments page by page, and a payment they make, from its quote to its end. It sends no
 * documents, only the hashes of registered ones. The build puts the compiled artifact in the place of each `graphql` text.
 */
import { createClient } from 'graphql-ws'
import { Suspense, useEffect, useMemo, useState } from 'react'
import { createRoot } from 'react-dom/client'
import {
  graphql,
  RelayEnvironmentProvider,
  useFragment,
  useLazyLoadQuery,
  useMutation,
  usePaginationFragment,
  useSubscription,
} from 'react-relay'
import { Environment, Network, Observable, RecordSource, Store } from 'relay-runtime'

const { gateway, authorization } = JSON.parse(decodeURIComponent(location.hash.slice(1)))

const sockets = createClient({ url: `${gateway.replace('http', 'ws')}/graphql`, connectionParams: { authorization } })

const environment = new Environment({
  store: new Store(new RecordSource()),
  network: Network.create(
    async ({ id }, variables) => {
      const response = await fetch(`${gateway}/graphql`, {
        method: 'POST',
        headers: { authorization, 'content-type': 'application/json', accept: 'application/json' },
        body: JSON.stringify({ documentId: `sha256:${id}`, variables }),
      })
      return response.json()
    },
    ({ id }, variables) =>
      Observable.create((sink) => {
        const extensions = { persistedQuery: { version: 1, sha256Hash: id } }
        return sockets.subscribe({ query: '', variables, extensions }, sink as never)
      }),
  ),
})

function Page() {
  const { customers } = useLazyLoadQuery(
    graphql`
      query PageCustomersQuery {
        customers(first: 10) {
          totalCount
          edges {
            node {
              id
              ...PageCustomer_customer
            }
          }
        }
      }
    `,
    {},
  )
  return (
    <main>
      <h1>{customers.totalCount} customers</h1>
      {customers.edges.map(({ node }) => (
        <Customer key={node.id} customer={node} />
      ))}
    </main>
  )
}

function Customer({ customer }) {
  const { fullName, internalAccounts, externalAccounts, ...shown } = useFragment(
    graphql`
      fragment PageCustomer_customer on Customer {
        fullName
        internalAccounts(first: 20) {
          edges {
            node {
              id
              balance {
                display
                currency {
                  code
                }
              }
            }
          }
        }
        externalAccounts(first: 1) {
          edges {
            node {
              id
            }
          }
        }
        ...PageTransactions_customer
      }
    `,
    customer,
  )
  const accounts = internalAccounts.edges.map(({ node }) => node)
  const source = accounts.find(({ balance }) => balance.currency.code === 'USD')
  return (
    <section aria-label={fullName}>
      <h2>{fullName}</h2>
      <p>Balance: {source.balance.display} USD</p>
      <Transactions customer={shown} />
      {externalAccounts.edges[0] && <Pay source={source.id} destination={externalAccounts.edges[0].node.id} />}
    </section>
  )
}

function Transactions({ customer }) {
  const { data, hasNext, loadNext } = usePaginationFragment(
    graphql`
      fragment PageTransactions_customer on Customer
      @argumentDefinitions(count: { type: "Int", defaultValue: 2 }, cursor: { type: "String" })
      @refetchable(queryName: "PageTransactionsPaginationQuery") {
        transactions(first: $count, after: $cursor) @connection(key: "Page_transactions") {
          edges {
            node {
              id
              status
              receivedAmount {
                display
              }
            }
          }
        }
      }
    `,
    customer,
  )
  return (
    <>
      <ul>
        {data.transactions.edges.map(({ node }) => (
          <li key={node.id}>
            {node.receivedAmount.display} {node.status}
          </li>
        ))}
      </ul>
      {hasNext && (
        <button type="button" onClick={() => loadNext(2)}>
          More
        </button>
      )}
    </>
  )
}

function Pay({ source, destination }) {
  const [quote, setQuote] = useState(null)
  const [create] = useMutation(graphql`
    mutation PageCreateQuoteMutation($input: CreateQuoteInput!) {
      createQuote(input: $input) {
        quote {
          id
          totalReceivingAmount {
            display
          }
          ...PageProgress_quote
        }
        errors {
          code
          message
        }
      }
    }
  `)
  const input = {
    source: { account: { accountId: source } },
    destination: { account: { accountId: destination } },
    lockedCurrencySide: 'SENDING',
    lockedCurrencyAmount: '10000',
  }
  const onCompleted = ({ createQuote }) => setQuote(createQuote.quote)
  if (!quote) {
    return (
      <button type="button" onClick={() => create({ variables: { input }, onCompleted })}>
        Quote
      </button>
    )
  }
  return <Progress quote={quote} />
}

function Progress({ quote }) {
  const { id, status, totalReceivingAmount } = useFragment(
    graphql`
      fragment PageProgress_quote on Quote {
        id
        status
        totalReceivingAmount {
          display
        }
      }
    `,
    quote,
  )
  const [execute] = useMutation(graphql`
    mutation PageExecuteQuoteMutation($input: ExecuteQuoteInput!) {
      executeQuote(input: $input) {
        quote {
          ...PageProgress_quote
        }
        errors {
          code
          message
        }
      }
    }
  `)
  // The store has the quote by its id: whatever the subscription brings is shown wherever it is looked at.
  const following = useMemo(
    () => ({
      subscription: graphql`
        subscription PageQuoteSubscription($id: ID!) {
          quoteUpdated(id: $id) {
            ...PageProgress_quote
          }
        }
      `,
      variables: { id },
    }),
    [id],
  )
  useSubscription(following)
  const [ready, setReady] = useState(false)
  useEffect(() => sockets.on('message', () => setReady(true)), [])
  return (
    <p>
      They get {totalReceivingAmount.display}: <output>{status}</output>
      {status === 'PENDING' && (
        <button type="button" data-ready={ready} onClick={() => execute({ variables: { input: { quoteId: id } } })}>
          Pay
        </button>
      )}
    </p>
  )
}

createRoot(document.getElementById('root')).render(
  <RelayEnvironmentProvider environment={environment}>
    <Suspense fallback="…">
      <Page />
    </Suspense>
  </RelayEnvironmentProvider>,
)
