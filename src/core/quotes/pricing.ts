/**
 * What a payment costs, exactly. With all amounts in smallest units and the rate x scaled to them:
 *
 *     variable fee   V = round((S − F) · r)         S total sending amount, F service's fixed fee, r its variable rate
 *     fees included  V + F + ceil(C · x)            C counterparty's fixed fee, in the receiving currency
 *     received       R = floor((S − fees) / x)
 *
 * Locking the sending side gives S; locking the receiving side looks for the smallest S that still pays R. Every rounding leaves the
 * remainder with the service's FX position: what it takes in is never worth less than what it gives.
 */
import type { Currency } from '../../base/currency.ts'
import {
  ceil,
  divide,
  floor,
  multiply,
  parseDecimal,
  type Ratio,
  ratio,
  round,
  toDecimal,
  toSignificantDecimal,
} from '../../base/money.ts'
import type { Terms } from '../../rails/port.ts'

export interface Price {
  /** Smallest unit of the sending currency, fees included. */
  totalSendingAmount: bigint
  /** Smallest unit of the receiving currency. */
  totalReceivingAmount: bigint
  /** Sending units per receiving unit: an exact decimal, and the one the amounts were computed with. */
  exchangeRate: string
  /** Smallest unit of the sending currency. */
  feesIncluded: bigint
  rateDetails: RateDetails
}

/** The specification's six: multipliers in millisatoshis per smallest unit and back. */
export interface RateDetails {
  counterpartyMultiplier: number
  /** Smallest unit of the receiving currency. */
  counterpartyFixedFee: bigint
  serviceApiMultiplier: number
  /** Smallest unit of the sending currency. */
  serviceApiFixedFee: bigint
  /** A fraction: 0.003 is 0.3 %. */
  serviceApiVariableFeeRate: number
  /** Smallest unit of the sending currency. */
  serviceApiVariableFeeAmount: bigint
}

export interface PriceRequest {
  sending: Currency
  receiving: Currency
  lockedCurrencySide: 'SENDING' | 'RECEIVING'
  /** Smallest unit of the locked side's currency. */
  lockedCurrencyAmount: bigint
}

/** Undefined when nothing would arrive. */
export function priceOf(request: PriceRequest, terms: Terms): Price | undefined {
  const exchangeRate = quotedRate(terms.rate)
  const scale = new Scale(parseDecimal(exchangeRate), request, terms)
  const total =
    request.lockedCurrencySide === 'SENDING' ? request.lockedCurrencyAmount : scale.sendingFor(request.lockedCurrencyAmount)
  const fees = scale.fees(total)
  const received = request.lockedCurrencySide === 'SENDING' ? scale.receivedFor(total) : request.lockedCurrencyAmount
  if (received <= 0n) return undefined
  return {
    totalSendingAmount: total,
    totalReceivingAmount: received,
    exchangeRate,
    feesIncluded: fees,
    rateDetails: rateDetails(scale, request, terms, total),
  }
}

/** What an amount would come to, before fees, and what the fees would be: for showing, not for promising. */
export function indicativePrice(sending: Currency, receiving: Currency, amount: bigint, terms: Terms) {
  const exchangeRate = quotedRate(terms.rate)
  const request = { sending, receiving, lockedCurrencySide: 'SENDING' as const, lockedCurrencyAmount: amount }
  const scale = new Scale(parseDecimal(exchangeRate), request, terms)
  return {
    exchangeRate,
    receivingAmount: floor(divide(ratio(amount, 1n), scale.rate)),
    fixedFees: scale.fees(0n),
    fees: scale.fees(amount),
  }
}

/** A rate as a quote shows it: 8 places, or 7 digits where that is more. */
function quotedRate(rate: Ratio): string {
  return toSignificantDecimal(rate, 8, 7)
}

/** The arithmetic in smallest units for one pair of currencies. */
class Scale {
  /** Smallest sending units per smallest receiving unit. */
  readonly rate: Ratio
  readonly #fixed: bigint
  readonly #variable: Ratio
  readonly #counterparty: bigint
  readonly #counterpartyFee: bigint

  constructor(rate: Ratio, { sending, receiving }: PriceRequest, terms: Terms) {
    this.rate = multiply(rate, ratio(10n ** BigInt(sending.decimals), 10n ** BigInt(receiving.decimals)))
    this.#fixed = terms.serviceFixedFee
    this.#variable = terms.serviceVariableRate
    this.#counterparty = ceil(this.#inSending(terms.counterpartyFixedFee))
    this.#counterpartyFee = terms.counterpartyFixedFee
  }

  variableFee(total: bigint): bigint {
    const base = total - this.#fixed
    return base <= 0n ? 0n : round(multiply(this.#variable, ratio(base, 1n)))
  }

  fees(total: bigint): bigint {
    return this.#fixed + this.variableFee(total) + this.#counterparty
  }

  receivedFor(total: bigint): bigint {
    return floor(divide(ratio(total - this.fees(total), 1n), this.rate))
  }

  /** The formula's total, raised where rounding the fees took a unit too much. */
  sendingFor(received: bigint): bigint {
    const { numerator, denominator } = this.#variable
    const gross = divide(this.#inSending(received + this.#counterpartyFee), ratio(denominator - numerator, denominator))
    let total = ceil(gross) + this.#fixed
    while (this.receivedFor(total) < received) total += 1n
    return total
  }

  #inSending(receivingAmount: bigint): Ratio {
    return multiply(ratio(receivingAmount, 1n), this.rate)
  }
}

const millisatoshisPerBitcoin = 100_000_000_000n

function rateDetails(scale: Scale, { sending }: PriceRequest, terms: Terms, total: bigint): RateDetails {
  const { serviceVariableRate: variable } = terms
  const smallestUnitsPerBitcoin = multiply(terms.bitcoinPrice, ratio(10n ** BigInt(sending.decimals), 1n))
  const millisatoshisPerUnit = divide(ratio(millisatoshisPerBitcoin, 1n), smallestUnitsPerBitcoin)
  const afterFee = ratio(variable.denominator - variable.numerator, variable.denominator)
  return {
    counterpartyMultiplier: asNumber(divide(divide(ratio(1n, 1n), scale.rate), millisatoshisPerUnit)),
    counterpartyFixedFee: terms.counterpartyFixedFee,
    serviceApiMultiplier: asNumber(multiply(millisatoshisPerUnit, afterFee)),
    serviceApiFixedFee: terms.serviceFixedFee,
    serviceApiVariableFeeRate: asNumber(variable),
    serviceApiVariableFeeAmount: scale.variableFee(total),
  }
}

/** For showing only: no amount is ever computed from it. */
function asNumber(value: Ratio): number {
  return Number(value.numerator < value.denominator ? toSignificantDecimal(value, 12, 12) : toDecimal(value, 12))
}
