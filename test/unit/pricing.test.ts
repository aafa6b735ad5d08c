import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { currencyOf } from '../../src/base/currency.ts'
import { multiply, parseDecimal, ratio } from '../../src/base/money.ts'
import { priceOf } from '../../src/core/quotes/pricing.ts'
import type { Terms } from '../../src/rails/port.ts'
import { fixedRates } from '../../src/rails/rates.ts'

const [usd, eur, mxn, btc] = ['USD', 'EUR', 'MXN', 'BTC'].map(currencyOf) as [Cur, Cur, Cur, Cur]
type Cur = ReturnType<typeof currencyOf>

const lock = (lockedCurrencySide: 'SENDING' | 'RECEIVING', lockedCurrencyAmount: bigint) => ({
  lockedCurrencySide,
  lockedCurrencyAmount,
})

describe('the fixed rates', () => {
  test.each([
    [usd, eur, '1.08695652'],
    [usd, mxn, '0.05797101'],
    [usd, btc, '120048.01920768'],
    [btc, mxn, '0.000000482899'],
  ])('%o to %o shows as %s', async (sending, receiving, exchangeRate) => {
    const terms = (await fixedRates.terms(sending.code, receiving.code))!
    const price = priceOf({ sending, receiving, ...lock('SENDING', 100_000_000n) }, terms)!
    expect(Number(price.exchangeRate).toPrecision(6)).toBe(Number(exchangeRate).toPrecision(6))
    expect(price.exchangeRate.startsWith(exchangeRate.slice(0, 12))).toBe(true)
  })

  test('have no price for a currency nobody knows', async () => {
    expect(await fixedRates.terms('USD', 'XXX')).toBeUndefined()
  })
})

describe('a price', () => {
  test('is undefined when the fees would take all of it', async () => {
    const terms = (await fixedRates.terms('USD', 'EUR'))!
    expect(priceOf({ sending: usd, receiving: eur, ...lock('SENDING', 21n) }, terms)).toBeUndefined()
    expect(priceOf({ sending: usd, receiving: eur, ...lock('SENDING', 23n) }, terms)).toMatchObject({ totalReceivingAmount: 1n })
  })

  const currency = fc.constantFrom(usd, eur, mxn, btc, currencyOf('USDC'), currencyOf('VND'))
  const terms: fc.Arbitrary<Terms> = fc
    .record({
      numerator: fc.bigInt(1n, 10n ** 9n),
      denominator: fc.bigInt(1n, 10n ** 9n),
      serviceFixedFee: fc.bigInt(0n, 10_000n),
      variable: fc.bigInt(0n, 500n),
      counterpartyFixedFee: fc.bigInt(0n, 10_000n),
    })
    .map(({ numerator, denominator, serviceFixedFee, variable, counterpartyFixedFee }) => ({
      rate: ratio(numerator, denominator),
      serviceFixedFee,
      serviceVariableRate: ratio(variable, 10_000n),
      counterpartyFixedFee,
      bitcoinPrice: parseDecimal('120048.0192'),
    }))
  const request = fc.record({
    sending: currency,
    receiving: currency,
    lockedCurrencySide: fc.constantFrom('SENDING' as const, 'RECEIVING' as const),
    lockedCurrencyAmount: fc.bigInt(1n, 10n ** 13n),
  })

  test('never pays out more than what came in is worth, keeps the locked side, and its fees add up', () => {
    fc.assert(
      fc.property(request, terms, (asked, charged) => {
        const price = priceOf(asked, charged)
        if (!price) return
        const { rateDetails: details } = price
        if (asked.lockedCurrencySide === 'SENDING') expect(price.totalSendingAmount).toBe(asked.lockedCurrencyAmount)
        else expect(price.totalReceivingAmount).toBe(asked.lockedCurrencyAmount)
        // What the FX position takes in, at the quoted rate, covers what it gives out: the payout and the counterparty's fee.
        const scale = ratio(10n ** BigInt(asked.sending.decimals), 10n ** BigInt(asked.receiving.decimals))
        const rate = multiply(parseDecimal(price.exchangeRate), scale)
        const takesIn = price.totalSendingAmount - details.serviceApiFixedFee - details.serviceApiVariableFeeAmount
        const gives = price.totalReceivingAmount + details.counterpartyFixedFee
        expect(takesIn * rate.denominator >= gives * rate.numerator).toBe(true)
        // feesIncluded = F + V + what the counterparty's fee costs, rounded up.
        const passedOn = price.feesIncluded - details.serviceApiFixedFee - details.serviceApiVariableFeeAmount
        expect(passedOn * rate.denominator >= details.counterpartyFixedFee * rate.numerator).toBe(true)
        expect((passedOn - 1n) * rate.denominator < details.counterpartyFixedFee * rate.numerator).toBe(true)
      }),
      { numRuns: 2000 },
    )
  })

  test('of a receiving lock is the smallest total that pays it', () => {
    fc.assert(
      fc.property(request, terms, (asked, charged) => {
        const receiving = priceOf({ ...asked, lockedCurrencySide: 'RECEIVING' }, charged)!
        const less = receiving.totalSendingAmount - 2n
        const cheaper = less > 0n ? priceOf({ ...asked, ...lock('SENDING', less) }, charged) : undefined
        expect((cheaper?.totalReceivingAmount ?? 0n) <= receiving.totalReceivingAmount).toBe(true)
        const back = priceOf({ ...asked, ...lock('SENDING', receiving.totalSendingAmount) }, charged)!
        expect(back.totalReceivingAmount >= receiving.totalReceivingAmount).toBe(true)
      }),
      { numRuns: 1000 },
    )
  })

  test('is reproduced by its six rate details, to the unit that rounding leaves open', () => {
    fc.assert(
      fc.property(request, terms, (asked, charged) => {
        const price = priceOf(asked, charged)
        if (!price) return
        const { serviceApiMultiplier, counterpartyMultiplier, serviceApiFixedFee, counterpartyFixedFee } = price.rateDetails
        const gross = Number(price.totalSendingAmount - serviceApiFixedFee) * serviceApiMultiplier * counterpartyMultiplier
        const chained = gross - Number(counterpartyFixedFee)
        // One receiving unit for the floor, and what three sending units buy: the variable fee, the counterparty's fee and, where the
        // receiving side is locked, the total are rounded to whole units.
        const unit = 10 ** (asked.receiving.decimals - asked.sending.decimals) / Number(price.exchangeRate)
        expect(Math.abs(chained - Number(price.totalReceivingAmount))).toBeLessThanOrEqual(1 + 3 * unit + gross * 1e-9)
        // The variable fee is its rate of what the fixed fee leaves.
        const variable = Number(price.totalSendingAmount - serviceApiFixedFee) * price.rateDetails.serviceApiVariableFeeRate
        const shown = Number(price.rateDetails.serviceApiVariableFeeAmount)
        expect(Math.abs(shown - Math.max(variable, 0))).toBeLessThanOrEqual(0.5 + Math.abs(variable) * 1e-9)
      }),
      { numRuns: 2000 },
    )
  })
})
