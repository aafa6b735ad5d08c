/** Exact arithmetic for amounts (bigint, smallest unit) and rates (ratios of bigints). No float touches either. */

export interface Ratio {
  readonly numerator: bigint
  /** Always positive. */
  readonly denominator: bigint
}

export function ratio(numerator: bigint, denominator: bigint): Ratio {
  if (denominator <= 0n) throw new Error('a ratio needs a positive denominator')
  const divisor = gcd(numerator < 0n ? -numerator : numerator, denominator)
  return { numerator: numerator / divisor, denominator: denominator / divisor }
}

function gcd(left: bigint, right: bigint): bigint {
  let a = left
  let b = right
  while (b !== 0n) [a, b] = [b, a % b]
  return a === 0n ? 1n : a
}

/** The exact ratio of a decimal text such as `1.08695652`. */
export function parseDecimal(text: string): Ratio {
  const match = /^(\d+)(?:\.(\d+))?$/.exec(text)
  if (!match) throw new Error(`not a decimal: ${text}`)
  const fraction = match[2] ?? ''
  return ratio(BigInt(`${match[1]}${fraction}`), 10n ** BigInt(fraction.length))
}

export function multiply(left: Ratio, right: Ratio): Ratio {
  return ratio(left.numerator * right.numerator, left.denominator * right.denominator)
}

export function divide(left: Ratio, right: Ratio): Ratio {
  return ratio(left.numerator * right.denominator, left.denominator * right.numerator)
}

/** Whether the left one is more. */
export function isMore(left: Ratio, right: Ratio): boolean {
  return left.numerator * right.denominator > right.numerator * left.denominator
}

export function floor({ numerator, denominator }: Ratio): bigint {
  const quotient = numerator / denominator
  return numerator % denominator < 0n ? quotient - 1n : quotient
}

export function ceil({ numerator, denominator }: Ratio): bigint {
  return -floor({ numerator: -numerator, denominator })
}

/** Halves go up. */
export function round({ numerator, denominator }: Ratio): bigint {
  return floor({ numerator: 2n * numerator + denominator, denominator: 2n * denominator })
}

/** The decimal text of a ratio with that many places, halves up, without trailing zeros. */
export function toDecimal(value: Ratio, places: number): string {
  const scaled = round({ numerator: value.numerator * 10n ** BigInt(places), denominator: value.denominator })
  const text = shift(scaled, places)
  return places === 0 ? text : text.replace(/\.?0+$/, '')
}

/** The decimal text of a ratio with at least `places` places and, where it is smaller than one, at least `significant` digits. */
export function toSignificantDecimal(value: Ratio, places: number, significant: number): string {
  let leadingZeros = 0
  for (let scaled = value.numerator * 10n; scaled > 0n && scaled < value.denominator; scaled *= 10n) leadingZeros += 1
  return toDecimal(value, Math.max(places, value.numerator < value.denominator ? leadingZeros + significant : 0))
}

/** An amount of smallest units as people write it: 123456 with 2 decimals is `1234.56`. */
export function displayAmount(amount: bigint, decimals: number): string {
  return shift(amount, decimals)
}

function shift(amount: bigint, places: number): string {
  if (places === 0) return amount.toString()
  const digits = (amount < 0n ? -amount : amount).toString().padStart(places + 1, '0')
  return `${amount < 0n ? '-' : ''}${digits.slice(0, -places)}.${digits.slice(-places)}`
}
