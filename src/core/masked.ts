/** What a customer's own token shows of birth dates, tax ids and account numbers: whoever borrows the browser learns none of them. */
import type { Caller } from './operation.ts'

const accountNumbers: ReadonlySet<string> = new Set(['accountNumber', 'clabeNumber', 'iban', 'pixKey', 'vpa'])
const birthDates: ReadonlySet<string> = new Set(['birthDate', 'BIRTH_DATE'])
const taxIds: ReadonlySet<string> = new Set(['taxId', 'TAX_ID'])

/** The same for everybody else. Numbers keep their last four characters, birth dates are left out. */
export function maskedFor<Value>({ customerId }: Pick<Caller, 'customerId'>, value: Value): Value {
  return customerId === undefined ? value : (masked(value, false) as Value)
}

function masked(value: unknown, inAccount: boolean): unknown {
  if (Array.isArray(value)) return value.map((item) => masked(item, inAccount))
  if (typeof value !== 'object' || value === null || value instanceof Date) return value
  const shown: Record<string, unknown> = {}
  for (const [name, item] of Object.entries(value)) {
    if (birthDates.has(name)) continue
    const secret = taxIds.has(name) || (inAccount && accountNumbers.has(name))
    shown[name] = secret && typeof item === 'string' ? lastFour(item) : masked(item, inAccount || name === 'accountInfo')
  }
  return shown
}

function lastFour(text: string): string {
  return `••••${text.length > 8 ? text.slice(-4) : ''}`
}

/** What `lastFour` makes of anything, as a pattern. */
export const maskedPattern = '•{4}.{0,4}'
