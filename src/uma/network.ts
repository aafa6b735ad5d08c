/** Asking other providers: who has an address, whether they take a payment, and telling them that it was paid. Their faults are named here. */
import {
  type Currency,
  getMajorVersion,
  getPayRequest,
  getPostTransactionCallback,
  getSignedLnurlpRequestUrl,
  KycStatus,
  LnurlpResponse,
  PayReqResponse,
  selectHighestSupportedVersion,
  UmaError,
  verifyPayReqResponseSignature,
  verifyUmaLnurlpResponseSignature,
} from '@uma-sdk/core'
import { endpointFault } from '../base/address.ts'
import { second } from '../base/clock.ts'
import { currencies } from '../base/currency.ts'
import type { Logger } from '../base/logger.ts'
import { isMore, parseDecimal } from '../base/money.ts'
import type { Poster } from '../base/outgoing.ts'
import { DomainError } from '../base/refusal.ts'
import { toMillisatoshis } from '../core/uma/millisatoshis.ts'
import { domainOf } from '../core/uma/providers.ts'
import type { UmaCurrency, UmaReceiver } from '../rails/port.ts'
import type { UmaAnswer, UmaIdentity, UmaNetwork, UmaPayment } from '../rails/uma.ts'
import { fromData, fromOptions, toData, toOptions } from './names.ts'
import { answerWithinMs, schemeOf, type Trust } from './trust.ts'

/** A platform may take ten seconds to approve of a payment. */
const approvedWithinMs = 15 * second
const field = 'receiverUmaAddress'

export function createUmaNetwork(poster: Poster, trust: Trust, logger: Logger): UmaNetwork {
  async function ask(as: UmaIdentity, umaAddress: string, version?: string) {
    const url = await getSignedLnurlpRequestUrl({
      isSubjectToTravelRule: true,
      receiverAddress: umaAddress,
      senderVaspDomain: as.domain,
      signingPrivateKey: as.signingKey,
      umaVersionOverride: version,
    })
    url.protocol = schemeOf(domainOf(umaAddress), as.allowLocal)
    const answer = await poster.get(url.href, { allowLocal: as.allowLocal, timeoutMs: answerWithinMs }).catch(() => undefined)
    if (!answer) throw failed(umaAddress, 'it did not answer')
    return answer
  }

  return {
    async lookUp(as, umaAddress) {
      let answer = await ask(as, umaAddress)
      if (answer.status === 412) answer = await ask(as, umaAddress, versionFor(answer.body, umaAddress))
      if (answer.status === 404) return undefined
      if (answer.status !== 200) throw refusedLookup(umaAddress, answer)
      const response = readLookup(answer.body, umaAddress)
      const { signatureNonce: nonce, signatureTimestamp: timestamp } = response.compliance
      await trust
        .require({ domain: domainOf(umaAddress), nonce, timestamp }, as.allowLocal, (keys, nonces) =>
          verifyUmaLnurlpResponseSignature(response, keys, nonces),
        )
        .catch((error: unknown) => {
          throw unbelievable(umaAddress, error)
        })
      return toReceiver(response, umaAddress, as.allowLocal)
    },

    async requestPayment(as, payment) {
      try {
        return await requestPayment(as, payment, poster, trust)
      } catch (error) {
        const reason = error instanceof Error ? error.message : String(error)
        logger.warn({ domain: payment.counterparty.domain, reason }, 'a pay request failed')
        return { kind: 'failed', reason }
      }
    },

    async tellPaid(as, { settlementUrl, invoice, millisatoshis }) {
      const callback = await getPostTransactionCallback({
        utxos: [{ utxo: invoice, amountMsats: Number(millisatoshis) }],
        vaspDomain: as.domain,
        signingPrivateKey: as.signingKey,
      })
      const options = { allowLocal: as.allowLocal, timeoutMs: answerWithinMs }
      const answer = await poster.post(settlementUrl, JSON.stringify(callback), {}, options).catch(() => undefined)
      if (!answer || answer.status >= 500 || answer.status === 429) return undefined
      return answer.status >= 200 && answer.status < 300 ? 'taken' : 'refused'
    },
  }
}

// ── Who receives ─────────────────────────────────────────────────────────────────────────────────────────────────────────────────

type UmaResponse = LnurlpResponse & { compliance: NonNullable<LnurlpResponse['compliance']>; currencies: Currency[] }

function readLookup(body: string, umaAddress: string): UmaResponse {
  let response: LnurlpResponse
  try {
    response = LnurlpResponse.fromJson(body)
  } catch {
    throw unreadable(umaAddress, 'it is no answer of UMA')
  }
  if (!response.isUma()) throw unreadable(umaAddress, 'it lacks what UMA requires')
  if (response.compliance.receiverIdentifier !== umaAddress) throw unreadable(umaAddress, 'it is about somebody else')
  return response as UmaResponse
}

function toReceiver(response: UmaResponse, umaAddress: string, allowLocal: boolean): UmaReceiver {
  const known = response.currencies.map(toCurrency).filter((one): one is UmaCurrency => one !== undefined)
  if (known.length === 0) throw unreadable(umaAddress, 'it names no currency that is known here')
  const fault = endpointFault(response.callback, allowLocal)
  if (fault !== undefined) throw unreadable(umaAddress, `its callback is not usable: ${fault}`)
  return {
    currencies: known,
    payerFields: fromOptions(response.payerData),
    elsewhere: {
      domain: domainOf(umaAddress),
      callbackUrl: response.callback,
      majorVersion: getMajorVersion(response.umaVersion!),
      travelRule: response.compliance.isSubjectToTravelRule,
    },
  }
}

/** Undefined for one that is not known here, or counted otherwise, or that makes no sense. */
function toCurrency({ code, decimals, multiplier, minSendable, maxSendable }: Currency): UmaCurrency | undefined {
  const sound = multiplier > 0 && Number.isSafeInteger(minSendable) && Number.isSafeInteger(maxSendable) && minSendable >= 0
  if (!sound || currencies.get(code)?.decimals !== decimals) return undefined
  return { currency: code, min: BigInt(minSendable), max: BigInt(maxSendable), millisatoshis: decimalOf(multiplier) }
}

/** A JSON number as the decimal that it was written as. */
function decimalOf(value: number): string {
  const text = String(value)
  return text.includes('e') ? value.toFixed(20).replace(/\.?0+$/, '') : text
}

function versionFor(body: string, umaAddress: string): string {
  try {
    const { supportedMajorVersions } = JSON.parse(body) as { supportedMajorVersions?: unknown }
    return selectHighestSupportedVersion((supportedMajorVersions as unknown[]).filter((one) => typeof one === 'number'))
  } catch {
    throw new DomainError('UNSUPPORTED_UMA_VERSION', `${domainOf(umaAddress)} speaks no version of UMA that is spoken here`, {
      field,
      value: umaAddress,
    })
  }
}

function refusedLookup(umaAddress: string, { status, body }: { status: number; body: string }): DomainError {
  const code = codeIn(body)
  if (status === 412) {
    return new DomainError('UNSUPPORTED_UMA_VERSION', `${domainOf(umaAddress)} speaks no version of UMA that is spoken here`, {
      field,
      value: umaAddress,
    })
  }
  if (code === 'USER_NOT_READY') {
    return new DomainError('USER_NOT_READY', 'The receiver cannot be paid yet', { field, value: umaAddress })
  }
  if (code === 'COUNTERPARTY_NOT_ALLOWED') {
    return new DomainError('COUNTERPARTY_NOT_ALLOWED', `${domainOf(umaAddress)} takes no payments from this platform`, {
      field,
      value: umaAddress,
    })
  }
  return failed(umaAddress, `it answered ${status}`, code)
}

function codeIn(body: string): string | undefined {
  try {
    const { code } = JSON.parse(body) as { code?: unknown }
    return typeof code === 'string' ? code.slice(0, 60) : undefined
  } catch {
    return undefined
  }
}

function failed(umaAddress: string, why: string, reason?: string): DomainError {
  return new DomainError('LNURLP_REQUEST_FAILED', `${domainOf(umaAddress)} could not be asked: ${why}`, {
    field,
    value: umaAddress,
    ...(reason === undefined ? {} : { reason }),
  })
}

function unreadable(umaAddress: string, why: string): DomainError {
  return new DomainError('PARSE_LNURLP_RESPONSE_ERROR', `What ${domainOf(umaAddress)} answered cannot be used: ${why}`, {
    field,
    value: umaAddress,
  })
}

function unbelievable(umaAddress: string, error: unknown): unknown {
  if (!(error instanceof UmaError)) return error
  const details = { field, value: umaAddress, reason: error.code }
  return ['COUNTERPARTY_PUBKEY_FETCH_ERROR', 'INVALID_PUBKEY_FORMAT', 'CERT_CHAIN_EXPIRED'].includes(error.code)
    ? new DomainError('COUNTERPARTY_PUBKEY_FETCH_ERROR', error.message, details)
    : new DomainError(
        'LNURLP_REQUEST_FAILED',
        `What ${domainOf(umaAddress)} answered cannot be believed: ${error.message}`,
        details,
      )
}

// ── A payment ────────────────────────────────────────────────────────────────────────────────────────────────────────────────────

/** Throws where there is no answer that can be believed, or it asks for more than was quoted. */
async function requestPayment(as: UmaIdentity, payment: UmaPayment, poster: Poster, trust: Trust): Promise<UmaAnswer> {
  const { counterparty, payer, currency, amount, wanted } = payment
  const { domain, majorVersion } = counterparty
  if (amount > BigInt(Number.MAX_SAFE_INTEGER)) throw new Error('the amount is too large for a pay request')
  const keys = await trust.keysOf(domain, as.allowLocal)
  const request = await getPayRequest({
    receiverEncryptionPubKey: keys.getEncryptionPubKey(),
    sendingVaspPrivateKey: as.signingKey,
    receivingCurrencyCode: currency,
    amount: Number(amount),
    isAmountInReceivingCurrency: true,
    payerIdentifier: payer.address,
    payerKycStatus: payer.verified ? KycStatus.Verified : KycStatus.NotVerified,
    payerData: toData(payer.data),
    trInfo: counterparty.travelRule ? JSON.stringify(toData(payer.data)) : undefined,
    requestedPayeeData: toOptions(wanted),
    comment: payment.description,
    umaMajorVersion: majorVersion,
  })
  const options = { allowLocal: as.allowLocal, timeoutMs: approvedWithinMs }
  const answer = await poster.post(counterparty.callbackUrl, request.toJsonString(), {}, options)
  if (answer.status !== 200) {
    const code = codeIn(answer.body)
    if (code === 'SENDER_NOT_ACCEPTED') return { kind: 'refused' }
    throw new Error(`it was answered ${answer.status} ${code ?? ''}`.trim())
  }
  const response = PayReqResponse.fromJson(answer.body)
  await requireSigned(response, payment, as, trust)
  const millisatoshis = priceOf(response, payment)
  const settlementUrl = response.payeeData?.compliance?.utxoCallback ?? ''
  const fault = endpointFault(settlementUrl, as.allowLocal)
  if (fault !== undefined) throw new Error(`its callback for what is paid is not usable: ${fault}`)
  const payee = fromData(response.payeeData)
  if (wanted.some(({ name, mandatory }) => mandatory && payee[name] === undefined)) return { kind: 'incomplete' }
  return { kind: 'accepted', invoice: response.pr, millisatoshis, settlementUrl, payee }
}

/** Version 0 does not sign this message: there the connection is all there is. */
async function requireSigned(response: PayReqResponse, payment: UmaPayment, as: UmaIdentity, trust: Trust): Promise<void> {
  const { counterparty, payer, receiverAddress } = payment
  if (counterparty.majorVersion === 0) return
  const { signatureNonce: nonce, signatureTimestamp: timestamp } = response.payeeData?.compliance ?? {}
  if (typeof nonce !== 'string' || typeof timestamp !== 'number') throw new Error('the answer is not signed')
  await trust.require({ domain: counterparty.domain, nonce, timestamp }, as.allowLocal, (keys, nonces) =>
    verifyPayReqResponseSignature(response, payer.address, receiverAddress, keys, nonces),
  )
}

/** What is to be settled. */
function priceOf({ converted }: PayReqResponse, { currency, amount, millisatoshis: quoted }: UmaPayment): bigint {
  if (converted?.currencyCode !== currency) throw new Error('it is in another currency')
  if (converted.amount !== undefined && BigInt(converted.amount) !== amount) throw new Error('it is another amount')
  const asked = decimalOf(converted.multiplier)
  if (converted.fee > 0 || isMore(parseDecimal(asked), parseDecimal(quoted))) throw new Error('it costs more than was quoted')
  return toMillisatoshis(amount, asked)
}
