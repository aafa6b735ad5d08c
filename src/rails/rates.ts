/** The default source of rates: a fixed table, the sandbox's. */
import { divide, parseDecimal } from '../base/money.ts'
import type { RateSource } from './port.ts'

/** Units per US dollar, and the fixed fee in the currency's smallest unit (about ten cents). */
const table: Readonly<Record<string, readonly [perDollar: string, fixedFee: bigint]>> = {
  USD: ['1', 10n],
  EUR: ['0.92', 10n],
  GBP: ['0.79', 8n],
  MXN: ['17.25', 170n],
  BRL: ['5.15', 50n],
  INR: ['82.5', 800n],
  BTC: ['0.00000833', 83n],
  USDC: ['1', 100_000n],
  USDT: ['1', 100_000n],
  USDB: ['1', 100_000n],
  CAD: ['1.36', 14n],
  DKK: ['6.86', 70n],
  HKD: ['7.8', 80n],
  IDR: ['15600', 156_000n],
  MYR: ['4.7', 47n],
  NGN: ['1550', 15_500n],
  PHP: ['56.5', 565n],
  SGD: ['1.34', 13n],
  THB: ['35.5', 355n],
  VND: ['25000', 2_500n],
}

const variableRate = parseDecimal('0.003')

export const fixedRates: RateSource = {
  async terms(sendingCurrency, receivingCurrency) {
    const sending = table[sendingCurrency]
    const receiving = table[receivingCurrency]
    if (!sending || !receiving) return undefined
    const perDollar = parseDecimal(sending[0])
    return {
      rate: divide(perDollar, parseDecimal(receiving[0])),
      serviceFixedFee: sending[1],
      serviceVariableRate: variableRate,
      counterpartyFixedFee: receiving[1],
      bitcoinPrice: divide(perDollar, bitcoinPerDollar),
    }
  },
}

const bitcoinPerDollar = parseDecimal(table['BTC']![0])
