/** What existing clients may send in another form, and the codes they know: each is taken, or there is a reason why it cannot be met. */
import { beforeAll, describe, expect, test } from 'vitest'
import { type RefusalCode, refusalCodes } from '../src/base/refusal.ts'
import { fund, newCustomer, newPayer, newQuote, newUsAccount, type Payer, quoteInput } from './people.ts'
import { type Body, useWorld } from './world.ts'

const world = useWorld()

// ── Codes ────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────

const uma =
  'between providers: the UMA door answers it to other providers; clients of ours are told LNURLP_REQUEST_FAILED with this reason'
const request = 'a pay request is made once a quote is executed: its payment fails with PAY_REQUEST_FAILED'

/** Codes of the documentation that the gateway does not answer, and why. */
const unmet: Readonly<Record<string, string>> = {
  CERT_CHAIN_EXPIRED: uma,
  CERT_CHAIN_INVALID: uma,
  DAILY_VOLUME_LIMIT_EXCEEDED: 'later than the specification; there are no volume limits',
  INVALID_NONCE: uma,
  INVALID_PAYREQ_RESPONSE: request,
  INVALID_PUBKEY_FORMAT: uma,
  INVALID_SIGNATURE: uma,
  INVALID_TIMESTAMP: uma,
  INVITATION_ALREADY_CLAIMED: 'the specification shows it in lower case',
  INVITATIONS_NOT_CONFIGURED: 'the configuration of the specification has nothing that invitations would wait for',
  LOOKUP_REQUEST_FAILED: uma,
  MISSING_REQUIRED_UMA_PARAMETERS: uma,
  NO_COMPATIBLE_UMA_VERSION: 'UNSUPPORTED_UMA_VERSION says it, with the status of the specification: 412',
  PARSE_PAYREQ_RESPONSE_ERROR: request,
  PAYREQ_REQUEST_FAILED: request,
  QUOTE_REQUEST_FAILED: request,
  SENDER_NOT_ACCEPTED: request,
  SERVICE_SWITCH_ERROR: 'of a part that this service does not have',
  UNRECOGNIZED_MANDATORY_PAYEE_DATA_KEY: uma,
  VELOCITY_LIMIT_EXCEEDED: 'the specification knows no velocity limits',
}

const documented = [
  'ACCOUNT_NOT_FOUND AMOUNT_OUT_OF_RANGE BULK_UPLOAD_JOB_NOT_FOUND CONFLICT CUSTOMER_DELETED EXTERNAL_ACCOUNT_EXISTS FORBIDDEN',
  'COUNTERPARTY_NOT_ALLOWED COUNTERPARTY_PUBKEY_FETCH_ERROR LNURLP_REQUEST_FAILED PARSE_LNURLP_RESPONSE_ERROR UNSUPPORTED_UMA_VERSION',
  'INSUFFICIENT_BALANCE INVALID_AMOUNT INVALID_BANK_ACCOUNT INVALID_CURRENCY INVALID_INPUT INVALID_RECEIVER INVALID_REQUEST_FORMAT',
  'INVALID_UMA_ADDRESS INVITATION_CANCELLED INVITATION_NOT_FOUND invitation_already_claimed invitation_expired LOOKUP_REQUEST_NOT_FOUND',
  'MISSING_MANDATORY_USER_INFO NOT_IMPLEMENTED QUOTE_ALREADY_EXECUTED QUOTE_EXPIRED QUOTE_NOT_FOUND RATE_LIMITED REFERENCE_NOT_FOUND',
  'SELF_PAYMENT TOKEN_NOT_FOUND TRANSACTION_NOT_CANCELLABLE TRANSACTION_NOT_FOUND TRANSACTION_NOT_PENDING_PLATFORM_APPROVAL',
  'UMA_ADDRESS_EXISTS UMA_NOT_FOUND UNAUTHORIZED USER_NOT_FOUND USER_NOT_READY WEBHOOK_DELIVERY_ERROR WEBHOOK_ENDPOINT_NOT_SET',
].flatMap((line) => line.split(' '))

/** Ours alone. */
const own: readonly RefusalCode[] = ['IDEMPOTENCY_KEY_REUSED', 'NOT_FOUND', 'WEBHOOK_NOT_FOUND']

test('every documented code is one of ours, or has a reason; and ours are documented', () => {
  expect(refusalCodes.filter((code) => !own.includes(code)).sort()).toEqual([...documented].sort())
  expect(Object.keys(unmet).filter((code) => (refusalCodes as string[]).includes(code))).toEqual([])
})

// ── Other forms ──────────────────────────────────────────────────────────────────────────────────────────────────────────────────

let payer: Payer

beforeAll(async () => {
  payer = await newPayer(world)
})

async function taken(method: string, path: string, body: unknown, status = 201): Promise<Body> {
  const reply = await world.rest(method, path, body)
  expect([reply.status, reply.body]).toEqual([status, reply.body])
  return reply.body
}

describe('also taken is', () => {
  const infos: [currency: string, alias: string, type: string, details: Body][] = [
    ['USD', 'USD_ACCOUNT', 'US_ACCOUNT', { accountNumber: '123456789100', routingNumber: '021000021' }],
    ['MXN', 'MXN_ACCOUNT', 'CLABE', { clabeNumber: '002010077777777100' }],
    ['BRL', 'BRL_ACCOUNT', 'PIX', { pixKey: 'somebody.100@example.com', pixKeyType: 'EMAIL' }],
    ['EUR', 'EUR_ACCOUNT', 'IBAN', { iban: 'DE89370400440532019100' }],
    ['DKK', 'DKK_ACCOUNT', 'IBAN', { iban: 'DK5000400440116100' }],
    ['EUR', 'IBAN_ACCOUNT', 'IBAN', { iban: 'DE89370400440532018100' }],
    ['INR', 'INR_ACCOUNT', 'UPI', { vpa: 'somebody.100@bank' }],
  ]

  test.each(infos)('an account in %s of type %s', async (currency, accountType, type, details) => {
    await world.rest('PATCH', '/config', {
      supportedCurrencies: ['USD', 'EUR', 'MXN', 'BRL', 'DKK', 'INR', 'USDC', 'BTC'].map((currencyCode) => ({
        currencyCode,
        minAmount: 1,
        maxAmount: 1_000_000_000_000,
      })),
    })
    const account = await taken('POST', '/customers/external-accounts', {
      customerId: payer.customer['id'],
      currency,
      accountInfo: { accountType, ...details, countries: ['XX'], paymentRails: ['X'] },
    })
    expect(account['accountInfo'].accountType).toBe(type)
  })

  test('a business beneficiary without its inner object', async () => {
    const account = await taken('POST', '/customers/external-accounts', {
      customerId: payer.customer['id'],
      currency: 'EUR',
      accountInfo: {
        accountType: 'IBAN',
        iban: 'DE89370400440532017100',
        beneficiary: { beneficiaryType: 'BUSINESS', legalName: 'Engines Ltd', taxId: '17' },
      },
    })
    expect(account['accountInfo'].beneficiary).toEqual({
      beneficiaryType: 'BUSINESS',
      businessInfo: { legalName: 'Engines Ltd', taxId: '17' },
    })
  })

  test('a quote whose ends do not say of which type they are, or do, and fields that nobody knows', async () => {
    await taken('POST', '/quotes', quoteInput(payer, { idempotencyKey: 'x', unknown: { deep: 1 } }))
    const typed = quoteInput(payer)
    typed['source'].sourceType = 'ACCOUNT'
    typed['destination'] = { ...typed['destination'], destinationType: 'ACCOUNT', currency: 'EUR' }
    await taken('POST', '/quotes', typed)
  })

  test('the older form of a quote, by lookup, whichever way the lookup’s id is written', async () => {
    const lookup = await taken('GET', '/receiver/uma/$success.eur@sandbox.uma.localhost', undefined, 200)
    const form = (lookupId: string) => ({
      lookupId,
      sendingCurrencyCode: 'USD',
      receivingCurrencyCode: 'EUR',
      lockedCurrencySide: 'SENDING',
      lockedCurrencyAmount: 10_000,
      senderCustomerInfo: { FULL_NAME: 'Ada Lovelace', BIRTH_DATE: '1990-12-10' },
    })
    await taken('POST', '/quotes', form(lookup['lookupId']))
    await taken('POST', '/quotes', form(lookup['lookupId'].replace('Lookup:', 'LookupRequest:')))
  })

  test('a UMA address that is percent-encoded', async () => {
    await taken('GET', `/receiver/uma/${encodeURIComponent('$success.eur@sandbox.uma.localhost')}`, undefined, 200)
  })

  test('money for a quote by its id, and the sandbox’s other form of funding', async () => {
    const quote = await newQuote(world, payer, { source: { customerId: payer.customer['id'], currency: 'USD' } })
    await taken('POST', '/sandbox/send', { quoteId: quote['id'], currencyCode: 'USD' }, 200)
    const path = `/sandbox/internal-accounts/${payer.dollars['id']}/fund`
    await taken('POST', path, { currencyCode: 'USD', currencyAmount: 500, reference: 'x' }, 200)
    await fund(world, payer.dollars['id'], 500)
  })

  test('a list of a query as one value, several, or several in one', async () => {
    const pairs = async (query: string) =>
      ((await taken('GET', `/exchange-rates?sourceCurrency=USD&${query}`, undefined, 200))['data'] as Body[])
        .map(({ destinationCurrency }) => destinationCurrency.code)
        .sort()
    expect(await pairs('destinationCurrency=EUR')).toEqual(['EUR'])
    expect(await pairs('destinationCurrency=EUR&destinationCurrency=MXN')).toEqual(['EUR', 'MXN'])
    expect(await pairs('destinationCurrency=EUR,MXN')).toEqual(['EUR', 'MXN'])
  })

  test('an approval whose information is called the customer’s', async () => {
    await world.rest('PATCH', '/config', { incomingPaymentApproval: 'API' })
    const nobody = await newCustomer(world, { fullName: undefined })
    const payment = await taken(
      'POST',
      '/sandbox/uma/receive',
      {
        senderUmaAddress: '$success.usd@sandbox.uma.localhost',
        customerId: nobody['id'],
        receivingCurrencyCode: 'USD',
        receivingCurrencyAmount: 1_000,
      },
      200,
    )
    const body = { receiverCustomerInfo: { FULL_NAME: 'Nobody Special' } }
    await taken('POST', `/transactions/${payment['id']}/approve`, body, 200)
  })

  test('a username that is a token’s id', async () => {
    const { body: token } = await world.rest('POST', '/tokens', { name: 'x', permissions: ['VIEW'] })
    const as = { clientId: token['id'], clientSecret: token['clientSecret'] }
    expect((await world.rest('GET', '/config', undefined, { as })).status).toBe(200)
  })
})

describe('conventions hold:', () => {
  test('ids have their prefixes, currencies and enumerations are upper case, and lower case is refused', async () => {
    const { status, body } = await world.rest('GET', '/customers/internal-accounts?currency=usd')
    expect([status, body['code']]).toEqual([400, 'INVALID_CURRENCY'])
    expect((await world.rest('GET', `/customers/customer:${payer.customer['id'].slice(9)}`)).body['code']).toBe('INVALID_INPUT')
  })

  test('pages have 20 items unless told otherwise, 1 to 100; nextCursor is there only when there is more', async () => {
    for (const limit of [0, 101, 'x', -1]) {
      const { status, body } = await world.rest('GET', `/customers?limit=${limit}`)
      expect([status, body['code'], body['details'].field]).toEqual([400, 'INVALID_INPUT', 'limit'])
    }
    const whole = await taken('GET', '/customers?limit=100', undefined, 200)
    expect([whole['hasMore'], 'nextCursor' in whole, whole['totalCount']]).toEqual([false, false, whole['data'].length])
    const first = await taken('GET', '/customers?limit=1', undefined, 200)
    expect([first['hasMore'], typeof first['nextCursor']]).toEqual([true, 'string'])
  })

  test('dates of a filter include what happened at them', async () => {
    const { createdAt, id } = payer.customer
    const list = await taken('GET', `/customers?createdAfter=${createdAt}&createdBefore=${createdAt}&limit=100`, undefined, 200)
    expect(list['data'].map((one: Body) => one['id'])).toContain(id)
  })

  test('the key of a repeat is taken on every POST, and its repeat is answered alike', async () => {
    const input = {
      source: { accountId: payer.dollars['id'] },
      destination: { accountId: (await newUsAccount(world, payer.customer['id']))['id'] },
      amount: 1_000,
    }
    const once = await world.rest('POST', '/transfer-out', input, { idempotencyKey: 'k' })
    const twice = await world.rest('POST', '/transfer-out', input, { idempotencyKey: 'k' })
    expect([twice.status, twice.text]).toEqual([once.status, once.text])
    await world.drain()
  })

  test('a receiver who cannot take it is refused as such', async () => {
    const destination = { umaAddress: '$success.eur@sandbox.uma.localhost', currency: 'MXN' }
    const { status, body } = await world.rest('POST', '/quotes', quoteInput(payer, { destination }))
    expect([status, body['code'], body['details'].field]).toEqual([400, 'INVALID_RECEIVER', 'destination.currency'])
  })
})
