/**
 * The messages of UMA, against a provider that is nothing but the protocol's library: what it signs is accepted here, what is signed here
 * satisfies it, in every version it speaks; and whatever is forged, altered, stale, repeated or from somebody unknown is not.
 */
import {
  Currency,
  getLnurlpResponse,
  getPayReqResponse,
  getPayRequest,
  getPostTransactionCallback,
  getSignedLnurlpRequestUrl,
  InMemoryNonceValidator,
  KycStatus,
  LnurlpResponse,
  PayReqResponse,
  PayRequest,
  PubKeyResponse,
  parseLnurlpRequest,
  parsePostTransactionCallback,
  verifyPayReqResponseSignature,
  verifyPayReqSignature,
  verifyPostTransactionCallbackSignature,
  verifyUmaLnurlpQuerySignature,
  verifyUmaLnurlpResponseSignature,
} from '@uma-sdk/core'
import { decrypt } from 'eciesjs'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { railReports } from '../src/core/transactions/payment-work.ts'
import { fund, internalAccountOf, newCustomer } from './people.ts'
import { freePorts, type LibraryProvider, newKeyPair, openLibraryProvider, providersOf } from './providers.ts'
import { type Body, useWorld } from './world.ts'

const [ourPort, theirPort, strangerPort] = (await freePorts(3)) as [number, number, number]
const world = useWorld({
  startsAt: new Date(),
  environment: { PORT: String(ourPort), UMA_PROVIDERS: providersOf([theirPort]) },
})
const ourDomain = `localhost:${ourPort}`
const ourUrl = `http://${ourDomain}`
const versions = ['1.0', '0.3'] as const

let library: LibraryProvider
let stranger: LibraryProvider
let customer: Body

beforeAll(async () => {
  library = await openLibraryProvider(theirPort)
  stranger = await openLibraryProvider(strangerPort)
  await world.rest('PATCH', '/config', { umaDomain: ourDomain, incomingPaymentApproval: 'API' })
  customer = await newCustomer(world, { nationality: 'FR' })
  await fund(world, (await internalAccountOf(world, customer['id'], 'USD'))['id'], 100_000_000)
})

beforeEach(() => {
  world.clock.advance(Math.max(0, Date.now() - world.clock.now().getTime()))
  library.asked = []
  library.answer = () => undefined
  library.shownKeys = { signing: library.signing.publicKey, encryption: library.encryption.publicKey }
})

afterAll(() => {
  library.close()
  stranger.close()
})

const anyNonce = () => new InMemoryNonceValidator(0)

async function ourKeys(): Promise<PubKeyResponse> {
  const response = await fetch(`${ourUrl}/.well-known/lnurlpubkey`)
  expect(response.status).toBe(200)
  return PubKeyResponse.fromJson(await response.text())
}

async function get(url: URL | string): Promise<{ status: number; body: Body; text: string }> {
  const response = await fetch(url)
  const text = await response.text()
  return { status: response.status, text, body: JSON.parse(text) }
}

async function post(url: string, body: string): Promise<{ status: number; body: Body; text: string }> {
  const response = await fetch(url, { method: 'POST', headers: { 'content-type': 'application/json' }, body })
  const text = await response.text()
  return { status: response.status, text, body: JSON.parse(text) }
}

async function queryUrl(
  fields: { version?: string; address?: string; from?: LibraryProvider; key?: Uint8Array } = {},
): Promise<URL> {
  const from = fields.from ?? library
  return getSignedLnurlpRequestUrl({
    isSubjectToTravelRule: true,
    receiverAddress: fields.address ?? customer['umaAddress'],
    senderVaspDomain: from.domain,
    signingPrivateKey: fields.key ?? from.signing.privateKey,
    umaVersionOverride: fields.version,
  })
}

interface RequestFields {
  major?: number
  amount?: number
  inReceivingCurrency?: boolean
  currency?: string
  payer?: string
  key?: Uint8Array
  data?: Record<string, string>
  trInfo?: string
  wanted?: Record<string, { mandatory: boolean }>
}

async function payRequest(fields: RequestFields = {}): Promise<PayRequest> {
  return getPayRequest({
    receiverEncryptionPubKey: (await ourKeys()).getEncryptionPubKey(),
    sendingVaspPrivateKey: fields.key ?? library.signing.privateKey,
    receivingCurrencyCode: fields.currency ?? 'EUR',
    amount: fields.amount ?? 2_500,
    isAmountInReceivingCurrency: fields.inReceivingCurrency ?? true,
    payerIdentifier: fields.payer ?? `$payer@${library.domain}`,
    payerKycStatus: KycStatus.Verified,
    payerData: { name: 'Grace Hopper', ...fields.data },
    trInfo: fields.trInfo,
    requestedPayeeData: fields.wanted,
    umaMajorVersion: fields.major ?? 1,
  })
}

const callbackUrl = () => `${ourUrl}/uma/payreq/${customer['id'].slice('Customer:'.length)}`

async function lastIncoming(): Promise<Body> {
  return (await world.rest('GET', '/transactions?type=INCOMING&limit=1')).body['data'][0]
}

/** The platform says yes as soon as it sees it. */
async function approveNext(before: string | undefined): Promise<void> {
  for (;;) {
    const payment = await lastIncoming()
    if (payment && payment['id'] !== before) {
      await world.rest('POST', `/transactions/${payment['id']}/approve`, {})
      return
    }
    await new Promise((resolve) => setTimeout(resolve, 10))
  }
}

async function approved(request: PayRequest): Promise<{ status: number; body: Body; text: string }> {
  const before = (await lastIncoming())?.['id']
  const [answer] = await Promise.all([post(callbackUrl(), request.toJsonString()), approveNext(before)])
  return answer
}

async function paid(response: PayReqResponse, millisatoshis: number, fields: { from?: LibraryProvider; invoice?: string } = {}) {
  const from = fields.from ?? library
  const callback = await getPostTransactionCallback({
    utxos: [{ utxo: fields.invoice ?? response.pr, amountMsats: millisatoshis }],
    vaspDomain: from.domain,
    signingPrivateKey: from.signing.privateKey,
  })
  return post(response.payeeData!.compliance!.utxoCallback!, JSON.stringify(callback))
}

function millisatoshisOf(response: PayReqResponse): number {
  return Math.round(2_500 * response.converted!.multiplier)
}

describe('somebody at the library pays a customer of ours', () => {
  test('under our domain are our keys and the versions we speak', async () => {
    expect((await get(`${ourUrl}/.well-known/uma-configuration`)).body).toEqual({ uma_major_versions: [0, 1] })
    const elsewhere = await fetch(`http://127.0.0.1:${ourPort}/.well-known/lnurlpubkey`)
    expect(elsewhere.status).toBe(404)
    expect((await ourKeys()).getSigningPubKey()).toHaveLength(65)
  })

  test.each(versions)('in version %s: looked up, asked, settled, and every answer of ours verifies', async (version) => {
    const keys = await ourKeys()
    const lookup = await get(await queryUrl({ version }))
    expect(lookup.status, lookup.text).toBe(200)
    const response = LnurlpResponse.fromJson(lookup.text)
    expect(response.umaVersion).toBe(version)
    expect(await verifyUmaLnurlpResponseSignature(response, keys, anyNonce())).toBe(true)
    expect(response.currencies!.map(({ code }) => code)).toContain('EUR')
    expect(response.callback).toBe(`http://127.0.0.1:${ourPort}/uma/payreq/${customer['id'].slice(9)}`)

    const before = (await internalAccountOf(world, customer['id'], 'EUR'))['balance'].amount
    const major = Number(version[0])
    const asked = await approved(
      await payRequest({ major, wanted: { name: { mandatory: true }, nationality: { mandatory: false } } }),
    )
    expect(asked.status, asked.text).toBe(200)
    const answer = PayReqResponse.fromJson(asked.text)
    expect(answer.payeeData).toMatchObject({ name: 'Ada Lovelace', nationality: 'FR' })
    if (major > 0) {
      expect(answer.converted).toMatchObject({ amount: 2_500, currencyCode: 'EUR', decimals: 2, fee: 0 })
      const verified = verifyPayReqResponseSignature(answer, `$payer@${library.domain}`, customer['umaAddress'], keys, anyNonce())
      expect(await verified).toBe(true)
    }
    const payment = await lastIncoming()
    expect(payment).toMatchObject({
      status: 'PENDING',
      receivedAmount: { amount: 2_500 },
      senderUmaAddress: `$payer@${library.domain}`,
    })

    expect((await paid(answer, millisatoshisOf(answer))).status).toBe(200)
    // Told twice it is one payment.
    expect((await paid(answer, millisatoshisOf(answer))).status).toBe(200)
    await world.drain()
    expect((await world.rest('GET', `/transactions/${payment['id']}`)).body).toMatchObject({
      status: 'COMPLETED',
      counterpartyInformation: { FULL_NAME: 'Grace Hopper' },
    })
    expect((await internalAccountOf(world, customer['id'], 'EUR'))['balance'].amount).toBe(before + 2_500)
  })

  test('an amount in millisatoshis arrives in whole units', async () => {
    const asked = await approved(await payRequest({ inReceivingCurrency: false, amount: 10_000_000 }))
    const answer = PayReqResponse.fromJson(asked.text)
    const payment = await lastIncoming()
    expect(payment['receivedAmount'].amount).toBe(Math.floor(10_000_000 / answer.converted!.multiplier))
    expect((await paid(answer, 10_000_000)).status).toBe(200)
    await world.drain()
  })

  test('what is encrypted for us is opened, and kept with the payment', async () => {
    const request = await payRequest({ trInfo: JSON.stringify({ birthDate: '1906-12-09', taxId: '12-3456789' }) })
    await approved(request)
    expect((await lastIncoming())['counterpartyInformation']).toEqual({
      FULL_NAME: 'Grace Hopper',
      BIRTH_DATE: '1906-12-09',
      TAX_ID: '12-3456789',
    })
    const forOthers = await getPayRequest({
      ...({} as Parameters<typeof getPayRequest>[0]),
      receiverEncryptionPubKey: Buffer.from(newKeyPair().publicKey, 'hex'),
      sendingVaspPrivateKey: library.signing.privateKey,
      receivingCurrencyCode: 'EUR',
      amount: 2_500,
      isAmountInReceivingCurrency: true,
      payerIdentifier: `$payer@${library.domain}`,
      payerKycStatus: KycStatus.Verified,
      trInfo: '{}',
      umaMajorVersion: 1,
    })
    expect(await post(callbackUrl(), forOthers.toJsonString())).toMatchObject({
      status: 400,
      body: { status: 'ERROR', code: 'PARSE_PAYREQ_REQUEST_ERROR' },
    })
  })

  test('what is approved of and not settled in time expires, and is not taken afterwards', async () => {
    const answer = PayReqResponse.fromJson((await approved(await payRequest())).text)
    const payment = await lastIncoming()
    world.clock.advance(5 * 60_000)
    await world.drain()
    expect((await world.rest('GET', `/transactions/${payment['id']}`)).body).toMatchObject({
      status: 'EXPIRED',
      failureReason: 'QUOTE_EXPIRED',
    })
    world.clock.advance(Date.now() - world.clock.now().getTime())
    expect(await paid(answer, millisatoshisOf(answer))).toMatchObject({ status: 400, body: { code: 'INVALID_INVOICE' } })
  })

  describe('is not believed', () => {
    test('when a look-up is repeated, altered, stale, signed by somebody else, or from somebody unknown', async () => {
      const url = await queryUrl()
      expect((await get(url)).status).toBe(200)
      expect(await get(url)).toMatchObject({ status: 400, body: { status: 'ERROR', code: 'INVALID_NONCE' } })

      const altered = await queryUrl()
      altered.searchParams.set('nonce', '1234567890')
      expect(await get(altered)).toMatchObject({ status: 401, body: { code: 'INVALID_SIGNATURE' } })
      for (const signature of ['', 'zz', '00', '3045'.padEnd(140, '0')]) {
        const forged = await queryUrl()
        forged.searchParams.set('signature', signature)
        expect((await get(forged)).status).toBe(401)
      }
      expect(await get(await queryUrl({ key: newKeyPair().privateKey }))).toMatchObject({
        status: 401,
        body: { code: 'INVALID_SIGNATURE' },
      })
      expect(await get(await queryUrl({ from: stranger }))).toMatchObject({
        status: 403,
        body: { code: 'COUNTERPARTY_NOT_ALLOWED' },
      })
      expect(stranger.asked).toEqual([])

      const early = await queryUrl()
      world.clock.advance(10 * 60_000)
      expect(await get(early)).toMatchObject({ status: 400, body: { code: 'INVALID_TIMESTAMP' } })
      world.clock.advance(Date.now() - world.clock.now().getTime())
    })

    test('when it lacks what UMA requires, or speaks a version that nobody speaks', async () => {
      const url = await queryUrl()
      url.searchParams.delete('nonce')
      expect(await get(url)).toMatchObject({ status: 400, body: { code: 'MISSING_REQUIRED_UMA_PARAMETERS' } })
      expect(await get(`${ourUrl}/.well-known/lnurlp/${customer['umaAddress'].split('@')[0]}`)).toMatchObject({
        status: 403,
        body: { code: 'NON_UMA_LNURL_NOT_SUPPORTED' },
      })
      const later = await queryUrl()
      later.searchParams.set('umaVersion', '9.4')
      expect(await get(later)).toMatchObject({
        status: 412,
        body: { code: 'UNSUPPORTED_UMA_VERSION', supportedMajorVersions: [1, 0] },
      })
    })

    test('when it asks for a name that nobody has, or nobody can have', async () => {
      const longest = await newCustomer(world, { umaAddress: `$${'a'.repeat(63)}@${ourDomain}` })
      expect((await get(await queryUrl({ address: longest['umaAddress'] }))).status).toBe(200)
      for (const name of ['$nobody', `$${'a'.repeat(64)}`, 'bob', '$Ada']) {
        expect(await get(await queryUrl({ address: `${name}@${ourDomain}` })), name).toMatchObject({
          status: 404,
          body: { code: 'USER_NOT_FOUND' },
        })
      }
      expect((await get(`${ourUrl}/.well-known/lnurlp/%00?x`)).status).toBe(400)
    })

    test('when a pay request is repeated, forged, out of range, or lacks what is required', async () => {
      const request = await payRequest()
      await approved(request)
      expect(await post(callbackUrl(), request.toJsonString())).toMatchObject({ status: 400, body: { code: 'INVALID_NONCE' } })
      const cases: [string, Promise<PayRequest>, number, string][] = [
        ['forged', payRequest({ key: newKeyPair().privateKey }), 401, 'INVALID_SIGNATURE'],
        ['of somebody unknown', payRequest({ payer: `$payer@${stranger.domain}` }), 403, 'COUNTERPARTY_NOT_ALLOWED'],
        ['of nobody', payRequest({ payer: 'payer' }), 403, 'COUNTERPARTY_NOT_ALLOWED'],
        ['too little', payRequest({ amount: 1 }), 400, 'AMOUNT_OUT_OF_RANGE'],
        ['nothing', payRequest({ amount: 0 }), 400, 'INVALID_INPUT'],
        ['less than nothing', payRequest({ amount: -2_500 }), 400, 'INVALID_INPUT'],
        ['in a currency that is not taken', payRequest({ currency: 'XTS' }), 400, 'INVALID_CURRENCY'],
        [
          'asking what nobody knows',
          payRequest({ wanted: { shoeSize: { mandatory: true } } }),
          501,
          'UNRECOGNIZED_MANDATORY_PAYEE_DATA_KEY',
        ],
      ]
      const count = (await world.rest('GET', '/transactions?type=INCOMING')).body['totalCount']
      for (const [name, made, status, code] of cases) {
        const answer = await post(callbackUrl(), (await made).toJsonString())
        expect({ name, status: answer.status, code: answer.body['code'] }).toEqual({ name, status, code })
      }
      for (const body of ['', '{', '[]', '{}', '"x"', 'null', '{"amount":"1.2.3","convert":"EUR"}', '{"amount":1e400}']) {
        const answer = await fetch(callbackUrl(), { method: 'POST', headers: { 'content-type': 'application/json' }, body })
        expect(answer.status, body).toBe(400)
      }
      const nobody = callbackUrl().replace(/[^/]+$/, '00000000-0000-4000-8000-000000000000')
      expect(await post(nobody, (await payRequest()).toJsonString())).toMatchObject({
        status: 404,
        body: { code: 'USER_NOT_FOUND' },
      })
      expect((await world.rest('GET', '/transactions?type=INCOMING')).body['totalCount']).toBe(count)
    })

    test('when it tells of a payment that is not the one: somebody else’s, too little, another invoice, forged', async () => {
      const answer = PayReqResponse.fromJson((await approved(await payRequest())).text)
      const amount = millisatoshisOf(answer)
      expect((await paid(answer, amount, { from: stranger })).body['code']).toBe('COUNTERPARTY_NOT_ALLOWED')
      expect((await paid(answer, amount - 1)).body['code']).toBe('INVALID_INVOICE')
      expect((await paid(answer, amount, { invoice: 'another' })).body['code']).toBe('INVALID_INVOICE')
      const forged = { ...library, signing: newKeyPair() }
      expect((await paid(answer, amount, { from: forged })).body['code']).toBe('INVALID_SIGNATURE')
      const url = answer.payeeData!.compliance!.utxoCallback!
      expect((await post(url, '{"utxos":1}')).body['code']).toBe('PARSE_UTXO_CALLBACK_ERROR')
      expect((await post(url.replace(/[^/]+$/, 'x'), '{}')).status).toBe(404)
      expect(await lastIncoming()).toMatchObject({ status: 'PENDING' })
      expect((await paid(answer, amount)).status).toBe(200)
      await world.drain()
    })

    test('and what a rail reports as paid is the money just as well: once, in full, and only what was asked for', async () => {
      const answer = PayReqResponse.fromJson((await approved(await payRequest())).text)
      const payment = await lastIncoming()
      const reports = railReports(() => world.gateway.core)
      const worldId = world.gateway.created!.worlds.SANDBOX.id
      const millisatoshis = BigInt(millisatoshisOf(answer))
      const report = (invoice: string, amount: bigint) => reports.invoice({ worldId, invoice, millisatoshis: amount })
      expect(await report('REF-NOBODYS', millisatoshis)).toBe(false)
      expect(await report(answer.pr, millisatoshis - 1n)).toBe(false)
      expect(await Promise.all([report(answer.pr, millisatoshis), report(answer.pr, millisatoshis)])).toEqual([true, true])
      await world.drain()
      expect((await world.rest('GET', `/transactions/${payment['id']}`)).body['status']).toBe('COMPLETED')
    })

    test('before the platform has approved of it', async () => {
      const before = (await lastIncoming())['id']
      const asking = payRequest().then(async (request) => post(callbackUrl(), request.toJsonString()))
      let payment = await lastIncoming()
      while (payment['id'] === before) payment = await lastIncoming()
      const callback = await getPostTransactionCallback({
        utxos: [{ utxo: payment['reconciliationInstructions'].reference, amountMsats: 1e12 }],
        vaspDomain: library.domain,
        signingPrivateKey: library.signing.privateKey,
      })
      const url = `${ourUrl}/uma/paid/${payment['id'].slice('Transaction:'.length)}`
      expect((await post(url, JSON.stringify(callback))).body['code']).toBe('INVALID_INVOICE')
      await world.rest('POST', `/transactions/${payment['id']}/reject`, { reason: 'no' })
      expect(await asking).toMatchObject({ status: 400, body: { code: 'SENDER_NOT_ACCEPTED' } })
    })
  })
})

/** The library as the receiving side. */
interface Receiving {
  version?: string
  multiplier?: number
  payerData?: Record<string, { mandatory: boolean }>
  callback?: string
  address?: string
  key?: Uint8Array
}

const receiverAddress = () => `$bob@${library.domain}`
const quoted = 1_304.75

async function describeBob(url: URL, fields: Receiving = {}): Promise<{ status: number; body: string }> {
  const request = parseLnurlpRequest(url)
  const response = await getLnurlpResponse({
    request: { ...request, receiverAddress: fields.address ?? request.receiverAddress },
    callback: fields.callback ?? `http://${library.domain}/pay`,
    encodedMetadata: '[]',
    minSendableSats: 1,
    maxSendableSats: 1_000_000,
    privateKeyBytes: fields.key ?? library.signing.privateKey,
    requiresTravelRuleInfo: true,
    payerDataOptions: fields.payerData ?? { name: { mandatory: true } },
    currencyOptions: [new Currency('EUR', 'Euro', '€', fields.multiplier ?? quoted, 1, 10_000_000, 2)],
    receiverKycStatus: KycStatus.Verified,
  })
  return { status: 200, body: response.toJsonString() }
}

async function acceptForBob(body: string, fields: { multiplier?: number; fee?: number; key?: Uint8Array } = {}) {
  const request = PayRequest.fromJson(body)
  const response = await getPayReqResponse({
    // The library reads version 0's amount as millisatoshis.
    request: new PayRequest(
      request.amount,
      request.receivingCurrencyCode,
      'EUR',
      request.umaMajorVersion,
      request.payerData,
      request.requestedPayeeData,
    ),
    metadata: '[]',
    invoiceCreator: { createUmaInvoice: async () => 'invoice-1' },
    conversionRate: fields.multiplier ?? quoted,
    receivingCurrencyCode: 'EUR',
    receivingCurrencyDecimals: 2,
    receiverChannelUtxos: [],
    receiverFeesMillisats: fields.fee ?? 0,
    utxoCallback: `http://${library.domain}/paid`,
    payeeData: { name: 'Bob' },
    receivingVaspPrivateKey: fields.key ?? library.signing.privateKey,
    payeeIdentifier: receiverAddress(),
  })
  return { status: 200, body: response.toJsonString() }
}

function bob(steps: {
  describe?: (url: URL) => ReturnType<typeof describeBob>
  accept?: (body: string) => Promise<{ status: number; body: string }>
  paid?: () => { status: number; body: string }
}): void {
  library.answer = async ({ url, body }) => {
    if (url.pathname === '/pay') return (steps.accept ?? acceptForBob)(body)
    if (url.pathname === '/paid') return (steps.paid ?? (() => ({ status: 200, body: '{}' })))()
    return (steps.describe ?? describeBob)(url)
  }
}

async function quoteToBob(): Promise<Body> {
  const account = await internalAccountOf(world, customer['id'], 'USD')
  return world.rest('POST', '/quotes', {
    source: { accountId: account['id'] },
    destination: { umaAddress: receiverAddress(), currency: 'EUR' },
    lockedCurrencySide: 'RECEIVING',
    lockedCurrencyAmount: 4_000,
    immediatelyExecute: true,
    description: 'For Bob',
  })
}

async function payBob(): Promise<Body> {
  const { status, body } = await quoteToBob()
  expect(status, JSON.stringify(body)).toBe(201)
  await world.drain()
  return (await world.rest('GET', `/transactions/${body['transactionId']}`)).body
}

const lookUpBob = () => world.rest('GET', `/receiver/uma/${encodeURIComponent(receiverAddress())}`)

describe('a customer of ours pays somebody at the library', () => {
  test.each(versions)('in version %s: every message of ours verifies, and it costs what they ask', async (version) => {
    const keys = await ourKeys()
    bob({
      describe: async (url) => {
        const asked = url.searchParams.get('umaVersion')
        return asked === version
          ? describeBob(url)
          : { status: 412, body: JSON.stringify({ supportedMajorVersions: [Number(version[0])] }) }
      },
    })
    const lookup = await lookUpBob()
    expect(lookup.body).toMatchObject({
      receiverUmaAddress: receiverAddress(),
      requiredPayerDataFields: [{ name: 'FULL_NAME', mandatory: true }],
    })
    const payment = await payBob()
    expect(payment).toMatchObject({ status: 'COMPLETED', counterpartyInformation: { FULL_NAME: 'Bob' } })
    // A cent costs 1304.75 millisatoshis; what a bitcoin costs in dollars is ours.
    const bitcoinPrice = 1 / 0.00000833
    const dollars = (4_000 * quoted * bitcoinPrice) / 1e11
    expect((payment['sentAmount'].amount - payment['fees']) / 100).toBeCloseTo(dollars, 1)

    const asked = library.asked.filter(({ url }) => url.pathname.startsWith('/.well-known/lnurlp/'))
    const query = parseLnurlpRequest(asked.at(-1)!.url)
    expect(query.umaVersion).toBe(version)
    expect(await verifyUmaLnurlpQuerySignature(query, keys, anyNonce())).toBe(true)
    const request = PayRequest.fromJson(library.asked.find(({ url }) => url.pathname === '/pay')!.body)
    expect(request).toMatchObject({
      amount: 4_000,
      receivingCurrencyCode: 'EUR',
      comment: 'For Bob',
      umaMajorVersion: Number(version[0]),
    })
    expect(request.payerData).toMatchObject({ identifier: customer['umaAddress'], name: 'Ada Lovelace' })
    expect(await verifyPayReqSignature(request, keys, anyNonce())).toBe(true)
    const sealed = Buffer.from(request.payerData!.compliance!.encryptedTravelRuleInfo!, 'hex')
    const opened = Buffer.from(decrypt(library.encryption.privateKey, sealed)).toString()
    expect(JSON.parse(opened)).toEqual({ name: 'Ada Lovelace' })
    const told = parsePostTransactionCallback(library.asked.find(({ url }) => url.pathname === '/paid')!.body)
    expect(told).toMatchObject({ vaspDomain: ourDomain, utxos: [{ utxo: 'invoice-1', amountMsats: 5_219_000 }] })
    expect(await verifyPostTransactionCallbackSignature(told, keys, anyNonce())).toBe(true)
  })

  test('and is told again until there is an answer: SENT meanwhile, paid once', async () => {
    const answers = [503, 503]
    bob({ paid: () => ({ status: answers.pop() ?? 200, body: '{}' }) })
    const payment = await payBob()
    expect(payment['status']).toBe('SENT')
    for (let turn = 0; turn < 2; turn += 1) {
      world.clock.advance(5_000)
      await world.drain()
    }
    expect((await world.rest('GET', `/transactions/${payment['id']}`)).body['status']).toBe('COMPLETED')
    expect(library.asked.filter(({ url }) => url.pathname === '/pay')).toHaveLength(1)
  })

  test.each([
    [
      'does not take it',
      { accept: async () => ({ status: 400, body: '{"code":"SENDER_NOT_ACCEPTED"}' }) },
      'REJECTED',
      undefined,
    ],
    ['has a fault', { accept: async () => ({ status: 500, body: 'oh' }) }, 'FAILED', 'PAY_REQUEST_FAILED'],
    [
      'asks for more than it said',
      { accept: (body: string) => acceptForBob(body, { multiplier: quoted + 0.01 }) },
      'FAILED',
      'PAY_REQUEST_FAILED',
    ],
    ['wants a fee', { accept: (body: string) => acceptForBob(body, { fee: 1 }) }, 'FAILED', 'PAY_REQUEST_FAILED'],
    [
      'signs wrongly',
      { accept: (body: string) => acceptForBob(body, { key: newKeyPair().privateKey }) },
      'FAILED',
      'PAY_REQUEST_FAILED',
    ],
    ['answers nonsense', { accept: async () => ({ status: 200, body: '{"pr":1}' }) }, 'FAILED', 'PAY_REQUEST_FAILED'],
    ['does not know of it when it is paid', { paid: () => ({ status: 404, body: '{}' }) }, 'FAILED', 'PAY_REQUEST_FAILED'],
  ] as const)('whose provider %s: the money is back', async (_name, steps, status, failureReason) => {
    const balance = async () => (await internalAccountOf(world, customer['id'], 'USD'))['balance'].amount
    const before = await balance()
    bob(steps)
    const payment = await payBob()
    expect(payment).toMatchObject({
      status,
      ...(failureReason ? { failureReason } : {}),
      refund: { reference: expect.any(String) },
    })
    expect(await balance()).toBe(before)
  })

  const faults: [string, () => void, number, string][] = [
    ['does not know the address', () => bob({ describe: async () => ({ status: 404, body: '{}' }) }), 404, 'UMA_NOT_FOUND'],
    ['has a fault', () => bob({ describe: async () => ({ status: 502, body: 'oh' }) }), 424, 'LNURLP_REQUEST_FAILED'],
    [
      'answers nonsense',
      () => bob({ describe: async () => ({ status: 200, body: '{"tag":1}' }) }),
      400,
      'PARSE_LNURLP_RESPONSE_ERROR',
    ],
    [
      'answers what is no JSON',
      () => bob({ describe: async () => ({ status: 200, body: '<html>' }) }),
      400,
      'PARSE_LNURLP_RESPONSE_ERROR',
    ],
    [
      'answers for somebody else',
      () => bob({ describe: (url) => describeBob(url, { address: `$eve@${library.domain}` }) }),
      400,
      'PARSE_LNURLP_RESPONSE_ERROR',
    ],
    [
      'wants to be asked at an address within',
      () => bob({ describe: (url) => describeBob(url, { callback: 'http://10.0.0.1/pay' }) }),
      400,
      'PARSE_LNURLP_RESPONSE_ERROR',
    ],
    [
      'signs wrongly',
      () => bob({ describe: (url) => describeBob(url, { key: newKeyPair().privateKey }) }),
      424,
      'LNURLP_REQUEST_FAILED',
    ],
    [
      'speaks versions that nobody speaks',
      () => bob({ describe: async () => ({ status: 412, body: '{"supportedMajorVersions":[7]}' }) }),
      412,
      'UNSUPPORTED_UMA_VERSION',
    ],
    [
      'cannot pay them yet',
      () => bob({ describe: async () => ({ status: 403, body: '{"code":"USER_NOT_READY"}' }) }),
      403,
      'USER_NOT_READY',
    ],
    [
      'does not deal with us',
      () => bob({ describe: async () => ({ status: 403, body: '{"code":"COUNTERPARTY_NOT_ALLOWED"}' }) }),
      403,
      'COUNTERPARTY_NOT_ALLOWED',
    ],
  ]

  test.each(faults)(
    'whose provider %s: a documented refusal, for the look-up and the quote',
    async (_name, arrange, status, code) => {
      arrange()
      expect(await lookUpBob()).toMatchObject({ status, body: { code } })
      expect(await quoteToBob()).toMatchObject({ status, body: { code } })
    },
  )

  test('whose provider repeats an earlier answer is not believed', async () => {
    let first: { status: number; body: string } | undefined
    bob({
      describe: async (url) => {
        first ??= await describeBob(url)
        return first
      },
    })
    expect((await lookUpBob()).status).toBe(200)
    expect(await lookUpBob()).toMatchObject({
      status: 424,
      body: { code: 'LNURLP_REQUEST_FAILED', details: { reason: 'INVALID_NONCE' } },
    })
  })

  test('whose provider has new keys is asked for them; whose keys are none is not believed', async () => {
    const [signing, old] = [newKeyPair(), library.signing]
    bob({ describe: (url) => describeBob(url, { key: signing.privateKey }) })
    expect((await lookUpBob()).status).toBe(424)
    world.clock.advance(61_000)
    library.shownKeys = { signing: signing.publicKey, encryption: library.encryption.publicKey }
    expect((await lookUpBob()).status).toBe(200)
    library.shownKeys = 'oh'
    world.clock.advance(61_000)
    bob({ describe: (url) => describeBob(url, { key: old.privateKey }) })
    expect(await lookUpBob()).toMatchObject({ status: 424, body: { code: 'COUNTERPARTY_PUBKEY_FETCH_ERROR' } })
  })
})
