/** What identifies an external account, by its kind: as it is shown, and as it is given. */
import type { AccountInfo } from '../../core/accounts/account-info.ts'
import { builder } from '../builder.ts'
import { AddressInput, AddressRef, BusinessInfoInput, BusinessInfoRef } from '../people.ts'

type Bank = Extract<AccountInfo, { beneficiary?: unknown }>
type Beneficiary = NonNullable<Bank['beneficiary']>
type Individual = Extract<Beneficiary, { beneficiaryType: 'INDIVIDUAL' }>
type Business = Extract<Beneficiary, { beneficiaryType: 'BUSINESS' }>
type Of<Type extends AccountInfo['accountType']> = Extract<AccountInfo, { accountType: Type }>

const IndividualBeneficiaryRef = builder.objectRef<Individual>('IndividualBeneficiary').implement({
  description: 'A person who owns an external account.',
  fields: (t) => ({
    fullName: t.exposeString('fullName', { description: 'Full name.' }),
    birthDate: t.expose('birthDate', {
      type: 'Date',
      nullable: true,
      description: 'Date of birth.',
    }),
    nationality: t.exposeString('nationality', { nullable: true, description: 'ISO 3166-1 alpha-2 code.' }),
    address: t.expose('address', {
      type: AddressRef,
      nullable: true,
      description: 'Postal address.',
    }),
  }),
})

const BusinessBeneficiaryRef = builder.objectRef<Business>('BusinessBeneficiary').implement({
  description: 'A company that owns an external account.',
  fields: (t) => ({
    businessInfo: t.expose('businessInfo', { type: BusinessInfoRef, description: 'What identifies it.' }),
    address: t.expose('address', {
      type: AddressRef,
      nullable: true,
      description: 'Postal address.',
    }),
  }),
})

const BeneficiaryRef = builder.unionType('Beneficiary', {
  description: 'Who owns an external account.',
  types: [IndividualBeneficiaryRef, BusinessBeneficiaryRef],
  resolveType: ({ beneficiaryType }) => (beneficiaryType === 'INDIVIDUAL' ? 'IndividualBeneficiary' : 'BusinessBeneficiary'),
})

const BankAccountRef = builder.interfaceRef<Bank>('BankAccountInfo').implement({
  description: 'What accounts at banks have in common, whatever the country.',
  fields: (t) => ({
    bankName: t.exposeString('bankName', { nullable: true, description: 'The bank.' }),
    beneficiary: t.expose('beneficiary', { type: BeneficiaryRef, nullable: true, description: 'Who owns it.' }),
  }),
})

const UsAccountRef = builder.objectRef<Of<'US_ACCOUNT'>>('UsAccountInfo').implement({
  interfaces: [BankAccountRef],
  description: 'An account at a bank in the United States.',
  fields: (t) => ({
    accountNumber: t.exposeString('accountNumber', { description: 'Account number.' }),
    routingNumber: t.exposeString('routingNumber', { description: 'Routing number, 9 digits.' }),
    accountCategory: t.exposeString('accountCategory', { description: 'CHECKING or SAVINGS.' }),
  }),
})

const ClabeRef = builder.objectRef<Of<'CLABE'>>('ClabeAccountInfo').implement({
  interfaces: [BankAccountRef],
  description: 'An account at a bank in Mexico.',
  fields: (t) => ({
    clabeNumber: t.exposeString('clabeNumber', { description: 'CLABE, 18 digits.' }),
  }),
})

const PixRef = builder.objectRef<Of<'PIX'>>('PixAccountInfo').implement({
  interfaces: [BankAccountRef],
  description: 'An account in Brazil, by its Pix key.',
  fields: (t) => ({
    pixKey: t.exposeString('pixKey', { description: 'The key.' }),
    pixKeyType: t.exposeString('pixKeyType', { description: 'CPF, CNPJ, EMAIL, PHONE or RANDOM.' }),
  }),
})

const IbanRef = builder.objectRef<Of<'IBAN'>>('IbanAccountInfo').implement({
  interfaces: [BankAccountRef],
  description: 'An account with an international bank account number.',
  fields: (t) => ({
    iban: t.exposeString('iban', { description: 'The number, without spaces.' }),
    swiftBic: t.exposeString('swiftBic', { nullable: true, description: 'Bank identifier code.' }),
  }),
})

const UpiRef = builder.objectRef<Of<'UPI'>>('UpiAccountInfo').implement({
  interfaces: [BankAccountRef],
  description: 'An account in India, by its UPI address.',
  fields: (t) => ({
    vpa: t.exposeString('vpa', { description: 'The address: `name@bank`.' }),
  }),
})

type Wallet = Exclude<AccountInfo, Bank>

const WalletRef = builder.objectRef<Wallet>('WalletAccountInfo').implement({
  description: 'A self-custody wallet.',
  fields: (t) => ({
    accountType: t.exposeString('accountType', {
      description: 'SPARK_WALLET, SOLANA_WALLET, TRON_WALLET, POLYGON_WALLET or BASE_WALLET.',
    }),
    address: t.exposeString('address', { description: 'Its address.' }),
  }),
})

const infoTypes = {
  US_ACCOUNT: UsAccountRef,
  CLABE: ClabeRef,
  PIX: PixRef,
  IBAN: IbanRef,
  UPI: UpiRef,
  SPARK_WALLET: WalletRef,
  SOLANA_WALLET: WalletRef,
  TRON_WALLET: WalletRef,
  POLYGON_WALLET: WalletRef,
  BASE_WALLET: WalletRef,
} satisfies Record<AccountInfo['accountType'], unknown>

export const AccountInfoRef = builder.unionType('ExternalAccountInfo', {
  description: 'What identifies an external account, by its kind.',
  types: [UsAccountRef, ClabeRef, PixRef, IbanRef, UpiRef, WalletRef],
  resolveType: ({ accountType }) => infoTypes[accountType].name,
})

const IndividualBeneficiaryInput = builder.inputType('IndividualBeneficiaryInput', {
  description: 'A person who owns the account.',
  fields: (t) => ({
    fullName: t.string({ required: true, description: 'Full name.' }),
    birthDate: t.field({ type: 'Date', description: 'Date of birth.' }),
    nationality: t.string({ description: 'ISO 3166-1 alpha-2 code.' }),
    address: t.field({ type: AddressInput, description: 'Postal address.' }),
  }),
})

const BusinessBeneficiaryInput = builder.inputType('BusinessBeneficiaryInput', {
  description: 'A company that owns the account.',
  fields: (t) => ({
    businessInfo: t.field({ type: BusinessInfoInput, required: true, description: 'What identifies it.' }),
    address: t.field({ type: AddressInput, description: 'Postal address.' }),
  }),
})

const BeneficiaryInput = builder.inputType('BeneficiaryInput', {
  description: 'Who owns the account: exactly one of these.',
  isOneOf: true,
  fields: (t) => ({
    individual: t.field({ type: IndividualBeneficiaryInput, description: 'A person.' }),
    business: t.field({ type: BusinessBeneficiaryInput, description: 'A company.' }),
  }),
})

const UsAccountInput = builder.inputType('UsAccountInput', {
  description: 'An account at a bank in the United States.',
  fields: (t) => ({
    accountNumber: t.string({ required: true, description: '4 to 17 digits.' }),
    routingNumber: t.string({ required: true, description: '9 digits.' }),
    accountCategory: t.string({ required: true, description: 'CHECKING or SAVINGS.' }),
    bankName: t.string({ description: 'The bank.' }),
    beneficiary: t.field({ type: BeneficiaryInput, description: 'Who owns it.' }),
  }),
})

const ClabeInput = builder.inputType('ClabeAccountInput', {
  description: 'An account at a bank in Mexico.',
  fields: (t) => ({
    clabeNumber: t.string({ required: true, description: '18 digits.' }),
    bankName: t.string({ description: 'The bank.' }),
    beneficiary: t.field({ type: BeneficiaryInput, description: 'Who owns it.' }),
  }),
})

const PixInput = builder.inputType('PixAccountInput', {
  description: 'An account in Brazil, by its Pix key.',
  fields: (t) => ({
    pixKey: t.string({ required: true, description: 'The key.' }),
    pixKeyType: t.string({ required: true, description: 'CPF, CNPJ, EMAIL, PHONE or RANDOM.' }),
    bankName: t.string({ description: 'The bank.' }),
    beneficiary: t.field({ type: BeneficiaryInput, description: 'Who owns it.' }),
  }),
})

const IbanInput = builder.inputType('IbanAccountInput', {
  description: 'An account with an international bank account number.',
  fields: (t) => ({
    iban: t.string({ required: true, description: '15 to 34 characters; spaces are ignored.' }),
    swiftBic: t.string({ description: '8 or 11 characters.' }),
    bankName: t.string({ description: 'The bank.' }),
    beneficiary: t.field({ type: BeneficiaryInput, description: 'Who owns it.' }),
  }),
})

const UpiInput = builder.inputType('UpiAccountInput', {
  description: 'An account in India, by its UPI address.',
  fields: (t) => ({
    vpa: t.string({ required: true, description: '`name@bank`' }),
    bankName: t.string({ description: 'The bank.' }),
    beneficiary: t.field({ type: BeneficiaryInput, description: 'Who owns it.' }),
  }),
})

const WalletInput = builder.inputType('WalletInput', {
  description: 'A self-custody wallet.',
  fields: (t) => ({ address: t.string({ required: true, description: 'Its address.' }) }),
})

export const ExternalAccountInfoInput = builder.inputType('ExternalAccountInfoInput', {
  description: 'What identifies the account: exactly one of these.',
  isOneOf: true,
  fields: (t) => ({
    usAccount: t.field({ type: UsAccountInput, description: 'United States; USD.' }),
    clabe: t.field({ type: ClabeInput, description: 'Mexico; MXN.' }),
    pix: t.field({ type: PixInput, description: 'Brazil; BRL.' }),
    iban: t.field({ type: IbanInput, description: 'IBAN countries; EUR, GBP or DKK.' }),
    upi: t.field({ type: UpiInput, description: 'India; INR.' }),
    sparkWallet: t.field({ type: WalletInput, description: 'Spark; BTC or USDB.' }),
    solanaWallet: t.field({ type: WalletInput, description: 'Solana; USDC or USDT.' }),
    tronWallet: t.field({ type: WalletInput, description: 'Tron; USDT.' }),
    polygonWallet: t.field({ type: WalletInput, description: 'Polygon; USDC.' }),
    baseWallet: t.field({ type: WalletInput, description: 'Base; USDC.' }),
  }),
})

const accountTypeOfField: Record<string, AccountInfo['accountType']> = {
  usAccount: 'US_ACCOUNT',
  clabe: 'CLABE',
  pix: 'PIX',
  iban: 'IBAN',
  upi: 'UPI',
  sparkWallet: 'SPARK_WALLET',
  solanaWallet: 'SOLANA_WALLET',
  tronWallet: 'TRON_WALLET',
  polygonWallet: 'POLYGON_WALLET',
  baseWallet: 'BASE_WALLET',
}

/** `{ clabe: { … } }` as the operations read it: `{ accountType: 'CLABE', … }`. */
export function toAccountInfo(input: object): object {
  const [field, info] = theOne(input)
  const beneficiary = Reflect.get(info, 'beneficiary') as object | null | undefined
  return { accountType: accountTypeOfField[field], ...info, ...(beneficiary ? { beneficiary: toBeneficiary(beneficiary) } : {}) }
}

function toBeneficiary(input: object): object {
  const [field, owner] = theOne(input)
  return { beneficiaryType: field.toUpperCase(), ...owner }
}

/** The field of a one-of input that was given. */
function theOne(input: object): [string, object] {
  return Object.entries(input).find(([, value]) => value !== undefined) as [string, object]
}
