/** The currencies and assets the service knows, as the specification's currency object. */
export interface Currency {
  code: string
  name: string
  symbol: string
  /** Decimal places: 1 unit is 10^decimals of the smallest unit. */
  decimals: number
}

const rows: readonly (readonly [code: string, name: string, symbol: string, decimals: number])[] = [
  ['USD', 'United States Dollar', '$', 2],
  ['EUR', 'Euro', '€', 2],
  ['GBP', 'Pound Sterling', '£', 2],
  ['MXN', 'Mexican Peso', '$', 2],
  ['BRL', 'Brazilian Real', 'R$', 2],
  ['INR', 'Indian Rupee', '₹', 2],
  ['BTC', 'Bitcoin', '₿', 8],
  ['USDC', 'USD Coin', 'USDC', 6],
  ['USDT', 'Tether', 'USDT', 6],
  ['USDB', 'USD Bitcoin Dollar', 'USDB', 6],
  ['CAD', 'Canadian Dollar', '$', 2],
  ['DKK', 'Danish Krone', 'kr', 2],
  ['HKD', 'Hong Kong Dollar', '$', 2],
  ['IDR', 'Indonesian Rupiah', 'Rp', 2],
  ['MYR', 'Malaysian Ringgit', 'RM', 2],
  ['NGN', 'Nigerian Naira', '₦', 2],
  ['PHP', 'Philippine Peso', '₱', 2],
  ['SGD', 'Singapore Dollar', '$', 2],
  ['THB', 'Thai Baht', '฿', 2],
  ['VND', 'Vietnamese Dong', '₫', 0],
]

export const currencies: ReadonlyMap<string, Currency> = new Map(
  rows.map(([code, name, symbol, decimals]) => [code, { code, name, symbol, decimals }]),
)

/** The currency of a code that is known to be one (it came from our own tables); anything else is a bug. */
export function currencyOf(code: string): Currency {
  const currency = currencies.get(code)
  if (!currency) throw new Error(`unknown currency ${code}`)
  return currency
}
