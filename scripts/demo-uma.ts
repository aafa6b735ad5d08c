/**
 * A payment by UMA address between two gateways, each with its own domain, platform and books: both are started here, in memory, and know each
 * other by UMA_PROVIDERS. Dollars leave Ada at one and arrive with Bob at the other as euros.
 *
 *   npm run demo:uma
 */
import { type ChildProcess, spawn } from 'node:child_process'
import { createServer } from 'node:http'
import { type AddressInfo, createServer as createTcpServer } from 'node:net'

type Body = Record<string, any>

const startedAt = performance.now()
const patienceMs = 30_000
const token = 'demo:demo-secret'

function say(who: string, what: string): void {
  const seconds = ((performance.now() - startedAt) / 1000).toFixed(3)
  console.log(`${seconds.padStart(7)} s  ${who.padEnd(12)} ${what}`)
}

async function freePort(): Promise<number> {
  const server = createTcpServer()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  await new Promise((resolve) => server.close(resolve))
  return port
}

interface Side {
  name: string
  domain: string
  process: ChildProcess
  rest(method: string, path: string, body?: unknown): Promise<Body>
}

async function startSide(name: string, port: number, other: number): Promise<Side> {
  const provider = { name: 'The other gateway', domain: `localhost:${other}`, environment: 'SANDBOX', currencies: ['USD', 'EUR'] }
  const child = spawn(process.execPath, ['src/main.ts'], {
    stdio: ['ignore', 'ignore', 'inherit'],
    env: {
      PATH: process.env['PATH'],
      HOST: '127.0.0.1',
      PORT: String(port),
      DATA_DIR: 'memory',
      LOG_LEVEL: 'silent',
      BOOTSTRAP_SANDBOX_TOKEN: token,
      UMA_PROVIDERS: JSON.stringify([provider]),
    },
  })
  const url = `http://127.0.0.1:${port}`
  const deadline = performance.now() + patienceMs
  while (!(await fetch(`${url}/readyz`).catch(() => undefined))?.ok) {
    if (child.exitCode !== null || performance.now() > deadline) throw new Error(`the gateway of ${name} does not start`)
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
  return {
    name,
    domain: `localhost:${port}`,
    process: child,
    async rest(method, path, body) {
      const response = await fetch(`${url}/2025-10-13${path}`, {
        method,
        headers: {
          authorization: `Basic ${Buffer.from(token).toString('base64')}`,
          ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      })
      const reply = (await response.json()) as Body
      if (!response.ok) throw new Error(`${name}: ${method} ${path} was answered ${response.status}: ${JSON.stringify(reply)}`)
      return reply
    },
  }
}

/** The platform of a side: it hears of everything, and approves of every payment. */
async function platformOf(side: Side, fullName: string): Promise<{ customer: Body; close: () => void }> {
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk as Buffer)
    const { type, transaction } = JSON.parse(Buffer.concat(chunks).toString()) as Body
    if (transaction)
      say(`${side.name}`, `webhook ${type} ${transaction.status}${transaction.status === 'PENDING' ? ' → 200, approved' : ''}`)
    response.writeHead(200).end()
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const webhookEndpoint = `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`
  await side.rest('PATCH', '/config', { umaDomain: side.domain, webhookEndpoint })
  const name = fullName.split(' ')[0]!.toLowerCase()
  const umaAddress = `$${name}@${side.domain}`
  const customer = await side.rest('POST', '/customers', {
    platformCustomerId: name,
    customerType: 'INDIVIDUAL',
    fullName,
    umaAddress,
  })
  say(side.name, `POST /customers → ${fullName}, ${umaAddress}`)
  return { customer, close: () => server.close() }
}

async function balanceOf(side: Side, { id }: Body, currency: string): Promise<Body> {
  const { data } = await side.rest('GET', `/customers/internal-accounts?customerId=${id}&currency=${currency}`)
  return data[0]
}

async function play(north: Side, south: Side): Promise<boolean> {
  const [ada, bob] = [await platformOf(north, 'Ada Lovelace'), await platformOf(south, 'Bob Kahn')]
  const dollars = await balanceOf(north, ada.customer, 'USD')
  await north.rest('POST', `/sandbox/internal-accounts/${dollars['id']}/fund`, { amount: 20_000 })

  const address = bob.customer['umaAddress']
  const lookup = await north.rest('GET', `/receiver/uma/${encodeURIComponent(address)}`)
  const currencies = lookup['supportedCurrencies'].map(({ currency }: Body) => currency.code).join(', ')
  say(north.name, `GET /receiver/uma/${address} → takes ${currencies}`)
  const quote = await north.rest('POST', '/quotes', {
    lookupId: lookup['lookupId'],
    source: { accountId: dollars['id'] },
    destination: { umaAddress: address, currency: 'EUR' },
    lockedCurrencySide: 'RECEIVING',
    lockedCurrencyAmount: 5_000,
    description: 'Dinner',
  })
  say(north.name, `POST /quotes → ${quote['totalSendingAmount'] / 100} USD for 50 EUR, fees ${quote['feesIncluded'] / 100}`)
  await north.rest('POST', `/quotes/${quote['id']}/execute`)

  const deadline = performance.now() + patienceMs
  let [sent, received]: (Body | undefined)[] = []
  while (performance.now() < deadline) {
    sent = await north.rest('GET', `/transactions/${quote['transactionId']}`)
    received = (await south.rest('GET', '/transactions?type=INCOMING&limit=1'))['data'][0]
    if (sent['status'] === 'COMPLETED' && received?.['status'] === 'COMPLETED') break
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
  const euros = await balanceOf(south, bob.customer, 'EUR')
  console.log(`\n  ${address}`)
  console.log(
    `    north        OUTGOING ${sent?.['status']}, Ada has ${(await balanceOf(north, ada.customer, 'USD'))['balance'].amount / 100} USD`,
  )
  console.log(`    south        INCOMING ${received?.['status']}, Bob has ${euros['balance'].amount / 100} EUR\n`)
  ada.close()
  bob.close()
  return sent?.['status'] === 'COMPLETED' && received?.['status'] === 'COMPLETED' && euros['balance'].amount === 5_000
}

const sides: Side[] = []
try {
  const [one, other] = [await freePort(), await freePort()]
  sides.push(...(await Promise.all([startSide('north', one, other), startSide('south', other, one)])))
  say('', 'two gateways are ready, each a provider of UMA addresses')
  process.exitCode = (await play(sides[0]!, sides[1]!)) ? 0 : 1
} catch (error) {
  console.error(error)
  process.exitCode = 1
} finally {
  for (const side of sides) side.process.kill('SIGTERM')
}
