/** What amounts are worth between providers: they settle in millisatoshis. */
import { currencyOf } from '../../base/currency.ts'
import { divide, floor, multiply, parseDecimal, type Ratio, ratio, round, toSignificantDecimal } from '../../base/money.ts'
import type { RateSource, Terms } from '../../rails/port.ts'

const perBitcoin = 100_000_000_000n

/** Of one smallest unit: an exact decimal, the one that everything is computed with. Undefined when the currency has no price. */
export async function millisatoshisPerUnit(rates: RateSource, currency: string): Promise<string | undefined> {
  const terms = await rates.terms(currency, currency)
  if (!terms) return undefined
  const unitsPerBitcoin = multiply(terms.bitcoinPrice, ratio(10n ** BigInt(currencyOf(currency).decimals), 1n))
  return toSignificantDecimal(divide(ratio(perBitcoin, 1n), unitsPerBitcoin), 4, 8)
}

export function toMillisatoshis(amount: bigint, perUnit: string): bigint {
  return round(multiply(ratio(amount, 1n), parseDecimal(perUnit)))
}

/** What arrives of so much, in whole units. */
export function fromMillisatoshis(millisatoshis: bigint, perUnit: string): bigint {
  return floor(divide(ratio(millisatoshis, 1n), parseDecimal(perUnit)))
}

/** The service's terms, at the price that the receiving provider asks. It charges nothing on top of that. */
export function termsOfProvider(terms: Terms, receivingCurrency: string, perUnit: string): Terms {
  const units = ratio(10n ** BigInt(currencyOf(receivingCurrency).decimals), 1n)
  const bitcoins: Ratio = divide(multiply(parseDecimal(perUnit), units), ratio(perBitcoin, 1n))
  return { ...terms, rate: multiply(bitcoins, terms.bitcoinPrice), counterpartyFixedFee: 0n }
}
