/**
 * What identifies an external account, by account type. Formats and lengths are checked, check digits are not: the specification's own
 * sandbox numbers fail them.
 */
import { z } from 'zod'
import { DomainError, type RefusalCode } from '../../base/refusal.ts'
import { address, calendarDate, countryCode, name, text } from '../input.ts'

const bank = (issue: string): { error: string; params: { code: RefusalCode } } => ({
  error: issue,
  params: { code: 'INVALID_BANK_ACCOUNT' },
})

/** Text of a given shape; another shape refuses INVALID_BANK_ACCOUNT. */
function shaped(pattern: RegExp, expected: string) {
  return z
    .string()
    .max(200)
    .refine((value) => pattern.test(value), bank(`expected ${expected}`))
}

const individual = z.object({
  beneficiaryType: z.literal('INDIVIDUAL'),
  fullName: name,
  birthDate: calendarDate.optional(),
  nationality: countryCode.optional(),
  address: address.optional(),
  email: z.email().max(200).optional(),
  phoneNumber: text(30).optional(),
})

const business = z.object({
  beneficiaryType: z.literal('BUSINESS'),
  businessInfo: z.object({
    legalName: name,
    taxId: text(100).optional(),
    registrationNumber: text(100).optional(),
  }),
  address: address.optional(),
})

/** A business's fields are nested in businessInfo; the flat form is an alias. */
const beneficiary = z.preprocess(
  (raw) => {
    if (!isRecord(raw) || raw['beneficiaryType'] !== 'BUSINESS' || raw['businessInfo'] !== undefined) return raw
    const { legalName, taxId, registrationNumber, ...rest } = raw
    return { ...rest, businessInfo: { legalName, taxId, registrationNumber } }
  },
  z.discriminatedUnion('beneficiaryType', [individual, business]),
)

/** Spec silent: a beneficiary is checked when given and may be absent. */
const fiat = { bankName: text(100).optional(), beneficiary: beneficiary.optional() }

const usAccount = z.object({
  accountType: z.literal('US_ACCOUNT'),
  accountNumber: shaped(/^\d{4,17}$/, '4 to 17 digits'),
  routingNumber: shaped(/^\d{9}$/, '9 digits'),
  accountCategory: z.enum(['CHECKING', 'SAVINGS']),
  ...fiat,
})

const clabe = z.object({ accountType: z.literal('CLABE'), clabeNumber: shaped(/^\d{18}$/, '18 digits'), ...fiat })

const pix = z.object({
  accountType: z.literal('PIX'),
  pixKey: text(100),
  pixKeyType: z.enum(['CPF', 'CNPJ', 'EMAIL', 'PHONE', 'RANDOM']),
  ...fiat,
})

const iban = z.object({
  accountType: z.literal('IBAN'),
  iban: z
    .string()
    .max(60)
    .transform((value) => value.replace(/\s/g, '').toUpperCase())
    .refine((value) => /^[A-Z]{2}\d{2}[A-Z0-9]{11,30}$/.test(value), bank('expected an IBAN of 15 to 34 characters')),
  swiftBic: shaped(/^[A-Z]{6}[A-Z0-9]{2}([A-Z0-9]{3})?$/, 'a BIC of 8 or 11 characters').optional(),
  ...fiat,
})

const upi = z.object({
  accountType: z.literal('UPI'),
  vpa: shaped(/^[a-zA-Z0-9._-]{2,100}@[a-zA-Z][a-zA-Z0-9.-]{1,60}$/, 'a UPI address such as name@bank'),
  ...fiat,
})

function wallet<Type extends string>(accountType: Type, pattern: RegExp, expected: string) {
  return z.object({ accountType: z.literal(accountType), address: shaped(pattern, expected) })
}

const account = z.discriminatedUnion('accountType', [
  usAccount,
  clabe,
  pix,
  iban,
  upi,
  wallet('SPARK_WALLET', /^spark1[a-zA-Z0-9]{8,120}$/i, 'an address that starts with spark1'),
  // Not base58 to the letter: the sandbox's magic endings contain a zero.
  wallet('SOLANA_WALLET', /^[0-9A-Za-z]{32,44}$/, 'a Solana address'),
  wallet('TRON_WALLET', /^T[0-9A-Za-z]{33}$/, 'a Tron address'),
  wallet('POLYGON_WALLET', /^0x[0-9a-fA-F]{40}$/, 'an address of 0x and 40 hex digits'),
  wallet('BASE_WALLET', /^0x[0-9a-fA-F]{40}$/, 'an address of 0x and 40 hex digits'),
])

export type AccountInfo = z.output<typeof account>

export const accountTypes = account.options.map((option) => option.shape.accountType.value)

/** Later names of the same types. */
const aliases: Readonly<Record<string, AccountInfo['accountType']>> = {
  USD_ACCOUNT: 'US_ACCOUNT',
  MXN_ACCOUNT: 'CLABE',
  BRL_ACCOUNT: 'PIX',
  EUR_ACCOUNT: 'IBAN',
  DKK_ACCOUNT: 'IBAN',
  IBAN_ACCOUNT: 'IBAN',
  INR_ACCOUNT: 'UPI',
}

export const accountInfo = z.preprocess((raw) => {
  if (!isRecord(raw)) return raw
  const alias = typeof raw['accountType'] === 'string' ? aliases[raw['accountType']] : undefined
  if (alias === undefined) return raw
  // The later form of a US account has no category.
  const category = alias === 'US_ACCOUNT' && raw['accountCategory'] === undefined ? { accountCategory: 'CHECKING' } : {}
  return { ...raw, ...category, accountType: alias }
}, account)

const currenciesOf: Readonly<Record<AccountInfo['accountType'], readonly string[]>> = {
  US_ACCOUNT: ['USD'],
  CLABE: ['MXN'],
  PIX: ['BRL'],
  IBAN: ['EUR', 'DKK', 'GBP'],
  UPI: ['INR'],
  SPARK_WALLET: ['BTC', 'USDB'],
  SOLANA_WALLET: ['USDC', 'USDT'],
  TRON_WALLET: ['USDT'],
  POLYGON_WALLET: ['USDC'],
  BASE_WALLET: ['USDC'],
}

/** Refuses INVALID_CURRENCY when an account of this type cannot hold the currency. */
export function requireCurrencyOfType(info: AccountInfo, currency: string, at = ''): void {
  const possible = currenciesOf[info.accountType]
  if (possible.includes(currency)) return
  throw new DomainError(
    'INVALID_CURRENCY',
    `${at}currency: an account of type ${info.accountType} holds ${possible.join(' or ')}`,
    {
      field: `${at}currency`,
      value: currency,
    },
  )
}

/** What the account is known by at its bank. */
export function primaryIdentifier(info: AccountInfo): string {
  switch (info.accountType) {
    case 'US_ACCOUNT':
      return info.accountNumber
    case 'CLABE':
      return info.clabeNumber
    case 'PIX':
      return info.pixKey
    case 'IBAN':
      return info.iban
    case 'UPI':
      return info.vpa
    default:
      return info.address
  }
}

/** What tells two accounts apart: the primary identifier, and whose it is where that alone does not say. */
export function distinguishingParts(info: AccountInfo): string[] {
  const more = info.accountType === 'US_ACCOUNT' ? [info.routingNumber] : []
  return [info.accountType, primaryIdentifier(info), ...more]
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
