/** The payment of docs/graphql.md, with documents and answers typed by GraphQL Code Generator. */
import {
  AddAccountDocument,
  BalancesDocument,
  CreateCustomerDocument,
  CreateQuoteDocument,
  ExecuteQuoteDocument,
  FundDocument,
  type TypedDocumentString,
} from './generated/graphql.ts'

declare const process: { argv: string[]; stdout: { write(text: string): void } }

const [, , base, authorization] = process.argv as [string, string, string, string]

async function ask<Data, Variables>(document: TypedDocumentString<Data, Variables>, variables: Variables): Promise<Data> {
  const reply = await fetch(`${base}/graphql`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization },
    body: JSON.stringify({ query: document.toString(), variables }),
  })
  const { data, errors } = (await reply.json()) as { data: Data; errors?: { message: string }[] }
  if (errors) throw new Error(errors[0]?.message)
  return data
}

const { createCustomer } = await ask(CreateCustomerDocument, {
  input: { platformCustomerId: 'typed-1', customerType: 'INDIVIDUAL', fullName: 'Grace Hopper' },
})
const customerId = createCustomer.customer!.id
const { customer } = await ask(BalancesDocument, { customerId })
const dollars = customer!.internalAccounts.edges.find(({ node }) => node.balance.currency.code === 'USD')!.node
await ask(FundDocument, { accountId: dollars.id })
const { createExternalAccount } = await ask(AddAccountDocument, { customerId, iban: 'DE89370400440532016100' })
const { createQuote } = await ask(CreateQuoteDocument, {
  from: dollars.id,
  to: createExternalAccount.externalAccount!.id,
  amount: 100_000,
})
const quoteId = createQuote.quote!.id
const { executeQuote } = await ask(ExecuteQuoteDocument, { quoteId, key: 'typed-1' })
const { executeQuote: again } = await ask(ExecuteQuoteDocument, { quoteId, key: 'typed-2' })
process.stdout.write(JSON.stringify({ status: executeQuote.quote?.status, refused: again.errors[0]?.code }))
