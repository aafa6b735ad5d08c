/** The demo's payment, by a client that knows of the gateway only what openapi.json says: every path, field and answer is typed from it. */
import createClient from 'openapi-fetch'
import type { components, paths } from './openapi.d.ts'

declare const process: { argv: string[]; stdout: { write(text: string): void } }

const [, , baseUrl, authorization] = process.argv as [string, string, string, string]
const client = createClient<paths>({ baseUrl, headers: { authorization } })

function made<Data>({ data, error }: { data?: Data; error?: components['schemas']['Refusal'] }): Data {
  if (data === undefined) throw new Error(`${error?.code}: ${error?.message}`)
  return data
}

const customer = made(
  await client.POST('/customers', {
    body: { platformCustomerId: 'generated-1', customerType: 'INDIVIDUAL', fullName: 'Ada Lovelace' },
  }),
)
const balances = made(
  await client.GET('/customers/internal-accounts', { params: { query: { customerId: customer.id, currency: 'USD' } } }),
)
const dollars = balances.data[0]!
made(
  await client.POST('/sandbox/internal-accounts/{accountId}/fund', {
    params: { path: { accountId: dollars.id } },
    body: { amount: 200_000 },
  }),
)
const account = made(
  await client.POST('/customers/external-accounts', {
    body: {
      customerId: customer.id,
      currency: 'EUR',
      accountInfo: { accountType: 'IBAN', iban: 'DE89370400440532013100', bankName: 'Bank' },
    },
  }),
)
const quote = made(
  await client.POST('/quotes', {
    params: { header: { 'Idempotency-Key': 'generated-quote-1' } },
    body: {
      source: { accountId: dollars.id },
      destination: { accountId: account.id },
      lockedCurrencySide: 'SENDING',
      lockedCurrencyAmount: 100_000,
    },
  }),
)
made(await client.POST('/quotes/{quoteId}/execute', { params: { path: { quoteId: quote.id } } }))
const again = await client.POST('/quotes/{quoteId}/execute', { params: { path: { quoteId: quote.id } } })

let payment: components['schemas']['Transaction']
do {
  payment = made(await client.GET('/transactions/{transactionId}', { params: { path: { transactionId: quote.transactionId } } }))
} while (payment.status === 'PENDING' || payment.status === 'PROCESSING' || payment.status === 'SENT')

process.stdout.write(
  JSON.stringify({ status: payment.status, received: payment.receivedAmount, executedTwice: again.error?.code }),
)
