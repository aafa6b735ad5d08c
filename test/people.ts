/** The people and accounts that payments in tests are between, made through the REST door. */
import type { Body, CallOptions, World } from './world.ts'

let count = 0

export async function newCustomer(world: World, fields: Body = {}, call: CallOptions = {}): Promise<Body> {
  count += 1
  const { body, status } = await world.rest(
    'POST',
    '/customers',
    { platformCustomerId: `customer-${count}`, customerType: 'INDIVIDUAL', fullName: 'Ada Lovelace', ...fields },
    call,
  )
  if (status !== 201) throw new Error(JSON.stringify(body))
  return body
}

export async function internalAccountOf(
  world: World,
  customerId: string,
  currency: string,
  call: CallOptions = {},
): Promise<Body> {
  const { body } = await world.rest(
    'GET',
    `/customers/internal-accounts?customerId=${customerId}&currency=${currency}`,
    undefined,
    call,
  )
  return body['data'][0]
}

export async function fund(world: World, accountId: string, amount: number | bigint): Promise<Body> {
  const { body, status } = await world.rest('POST', `/sandbox/internal-accounts/${accountId}/fund`, { amount })
  if (status !== 200) throw new Error(JSON.stringify(body))
  return body
}

/** A euro account; its last digits choose how the sandbox ends payments to it. */
export async function newIbanAccount(world: World, customerId: string, ending = '100', call: CallOptions = {}): Promise<Body> {
  count += 1
  const iban = `DE89${String(count).padStart(15, '0')}${ending}`
  const { body, status } = await world.rest(
    'POST',
    '/customers/external-accounts',
    {
      customerId,
      currency: 'EUR',
      accountInfo: {
        accountType: 'IBAN',
        iban,
        bankName: 'Bank',
        beneficiary: { beneficiaryType: 'INDIVIDUAL', fullName: 'Grace Hopper' },
      },
    },
    call,
  )
  if (status !== 201) throw new Error(JSON.stringify(body))
  return body
}

export interface Payer {
  customer: Body
  /** A funded dollar account. */
  dollars: Body
  /** A euro account outside. */
  euros: Body
}

/** A customer with money, and somewhere to send it. */
export async function newPayer(world: World, { balance = 1_000_000, ending = '100' } = {}): Promise<Payer> {
  const customer = await newCustomer(world)
  const account = await internalAccountOf(world, customer['id'], 'USD')
  const dollars = balance > 0 ? await fund(world, account['id'], balance) : account
  return { customer, dollars, euros: await newIbanAccount(world, customer['id'], ending) }
}

export function quoteInput({ dollars, euros }: Payer, fields: Body = {}): Body {
  return {
    source: { accountId: dollars['id'] },
    destination: { accountId: euros['id'] },
    lockedCurrencySide: 'SENDING',
    lockedCurrencyAmount: 100_000,
    ...fields,
  }
}

export async function newQuote(world: World, payer: Payer, fields: Body = {}): Promise<Body> {
  const { body, status } = await world.rest('POST', '/quotes', quoteInput(payer, fields))
  if (status !== 201) throw new Error(JSON.stringify(body))
  return body
}

export async function balanceOf(world: World, { customer }: Payer, currency = 'USD'): Promise<number> {
  return (await internalAccountOf(world, customer['id'], currency))['balance'].amount
}

/** A dollar account outside; its last digits choose how the sandbox ends payments to it and from it. */
export async function newUsAccount(world: World, customerId: string, ending = '100', call: CallOptions = {}): Promise<Body> {
  count += 1
  const { body, status } = await world.rest(
    'POST',
    '/customers/external-accounts',
    { customerId, currency: 'USD', accountInfo: usAccountInfo(ending) },
    call,
  )
  if (status !== 201) throw new Error(JSON.stringify(body))
  return body
}

/** Details of a dollar account that nobody has yet. */
export function usAccountInfo(ending = '100'): Body {
  count += 1
  return {
    accountType: 'US_ACCOUNT',
    accountNumber: `${String(count).padStart(7, '0')}${ending}`,
    routingNumber: '021000021',
    accountCategory: 'CHECKING',
  }
}

/** A payment as it stands, by the quote it follows or by itself. */
export async function paymentOf(world: World, { transactionId, id }: Body): Promise<Body> {
  return (await world.rest('GET', `/transactions/${transactionId ?? id}`)).body
}

/** What was told of a payment: the statuses, in order. */
export async function toldOf(world: World, { transactionId, id }: Body): Promise<string[]> {
  const rows = await world.database.query<{ status: string }>(
    `select payload->'transaction'->>'status' as status from event where resource_id = $1 order by id`,
    [transactionId ?? id],
  )
  return rows.map(({ status }) => status)
}
