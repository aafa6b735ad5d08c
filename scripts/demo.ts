/**
 * A whole payment against a running gateway, played as a stranger would: customer, accounts and money over REST, quote and execution over
 * GraphQL, with a subscription and a webhook receiver listening. Prints what each door saw, when.
 *
 *   npm run demo                                     against http://127.0.0.1:4000, with the credentials the gateway left in its DATA_DIR
 *   GATEWAY_URL=… GATEWAY_TOKEN=id:secret npm run demo      against any other
 */
import { verify } from 'node:crypto'
import { createServer, type IncomingMessage, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createClient } from 'graphql-ws'
import { base, NotPossible, readAuthorization } from './running-gateway.ts'

type Body = Record<string, any>

const startedAt = performance.now()
const patienceMs = 15_000

function say(door: string, what: string): void {
  const seconds = ((performance.now() - startedAt) / 1000).toFixed(3)
  console.log(`${seconds.padStart(7)} s  ${door.padEnd(12)} ${what}`)
}

// ── The four doors ───────────────────────────────────────────────────────────────────────────────────────────────────────────────

function doors(authorization: string) {
  async function send(url: string, method: string, body?: unknown): Promise<{ status: number; body: Body }> {
    const response = await fetch(url, {
      method,
      headers: { authorization, ...(body === undefined ? {} : { 'content-type': 'application/json' }) },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    }).catch(() => {
      throw new NotPossible(`Nothing answers at ${base}. Start the gateway first: npm start`)
    })
    return { status: response.status, body: (await response.json()) as Body }
  }
  return {
    async rest(method: string, path: string, body?: unknown): Promise<Body> {
      const reply = await send(`${base}/2025-10-13${path}`, method, body)
      if (reply.status >= 400)
        throw new NotPossible(`${method} ${path} was answered ${reply.status}: ${JSON.stringify(reply.body)}`)
      return reply.body
    },
    async graphql(query: string, variables: Body): Promise<Body> {
      const { body } = await send(`${base}/graphql`, 'POST', { query, variables })
      if (body['errors']) throw new NotPossible(`GraphQL answered ${JSON.stringify(body['errors'])}`)
      return body['data']
    },
  }
}

const eventsSubscription = `subscription ($customerId: ID!) { events(customerId: $customerId) {
  type
  ... on PaymentEvent { transaction { id status } }
  ... on AccountStatusEvent { oldBalance { display } newBalance { display currency { code } } }
} }`

/** Follows the customer's events; `seen` is told of each. */
function follow(authorization: string, customerId: string, seen: (event: Body) => void) {
  const client = createClient({ url: `${base.replace(/^http/, 'ws')}/graphql`, connectionParams: { authorization }, lazy: false })
  const live = new Promise<void>((resolve) => {
    client.subscribe<Body>(
      { query: eventsSubscription, variables: { customerId } },
      { next: ({ data }) => seen(data?.['events'] ?? {}), error: () => {}, complete: () => {} },
    )
    // Answered after the subscription before it on the same socket has begun.
    client.subscribe({ query: '{ __typename }' }, { next: () => resolve(), error: () => {}, complete: () => {} })
  })
  return { live, close: () => client.dispose() }
}

/** A webhook receiver that checks signatures with the published keys. */
async function receive(keys: Body[], seen: (event: Body, verified: boolean) => void): Promise<{ url: string; server: Server }> {
  const server = createServer(async (request, response) => {
    const raw = await readAll(request)
    const { v, s } = JSON.parse(String(request.headers['x-service-signature']))
    const key = keys.find(({ version }) => version === v)
    const verified = key !== undefined && verify('sha256', raw, key['publicKey'], Buffer.from(s, 'base64'))
    response.writeHead(verified ? 200 : 401).end()
    seen(JSON.parse(raw.toString()), verified)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`, server }
}

async function readAll(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk as Buffer)
  return Buffer.concat(chunks)
}

function display(amount: number, { decimals, code }: Body): string {
  return `${(amount / 10 ** decimals).toFixed(decimals)} ${code}`
}

function tell(event: Body): string {
  const { type, transaction, oldBalance, newBalance, test } = event
  if (transaction) return `${type} ${transaction.status} ${transaction.id}`
  if (newBalance?.display) return `${type} ${oldBalance.display} → ${newBalance.display} ${newBalance.currency.code}`
  if (newBalance)
    return `${type} ${display(oldBalance.amount, oldBalance.currency)} → ${display(newBalance.amount, newBalance.currency)}`
  return test ? `${type}` : JSON.stringify(event)
}

// ── The play ─────────────────────────────────────────────────────────────────────────────────────────────────────────────────────

async function play(): Promise<boolean> {
  const authorization = readAuthorization()
  const { rest, graphql } = doors(authorization)
  const final: Record<string, string> = {}
  /** The payment that is played, once it is known: events of others do not count. */
  let paymentId = ''

  const { data: keys } = await rest('GET', '/webhooks/keys')
  const { url, server } = await receive(keys, (event, verified) => {
    say('webhook', `${tell(event)}  (signature ${verified ? 'verified' : 'WRONG'})`)
    if (verified && event['transaction']?.id === paymentId) final['webhook'] = event['transaction'].status
  })
  const before = await rest('GET', '/config')
  await rest('PATCH', '/config', { webhookEndpoint: url }).catch((error: Error) => {
    throw new NotPossible(
      `${error.message}\nStart the gateway with ALLOW_LOCAL_WEBHOOKS=1 to let it call a receiver on this machine.`,
    )
  })
  say('REST', `PATCH /config → webhooks go to ${url}`)

  const customer = await rest('POST', '/customers', {
    platformCustomerId: `demo-${Date.now()}`,
    customerType: 'INDIVIDUAL',
    fullName: 'Ada Lovelace',
    birthDate: '1990-12-10',
    nationality: 'US',
  })
  say('REST', `POST /customers → ${customer['id']}, ${customer['umaAddress']}, KYC ${customer['kycStatus']}`)

  const socket = follow(authorization, customer['id'], (event) => {
    say('subscription', tell(event))
    if (event['transaction']?.id === paymentId) final['subscription'] = event['transaction'].status
  })
  await socket.live

  const { data: accounts } = await rest('GET', `/customers/internal-accounts?customerId=${customer['id']}&currency=USD`)
  const [dollars] = accounts
  const funded = await rest('POST', `/sandbox/internal-accounts/${dollars.id}/fund`, { amount: 150_000 })
  say('REST', `POST /sandbox/internal-accounts/…/fund → balance ${display(funded['balance'].amount, funded['balance'].currency)}`)

  const euros = await rest('POST', '/customers/external-accounts', {
    customerId: customer['id'],
    currency: 'EUR',
    accountInfo: {
      accountType: 'IBAN',
      iban: 'DE89370400440532013000',
      bankName: 'Commerzbank',
      beneficiary: { beneficiaryType: 'INDIVIDUAL', fullName: 'Grace Hopper' },
    },
  })
  say('REST', `POST /customers/external-accounts → ${euros['id']}, ${euros['status']}`)

  const { createQuote } = await graphql(
    `mutation ($input: CreateQuoteInput!) { createQuote(input: $input) { errors { code message }
      quote { id exchangeRate transaction { id } totalSendingAmount { display currency { code } } totalReceivingAmount { display currency { code } } feesIncluded { display } } } }`,
    {
      input: {
        source: { account: { accountId: dollars.id } },
        destination: { account: { accountId: euros['id'] } },
        lockedCurrencySide: 'SENDING',
        lockedCurrencyAmount: '100000',
        idempotencyKey: `demo-${customer['id']}`,
      },
    },
  )
  const { quote, errors } = createQuote
  if (!quote) throw new NotPossible(`createQuote was refused: ${JSON.stringify(errors)}`)
  const { totalSendingAmount: sends, totalReceivingAmount: receives } = quote
  say('GraphQL', `createQuote → ${quote.id}`)
  say(
    'GraphQL',
    `  ${sends.display} ${sends.currency.code} → ${receives.display} ${receives.currency.code}, fees ${quote.feesIncluded.display}, rate ${quote.exchangeRate}`,
  )

  paymentId = quote.transaction.id
  const { executeQuote } = await graphql(
    'mutation ($input: ExecuteQuoteInput!) { executeQuote(input: $input) { quote { status } errors { code message } } }',
    { input: { quoteId: quote.id } },
  )
  say('GraphQL', `executeQuote → ${executeQuote.quote?.status ?? JSON.stringify(executeQuote.errors)}`)

  const deadline = performance.now() + patienceMs
  while (performance.now() < deadline) {
    final['REST'] = (await rest('GET', `/transactions/${paymentId}`))['status']
    if (['REST', 'subscription', 'webhook'].every((door) => final[door] === 'COMPLETED')) break
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
  const { transaction } = await graphql('query ($id: ID!) { transaction(id: $id) { status settledAt } }', { id: paymentId })
  final['GraphQL'] = transaction.status

  await socket.close()
  if (before['webhookEndpoint']) await rest('PATCH', '/config', { webhookEndpoint: before['webhookEndpoint'] })
  server.close()

  console.log(`\n  ${paymentId}`)
  for (const door of ['REST', 'GraphQL', 'subscription', 'webhook'])
    console.log(`    ${door.padEnd(12)} ${final[door] ?? 'saw nothing'}`)
  console.log('')
  return Object.values(final).length === 4 && Object.values(final).every((status) => status === 'COMPLETED')
}

try {
  process.exit((await play()) ? 0 : 1)
} catch (error) {
  console.error(error instanceof NotPossible ? error.message : error)
  process.exit(1)
}
