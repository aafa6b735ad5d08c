/** What exchanging costs just now, without a promise: rates are remembered for five minutes, and quotes lock their own. */
import { z } from 'zod'
import { type Clock, minute } from '../../base/clock.ts'
import { type Currency, currencyOf } from '../../base/currency.ts'
import { DomainError } from '../../base/refusal.ts'
import type { RateSource, Terms } from '../../rails/port.ts'
import { currencyCode, currencyObject, int64, listOf } from '../input.ts'
import { query } from '../operation.ts'
import { supportOf } from '../platform/world.ts'
import { indicativePrice } from '../quotes/pricing.ts'

const rememberedMs = 5 * minute

/** Spec silent: the rail that a sandbox payment in a currency goes by. */
const railOf: Readonly<Record<string, string>> = {
  USD: 'RTP',
  EUR: 'SEPA_INSTANT',
  DKK: 'SEPA_INSTANT',
  GBP: 'FASTER_PAYMENTS',
  MXN: 'SPEI',
  BRL: 'PIX',
  INR: 'UPI',
  BTC: 'LIGHTNING',
  USDC: 'SOLANA',
  USDT: 'TRON',
  USDB: 'SPARK',
}

export const ExchangeRate = z.object({
  sourceCurrency: currencyObject,
  destinationCurrency: currencyObject,
  destinationPaymentRail: z.string(),
  /** Of the source currency, in its smallest unit, as are the limits and the fees. */
  sendingAmount: int64,
  minSendingAmount: int64,
  maxSendingAmount: int64,
  /** Smallest unit of the destination currency, before fees. */
  receivingAmount: int64,
  /** Units of the source currency per unit of the destination currency. */
  exchangeRate: z.number(),
  fees: z.object({ fixed: int64, total: int64 }),
  updatedAt: z.string(),
})

export type ExchangeRate = z.output<typeof ExchangeRate>

const sendingAmount = z
  .union([z.string().regex(/^\d{1,16}$/), z.int().nonnegative(), z.bigint().nonnegative()], {
    error: 'expected a whole number of the smallest unit',
  })
  .transform((value) => BigInt(value))
  .refine((value) => value <= 9_000_000_000_000_000n, { error: 'expected less', params: { code: 'INVALID_AMOUNT' } })
  .default(10_000n)

/** Every pair of the platform's currencies, or those asked for. Refuses INVALID_CURRENCY for one that the platform does not have. */
export const listExchangeRates = query({
  name: 'listExchangeRates',
  permission: 'VIEW',
  forViewers: true,
  refuses: ['INVALID_CURRENCY', 'INVALID_AMOUNT'],
  input: z.object({ sourceCurrency: currencyCode.optional(), destinationCurrency: listOf(currencyCode, 50), sendingAmount }),
  output: z.object({ data: z.array(ExchangeRate) }),
  async answer({ worlds, rates, clock }, { worldId }, asked) {
    const world = (await worlds.get(worldId))!
    const all = world.supportedCurrencies.map((supported) => supported.currencyCode)
    const supported = (codes: readonly string[], field: string) => {
      const stranger = codes.find((code) => !all.includes(code))
      if (stranger === undefined) return codes
      throw new DomainError('INVALID_CURRENCY', `${field}: the platform does not support ${stranger}`, { field, value: stranger })
    }
    const sources = asked.sourceCurrency === undefined ? all : supported([asked.sourceCurrency], 'sourceCurrency')
    const destinations = asked.destinationCurrency ? supported(asked.destinationCurrency, 'destinationCurrency') : all
    const pairs = sources.flatMap((source) =>
      destinations.filter((code) => code !== source).map((code) => [source, code] as const),
    )
    const found = await Promise.all(
      pairs.map(async ([source, destination]) => {
        const known = await remembered(rates, clock, source, destination)
        const { minAmount, maxAmount } = supportOf(world, source)!
        return known.terms
          ? [
              rateOf(currencyOf(source), currencyOf(destination), known.terms, known.at, asked.sendingAmount, {
                minAmount,
                maxAmount,
              }),
            ]
          : []
      }),
    )
    return { data: found.flat() }
  },
})

function rateOf(
  source: Currency,
  destination: Currency,
  terms: Terms,
  at: Date,
  amount: bigint,
  limits: { minAmount: bigint | number; maxAmount: bigint | number },
): ExchangeRate {
  const { exchangeRate, receivingAmount, fixedFees, fees } = indicativePrice(source, destination, amount, terms)
  return {
    sourceCurrency: source,
    destinationCurrency: destination,
    destinationPaymentRail: railOf[destination.code] ?? 'BANK_TRANSFER',
    sendingAmount: amount,
    minSendingAmount: BigInt(limits.minAmount),
    maxSendingAmount: BigInt(limits.maxAmount),
    receivingAmount,
    exchangeRate: Number(exchangeRate),
    fees: { fixed: fixedFees, total: fees },
    updatedAt: at.toISOString(),
  }
}

type Known = { terms: Terms | undefined; at: Date }

const memories = new WeakMap<RateSource, Map<string, Known>>()

async function remembered(rates: RateSource, clock: Clock, source: string, destination: string): Promise<Known> {
  const memory = memories.get(rates) ?? new Map<string, Known>()
  memories.set(rates, memory)
  const now = clock.now()
  const key = `${source} ${destination}`
  const known = memory.get(key)
  if (known && now.getTime() - known.at.getTime() < rememberedMs && now >= known.at) return known
  const fresh = { terms: await rates.terms(source, destination), at: now }
  memory.set(key, fresh)
  return fresh
}
