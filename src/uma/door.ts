/**
 * What other providers ask of us, for each world under its own domain: its keys, who has an address, pay requests, and that one was paid.
 * Errors are the protocol's.
 */
import {
  type CounterPartyDataOptions,
  Currency,
  ErrorCode,
  getLnurlpResponse,
  getPayReqResponse,
  getSupportedMajorVersions,
  isLnurlpRequestForUma,
  KycStatus,
  type LnurlpRequest,
  PayRequest,
  PubKeyResponse,
  parseLnurlpRequest,
  parsePostTransactionCallback,
  UmaError,
  verifyPayReqSignature,
  verifyPostTransactionCallbackSignature,
  verifyUmaLnurlpQuerySignature,
} from '@uma-sdk/core'
import { decrypt } from 'eciesjs'
import type { FastifyInstance, FastifyReply } from 'fastify'
import { hour, second } from '../base/clock.ts'
import { currencyOf } from '../base/currency.ts'
import type { Logger } from '../base/logger.ts'
import { DomainError } from '../base/refusal.ts'
import { customerByUmaAddress, customersById, isReady } from '../core/customers/customer.ts'
import { requireUmaAddress } from '../core/customers/uma-address.ts'
import { type Core, perform, serviceCaller } from '../core/operation.ts'
import type { World } from '../core/platform/world.ts'
import { umaIdentity, umaKeysOf, worldOfDomain } from '../core/uma/identity.ts'
import {
  type ApprovalState,
  approvalState,
  counterpartyFieldsOf,
  receivableCurrencies,
  receivePayRequest,
  settlePayRequest,
} from '../core/uma/incoming.ts'
import { fromMillisatoshis, toMillisatoshis } from '../core/uma/millisatoshis.ts'
import { payRequestOf } from '../core/uma/pay-request.ts'
import { domainOf, listedProvider } from '../core/uma/providers.ts'
import { wholeWorld } from '../database/sight.ts'
import type { CustomerRow } from '../database/tables.ts'
import { fromData, fromOptions, toData, toOptions, unnamed } from './names.ts'
import type { Trust } from './trust.ts'

const longestBody = 64 * 1024
/** Longer than a platform may take to approve of a payment. */
const decidedWithinMs = 13 * second
const lookAgainMs = 50

export function addUmaDoor(app: FastifyInstance, core: Core, trust: Trust, logger: Logger): void {
  app.register(async (door) => {
    // What is signed is read by the protocol's own library.
    door.removeContentTypeParser('application/json')
    door.addContentTypeParser(
      'application/json',
      { parseAs: 'string', bodyLimit: longestBody },
      async (_: unknown, body: string) => body,
    )
    door.setErrorHandler((error, request, reply) =>
      sendFault(reply, error, () => logger.error({ err: error, requestId: request.id }, 'a request of UMA failed')),
    )

    door.get('/.well-known/lnurlpubkey', async ({ headers }, reply) => {
      const { signingPublicKey, encryptionPublicKey } = await umaKeysOf(core, (await requireWorld(core, headers.host)).id)
      const expires = Math.floor((core.clock.now().getTime() + hour) / second)
      const keys = new PubKeyResponse(undefined, undefined, signingPublicKey, encryptionPublicKey, expires)
      return reply.type('application/json').send(keys.toJsonString())
    })

    door.get('/.well-known/uma-configuration', async ({ headers }) => {
      await requireWorld(core, headers.host)
      return { uma_major_versions: [...getSupportedMajorVersions()].sort() }
    })

    door.get('/.well-known/lnurlp/:username', async ({ headers, url }, reply) => {
      const world = await requireWorld(core, headers.host)
      const response = await describe(core, trust, world, new URL(url, `https://${world.umaDomain}`))
      return reply.type('application/json').send(response)
    })

    door.post<{ Params: { customerId: string }; Body: string }>('/uma/payreq/:customerId', async ({ params, body }, reply) => {
      const response = await answerPayRequest(core, trust, params.customerId, body)
      return reply.type('application/json').send(response)
    })

    door.post<{ Params: { transactionId: string }; Body: string }>('/uma/paid/:transactionId', async ({ params, body }) => {
      await takePaid(core, trust, params.transactionId, body)
      return { status: 'OK' }
    })
  })
}

// ── Who speaks, and to whom ──────────────────────────────────────────────────────────────────────────────────────────────────────

async function requireWorld(core: Core, host: string | undefined): Promise<World> {
  const world = host === undefined ? undefined : await worldOfDomain(core, host.toLowerCase())
  if (world) return world
  throw new UmaError('There is no provider under this domain', ErrorCode.USER_NOT_FOUND)
}

function requireAllowed(core: Core, { environment }: World, domain: string): void {
  if (listedProvider(core, environment, domain)?.allowed) return
  throw new UmaError(`Payments with ${domain} are not allowed here`, ErrorCode.COUNTERPARTY_NOT_ALLOWED)
}

/** Somebody who has an address here. Somebody who may not be paid yet is told apart: the payer can do nothing about it. */
function requirePayable(customer: CustomerRow | undefined): CustomerRow {
  if (!customer || customer.isDeleted) throw new UmaError('Nobody here has this address', ErrorCode.USER_NOT_FOUND)
  if (!isReady(customer)) throw new UmaError('The receiver cannot be paid yet', ErrorCode.USER_NOT_READY)
  return customer
}

// ── Who has an address ───────────────────────────────────────────────────────────────────────────────────────────────────────────

async function describe(core: Core, trust: Trust, world: World, url: URL): Promise<string> {
  const request = parseLnurlpRequest(url)
  if (!isLnurlpRequestForUma(request)) {
    throw new UmaError('Only UMA is spoken here', ErrorCode.NON_UMA_LNURL_NOT_SUPPORTED)
  }
  await requireSignedQuery(core, trust, world, request)
  const customer = requirePayable(await customerByUmaAddress(core.database, wholeWorld(world.id), addressIn(request)))
  const currencies = await receivableCurrencies(core, world)
  const [first] = currencies
  if (!first) throw new UmaError('The receiver takes no currency', ErrorCode.USER_NOT_READY)
  const sats = (amount: bigint) => Number(toMillisatoshis(amount, first.millisatoshis) / 1000n)
  const { signingKey } = await umaIdentity(core, world)
  const response = await getLnurlpResponse({
    request,
    callback: `${core.settings.baseUrl}/uma/payreq/${customer.id}`,
    encodedMetadata: JSON.stringify([
      ['text/plain', `Pay to ${customer.umaAddress}`],
      ['text/identifier', customer.umaAddress],
    ]),
    minSendableSats: Math.max(1, sats(first.min)),
    maxSendableSats: sats(first.max),
    privateKeyBytes: signingKey,
    requiresTravelRuleInfo: world.isRegulated,
    payerDataOptions: toOptions(counterpartyFieldsOf(world)),
    currencyOptions: currencies.map(({ currency, min, max, millisatoshis }) => {
      const { name, symbol, decimals } = currencyOf(currency)
      return new Currency(currency, name, symbol, Number(millisatoshis), asNumber(min), asNumber(max), decimals)
    }),
    receiverKycStatus: KycStatus.Verified,
  })
  return response.toJsonString()
}

async function requireSignedQuery(
  core: Core,
  trust: Trust,
  world: World,
  request: LnurlpRequest & { vaspDomain: string; nonce: string; timestamp: Date },
): Promise<void> {
  const domain = request.vaspDomain.toLowerCase()
  requireAllowed(core, world, domain)
  const { allowLocal } = await umaIdentity(core, world)
  const timestamp = request.timestamp.getTime() / second
  await trust.require({ domain, nonce: request.nonce, timestamp }, allowLocal, (keys, nonces) =>
    verifyUmaLnurlpQuerySignature(request, keys, nonces),
  )
}

function addressIn({ receiverAddress }: LnurlpRequest): string {
  try {
    return requireUmaAddress(receiverAddress, 'username')
  } catch {
    throw new UmaError('Nobody here has this address', ErrorCode.USER_NOT_FOUND)
  }
}

/** The protocol's numbers are floats; limits beyond what they hold exactly are cut there. */
function asNumber(amount: bigint): number {
  return Number(amount < BigInt(Number.MAX_SAFE_INTEGER) ? amount : BigInt(Number.MAX_SAFE_INTEGER))
}

// ── Pay requests ─────────────────────────────────────────────────────────────────────────────────────────────────────────────────

/** Answered once the platform has decided. */
async function answerPayRequest(core: Core, trust: Trust, customerId: string, body: string): Promise<string> {
  const customer = requirePayable(await customerOf(core, customerId))
  const world = (await core.worlds.get(customer.worldId))!
  const request = readPayRequest(body)
  const payer = request.payerData as { identifier?: string; compliance?: Compliance } & Record<string, unknown>
  const domain = domainOf(payer.identifier ?? '').toLowerCase()
  requireAllowed(core, world, domain)
  const identity = await umaIdentity(core, world)
  const { signatureNonce: nonce, signatureTimestamp: timestamp } = payer.compliance!
  await trust.require({ domain, nonce, timestamp }, identity.allowLocal, (keys, nonces) =>
    verifyPayReqSignature(request, keys, nonces),
  )
  const { currency, amount, millisatoshis, multiplier } = await priced(core, world, request)
  const information = await payerInformation(core, world, payer)
  requireTold(world, currency, information)
  const unknown = unnamed(request.requestedPayeeData)
  if (unknown.length > 0) {
    throw new UmaError(`Nothing is known here of ${unknown.join(', ')}`, ErrorCode.UNRECOGNIZED_MANDATORY_PAYEE_DATA_KEY)
  }
  const { transactionId, invoice } = await perform(
    core,
    receivePayRequest,
    { caller: await serviceCaller(core, world.id) },
    {
      customerId: customer.id,
      senderAddress: requireUmaAddress(payer.identifier!, 'payerData.identifier'),
      counterpartyDomain: domain,
      majorVersion: request.umaMajorVersion,
      currency,
      amount,
      millisatoshis,
      multiplier,
      counterpartyInformation: information,
      requested: fromOptions(request.requestedPayeeData),
    },
  )
  const state = await decided(core, customer, transactionId)
  if (state.kind === 'rejected') throw new UmaError('The receiver does not take this payment', ErrorCode.SENDER_NOT_ACCEPTED)
  if (state.kind !== 'approved') throw new UmaError('The payment was not approved of', ErrorCode.FORBIDDEN)
  const response = await getPayReqResponse({
    request,
    metadata: '[]',
    invoiceCreator: { createUmaInvoice: async () => invoice },
    conversionRate: Number(multiplier),
    receivingCurrencyCode: currency,
    receivingCurrencyDecimals: currencyOf(currency).decimals,
    receiverChannelUtxos: [],
    receiverFeesMillisats: 0,
    utxoCallback: `${core.settings.baseUrl}/uma/paid/${transactionId}`,
    payeeData: { identifier: customer.umaAddress, ...payeeData(request.requestedPayeeData, state.payee) },
    receivingVaspPrivateKey: identity.signingKey,
    payeeIdentifier: customer.umaAddress,
  })
  return response.toJsonString()
}

type Compliance = NonNullable<NonNullable<PayRequest['payerData']>['compliance']>

async function customerOf({ database }: Core, id: string): Promise<CustomerRow | undefined> {
  if (!/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(id)) return undefined
  const [row] = await database.query<{ worldId: string }>('select world_id as "worldId" from customer where id = $1', [id])
  return row && (await customersById(database, wholeWorld(row.worldId), [id]))[0]
}

function readPayRequest(body: string): PayRequest {
  let request: PayRequest
  try {
    request = PayRequest.fromJson(body)
  } catch {
    throw new UmaError('That is no pay request', ErrorCode.PARSE_PAYREQ_REQUEST_ERROR)
  }
  if (!request.isUma() || !request.payerData.identifier) {
    throw new UmaError('It lacks what UMA requires of a pay request', ErrorCode.MISSING_REQUIRED_UMA_PARAMETERS)
  }
  if (request.umaMajorVersion > 0) return request
  // Version 0 always counts in the receiving currency; the library reads it as millisatoshis.
  const { amount, receivingCurrencyCode: currency, payerData, requestedPayeeData, comment } = request
  return new PayRequest(amount, currency, currency, 0, payerData, requestedPayeeData, comment)
}

/** Refuses a currency that is not received here. The amounts: in the smallest unit of the currency, and what settles it. */
async function priced(core: Core, world: World, request: PayRequest) {
  const { receivingCurrencyCode: currency, sendingAmountCurrencyCode: countedIn, amount: asked } = request
  const found = (await receivableCurrencies(core, world)).find((one) => one.currency === currency)
  if (!found || (countedIn !== undefined && countedIn !== currency)) {
    throw new UmaError(`The receiver does not take ${countedIn ?? currency}`, ErrorCode.INVALID_CURRENCY)
  }
  if (!Number.isSafeInteger(asked) || asked <= 0) throw new UmaError('The amount is none', ErrorCode.INVALID_INPUT)
  const multiplier = found.millisatoshis
  const amount = countedIn === undefined ? fromMillisatoshis(BigInt(asked), multiplier) : BigInt(asked)
  const millisatoshis = countedIn === undefined ? BigInt(asked) : toMillisatoshis(amount, multiplier)
  if (amount < found.min || amount > found.max) {
    throw new UmaError(`The receiver takes ${found.min} to ${found.max} of ${currency}`, ErrorCode.AMOUNT_OUT_OF_RANGE)
  }
  return { currency: found.currency, amount, millisatoshis, multiplier }
}

/** What is said of who pays, in clear and encrypted for us. */
async function payerInformation(
  core: Core,
  world: World,
  { compliance, ...data }: { compliance?: Compliance } & Record<string, unknown>,
): Promise<Record<string, string>> {
  const sealed = compliance?.encryptedTravelRuleInfo ?? undefined
  return {
    ...(sealed === undefined ? {} : decrypted(sealed, (await umaKeysOf(core, world.id)).encryptionPrivateKey)),
    ...fromData(data),
  }
}

/** In the form that we send it in ourselves; other forms are not read. */
function decrypted(sealed: string, privateKey: string): Record<string, string> {
  let opened: string
  try {
    opened = Buffer.from(decrypt(privateKey, Buffer.from(sealed, 'hex'))).toString('utf8')
  } catch {
    throw new UmaError('What is encrypted was not encrypted for us', ErrorCode.PARSE_PAYREQ_REQUEST_ERROR)
  }
  try {
    return fromData(JSON.parse(opened) as Record<string, unknown>)
  } catch {
    return {}
  }
}

function requireTold(world: World, currency: string, information: Readonly<Record<string, string>>): void {
  const missing = counterpartyFieldsOf(world, currency).filter(
    ({ name, mandatory }) => mandatory && information[name] === undefined,
  )
  if (missing.length === 0) return
  const names = Object.keys(toOptions(missing)).join(', ')
  throw new UmaError(`The receiver must be told ${names} of who pays`, ErrorCode.MISSING_MANDATORY_PAYER_DATA)
}

function payeeData(wanted: CounterPartyDataOptions | undefined, known: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(toData(known)).filter(([name]) => wanted?.[name] !== undefined))
}

async function decided(core: Core, customer: CustomerRow, transactionId: string): Promise<ApprovalState> {
  const until = performance.now() + decidedWithinMs
  for (;;) {
    const state = await approvalState(core, customer, transactionId)
    if (state.kind !== 'waiting' || performance.now() > until) return state
    await new Promise((resolve) => setTimeout(resolve, lookAgainMs))
  }
}

// ── It was paid ──────────────────────────────────────────────────────────────────────────────────────────────────────────────────

/** In the sandbox this is the money; in production a rail says that it came, and this is only good to know. */
async function takePaid(core: Core, trust: Trust, transactionId: string, body: string): Promise<void> {
  const known = /^[0-9a-f-]{36}$/.test(transactionId) ? await payRequestOf(core, transactionId) : undefined
  if (!known || known.callbackUrl !== null) throw new UmaError('There is no such request', ErrorCode.REQUEST_NOT_FOUND)
  const world = (await core.worlds.get(known.worldId))!
  const callback = readCallback(body)
  const { vaspDomain: domain, signatureNonce: nonce, signatureTimestamp: timestamp } = callback
  if (domain !== known.counterpartyDomain) {
    throw new UmaError('Somebody else was asked to pay this', ErrorCode.COUNTERPARTY_NOT_ALLOWED)
  }
  const { allowLocal } = await umaIdentity(core, world)
  await trust.require({ domain, nonce, timestamp }, allowLocal, (keys, nonces) =>
    verifyPostTransactionCallbackSignature(callback, keys, nonces),
  )
  if (world.environment === 'PRODUCTION') return
  const paid = callback.utxos.filter(({ utxo }) => utxo === known.invoice)
  const millisatoshis = paid.reduce(
    (sum, { amountMsats }) => sum + (Number.isSafeInteger(amountMsats) ? BigInt(amountMsats) : 0n),
    0n,
  )
  const settling = { transactionId, counterpartyDomain: domain, invoice: known.invoice!, millisatoshis }
  const { taken } = await perform(core, settlePayRequest, { caller: await serviceCaller(core, world.id) }, settling)
  if (!taken) throw new UmaError('This invoice is not to be paid, not any more, or not so', ErrorCode.INVALID_INVOICE)
}

function readCallback(body: string) {
  try {
    return parsePostTransactionCallback(body)
  } catch {
    throw new UmaError('That is no word of a payment', ErrorCode.PARSE_UTXO_CALLBACK_ERROR)
  }
}

// ── What goes wrong ──────────────────────────────────────────────────────────────────────────────────────────────────────────────

function sendFault(reply: FastifyReply, error: unknown, log: () => void): FastifyReply {
  const fault = toFault(error)
  if (fault.httpStatusCode >= 500 && fault.code === 'INTERNAL_ERROR') log()
  return reply.code(fault.httpStatusCode).type('application/json').send(fault.toJSON())
}

function toFault(error: unknown): UmaError {
  if (error instanceof UmaError) return error
  if (error instanceof DomainError) {
    const known = Object.entries(ErrorCode).find(([code]) => code === error.code)
    return new UmaError(error.message, known?.[1] ?? ErrorCode.USER_NOT_READY)
  }
  const { statusCode } = error as { statusCode?: number }
  if (statusCode !== undefined && statusCode < 500) {
    return new UmaError('The request cannot be read', { code: 'INVALID_REQUEST_FORMAT', httpStatusCode: statusCode })
  }
  return new UmaError('Something went wrong here', ErrorCode.INTERNAL_ERROR)
}
