import type { AccountInfo } from '../core/accounts/account-info.ts'
import {
  createCustomerExternalAccount,
  createPlatformExternalAccount,
  type ExternalAccount,
  listCustomerExternalAccounts,
  listPlatformExternalAccounts,
} from '../core/accounts/external.ts'
import { type InternalAccount, listCustomerInternalAccounts, listPlatformInternalAccounts } from '../core/accounts/internal.ts'
import { fundInternalAccount } from '../core/sandbox/fund-internal-account.ts'
import { builder } from './builder.ts'
import { listOf, ownedList, pageArgs, pageComplexity } from './connection.ts'
import { AddressInput, AddressRef, BusinessInfoInput, BusinessInfoRef } from './customers.ts'
import { addMutation, idempotencyKeyDescription } from './error.ts'
import { MoneyRef, PaymentInstructionRef } from './money.ts'
import {
  CustomerRef,
  ExternalAccountConnection,
  ExternalAccountRef,
  InternalAccountConnection,
  InternalAccountRef,
  QuoteConnection,
  TransactionConnection,
} from './refs.ts'

// ── Internal accounts ────────────────────────────────────────────────────────────────────────────────────────────────────────────

builder.node(InternalAccountRef, {
  description: 'A balance in one currency, held by the service for a customer or for the platform.',
  id: { resolve: ({ id }) => id, description: '`InternalAccount:<uuid>`' },
  loadOne: (id: string, { loaders }) => loaders.internalAccount.load(id),
  fields: (t) => ({
    customer: t.field({
      type: CustomerRef,
      nullable: true,
      description: "Whose it is; null for the platform's own.",
      resolve: ({ customerId }, _args, { loaders }) => (customerId === undefined ? null : loaders.customer.load(customerId)),
    }),
    balance: t.expose('balance', { type: MoneyRef, description: 'What is on it now.' }),
    fundingPaymentInstructions: t.expose('fundingPaymentInstructions', {
      type: [PaymentInstructionRef],
      description: 'Where to push money so that it is credited here.',
    }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When it was opened.' }),
    updatedAt: t.expose('updatedAt', { type: 'DateTime', description: 'When the balance last changed.' }),
    quotes: t.field({
      type: QuoteConnection,
      ...ownedList('Quotes paid from this account; newest first.', ({ ofInternalAccount }) => ofInternalAccount.quotes),
    }),
    outgoingTransactions: t.field({
      type: TransactionConnection,
      ...ownedList('Payments from this account; newest first.', ({ ofInternalAccount }) => ofInternalAccount.outgoing),
    }),
    incomingTransactions: t.field({
      type: TransactionConnection,
      ...ownedList('Payments to this account; newest first.', ({ ofInternalAccount }) => ofInternalAccount.incoming),
    }),
  }),
})

builder.queryField('internalAccounts', (t) =>
  t.field({
    type: InternalAccountConnection,
    description: "The customers' internal accounts, newest first.",
    args: {
      ...pageArgs,
      customerId: t.arg.id({ description: 'Of this customer only.' }),
      currency: t.arg.string({ description: 'In this currency only.' }),
    },
    complexity: pageComplexity,
    resolve: (_root, args, context) => listOf(context, listCustomerInternalAccounts, args),
  }),
)

builder.queryField('platformInternalAccounts', (t) =>
  t.field({
    type: InternalAccountConnection,
    description: "The platform's own internal accounts, newest first.",
    args: { ...pageArgs, currency: t.arg.string({ description: 'In this currency only.' }) },
    complexity: pageComplexity,
    resolve: (_root, args, context) => listOf(context, listPlatformInternalAccounts, args),
  }),
)

const FundInput = builder.inputType('FundInternalAccountInput', {
  description: 'Money to appear on an internal account.',
  fields: (t) => ({
    accountId: t.id({ required: true, description: '`InternalAccount:<uuid>`' }),
    amount: t.field({ type: 'Int64', required: true, description: "In the smallest unit of the account's currency." }),
    idempotencyKey: t.string({ description: idempotencyKeyDescription }),
  }),
})

addMutation('fundInternalAccount', {
  description: 'Sandbox only: credits an internal account as if somebody had followed its funding instructions.',
  operation: fundInternalAccount,
  input: FundInput,
  result: {
    field: 'internalAccount',
    type: InternalAccountRef,
    description: 'The account, with its new balance.',
    of: (account: InternalAccount) => account,
  },
})

// ── External accounts ────────────────────────────────────────────────────────────────────────────────────────────────────────────

const ExternalAccountStatus = builder.enumType('ExternalAccountStatus', {
  description: 'Whether an external account may be paid.',
  values: {
    PENDING: { description: 'Created, awaiting verification.' },
    ACTIVE: { description: 'Verified: the only status that is paid.' },
    UNDER_REVIEW: { description: 'Needs another look.' },
    INACTIVE: { description: 'Disabled.' },
  } as const,
})

type Bank = Extract<AccountInfo, { beneficiary?: unknown }>
type Beneficiary = NonNullable<Bank['beneficiary']>
type Individual = Extract<Beneficiary, { beneficiaryType: 'INDIVIDUAL' }>
type Business = Extract<Beneficiary, { beneficiaryType: 'BUSINESS' }>
type Of<Type extends AccountInfo['accountType']> = Extract<AccountInfo, { accountType: Type }>

const IndividualBeneficiaryRef = builder.objectRef<Individual>('IndividualBeneficiary').implement({
  description: 'A person who owns an external account.',
  fields: (t) => ({
    fullName: t.exposeString('fullName', { description: 'Full name.' }),
    birthDate: t.field({
      type: 'Date',
      nullable: true,
      description: 'Date of birth.',
      resolve: ({ birthDate }) => birthDate ?? null,
    }),
    nationality: t.string({
      nullable: true,
      description: 'ISO 3166-1 alpha-2 code.',
      resolve: ({ nationality }) => nationality ?? null,
    }),
    address: t.field({
      type: AddressRef,
      nullable: true,
      description: 'Postal address.',
      resolve: (owner) => owner.address ?? null,
    }),
  }),
})

const BusinessBeneficiaryRef = builder.objectRef<Business>('BusinessBeneficiary').implement({
  description: 'A company that owns an external account.',
  fields: (t) => ({
    businessInfo: t.expose('businessInfo', { type: BusinessInfoRef, description: 'What identifies it.' }),
    address: t.field({
      type: AddressRef,
      nullable: true,
      description: 'Postal address.',
      resolve: (owner) => owner.address ?? null,
    }),
  }),
})

const BeneficiaryRef = builder.unionType('Beneficiary', {
  description: 'Who owns an external account.',
  types: [IndividualBeneficiaryRef, BusinessBeneficiaryRef],
  resolveType: ({ beneficiaryType }) => (beneficiaryType === 'INDIVIDUAL' ? 'IndividualBeneficiary' : 'BusinessBeneficiary'),
})

const UsAccountRef = builder.objectRef<Of<'US_ACCOUNT'>>('UsAccountInfo').implement({
  description: 'An account at a bank in the United States.',
  fields: (t) => ({
    accountNumber: t.exposeString('accountNumber', { description: 'Account number.' }),
    routingNumber: t.exposeString('routingNumber', { description: 'Routing number, 9 digits.' }),
    accountCategory: t.exposeString('accountCategory', { description: 'CHECKING or SAVINGS.' }),
    bankName: t.string({ nullable: true, description: 'The bank.', resolve: ({ bankName }) => bankName ?? null }),
    beneficiary: t.field({
      type: BeneficiaryRef,
      nullable: true,
      description: 'Who owns it.',
      resolve: (info) => info.beneficiary ?? null,
    }),
  }),
})

const ClabeRef = builder.objectRef<Of<'CLABE'>>('ClabeAccountInfo').implement({
  description: 'An account at a bank in Mexico.',
  fields: (t) => ({
    clabeNumber: t.exposeString('clabeNumber', { description: 'CLABE, 18 digits.' }),
    bankName: t.string({ nullable: true, description: 'The bank.', resolve: ({ bankName }) => bankName ?? null }),
    beneficiary: t.field({
      type: BeneficiaryRef,
      nullable: true,
      description: 'Who owns it.',
      resolve: (info) => info.beneficiary ?? null,
    }),
  }),
})

const PixRef = builder.objectRef<Of<'PIX'>>('PixAccountInfo').implement({
  description: 'An account in Brazil, by its Pix key.',
  fields: (t) => ({
    pixKey: t.exposeString('pixKey', { description: 'The key.' }),
    pixKeyType: t.exposeString('pixKeyType', { description: 'CPF, CNPJ, EMAIL, PHONE or RANDOM.' }),
    bankName: t.string({ nullable: true, description: 'The bank.', resolve: ({ bankName }) => bankName ?? null }),
    beneficiary: t.field({
      type: BeneficiaryRef,
      nullable: true,
      description: 'Who owns it.',
      resolve: (info) => info.beneficiary ?? null,
    }),
  }),
})

const IbanRef = builder.objectRef<Of<'IBAN'>>('IbanAccountInfo').implement({
  description: 'An account with an international bank account number.',
  fields: (t) => ({
    iban: t.exposeString('iban', { description: 'The number, without spaces.' }),
    swiftBic: t.string({ nullable: true, description: 'Bank identifier code.', resolve: ({ swiftBic }) => swiftBic ?? null }),
    bankName: t.string({ nullable: true, description: 'The bank.', resolve: ({ bankName }) => bankName ?? null }),
    beneficiary: t.field({
      type: BeneficiaryRef,
      nullable: true,
      description: 'Who owns it.',
      resolve: (info) => info.beneficiary ?? null,
    }),
  }),
})

const UpiRef = builder.objectRef<Of<'UPI'>>('UpiAccountInfo').implement({
  description: 'An account in India, by its UPI address.',
  fields: (t) => ({
    vpa: t.exposeString('vpa', { description: 'The address: `name@bank`.' }),
    bankName: t.string({ nullable: true, description: 'The bank.', resolve: ({ bankName }) => bankName ?? null }),
    beneficiary: t.field({
      type: BeneficiaryRef,
      nullable: true,
      description: 'Who owns it.',
      resolve: (info) => info.beneficiary ?? null,
    }),
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

const AccountInfoRef = builder.unionType('ExternalAccountInfo', {
  description: 'What identifies an external account, by its kind.',
  types: [UsAccountRef, ClabeRef, PixRef, IbanRef, UpiRef, WalletRef],
  resolveType: ({ accountType }) => infoTypes[accountType].name,
})

builder.node(ExternalAccountRef, {
  description: 'A bank account or wallet outside the service.',
  id: { resolve: ({ id }) => id, description: '`ExternalAccount:<uuid>`' },
  loadOne: (id: string, { loaders }) => loaders.externalAccount.load(id),
  fields: (t) => ({
    customer: t.field({
      type: CustomerRef,
      nullable: true,
      description: "Whose it is; null for the platform's own.",
      resolve: ({ customerId }, _args, { loaders }) => (customerId === undefined ? null : loaders.customer.load(customerId)),
    }),
    status: t.expose('status', { type: ExternalAccountStatus, description: 'Only ACTIVE accounts are paid.' }),
    currency: t.exposeString('currency', { description: 'Code of the currency it holds.' }),
    platformAccountId: t.string({
      nullable: true,
      description: "The platform's own id of the account.",
      resolve: ({ platformAccountId }) => platformAccountId ?? null,
    }),
    defaultUmaDepositAccount: t.exposeBoolean('defaultUmaDepositAccount', { description: 'Incoming UMA payments go here.' }),
    accountInfo: t.expose('accountInfo', { type: AccountInfoRef, description: 'What identifies it.' }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When it was added.' }),
    updatedAt: t.expose('updatedAt', { type: 'DateTime', description: 'When it last changed.' }),
    quotes: t.field({
      type: QuoteConnection,
      ...ownedList('Quotes that pay this account; newest first.', ({ ofExternalAccount }) => ofExternalAccount.quotes),
    }),
    transactions: t.field({
      type: TransactionConnection,
      ...ownedList('Payments to this account; newest first.', ({ ofExternalAccount }) => ofExternalAccount.incoming),
    }),
  }),
})

builder.queryField('externalAccounts', (t) =>
  t.field({
    type: ExternalAccountConnection,
    description: "The customers' external accounts, newest first.",
    args: {
      ...pageArgs,
      customerId: t.arg.id({ description: 'Of this customer only.' }),
      currency: t.arg.string({ description: 'In this currency only.' }),
    },
    complexity: pageComplexity,
    resolve: (_root, args, context) => listOf(context, listCustomerExternalAccounts, args),
  }),
)

builder.queryField('platformExternalAccounts', (t) =>
  t.field({
    type: ExternalAccountConnection,
    description: "The platform's own external accounts, newest first.",
    args: { ...pageArgs, currency: t.arg.string({ description: 'In this currency only.' }) },
    complexity: pageComplexity,
    resolve: (_root, args, context) => listOf(context, listPlatformExternalAccounts, args),
  }),
)

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

const ExternalAccountInfoInput = builder.inputType('ExternalAccountInfoInput', {
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
function toAccountInfo(input: object): object {
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

const CreateExternalAccountInput = builder.inputType('CreateExternalAccountInput', {
  description: 'An external account to add.',
  fields: (t) => ({
    customerId: t.id({ description: "Whose it is; absent, the platform's own." }),
    currency: t.string({ required: true, description: 'Code of the currency it holds.' }),
    accountInfo: t.field({ type: ExternalAccountInfoInput, required: true, description: 'What identifies it.' }),
    platformAccountId: t.string({ description: "The platform's own id of the account." }),
    defaultUmaDepositAccount: t.boolean({
      description: 'Deposit incoming UMA payments here instead of on the internal account.',
    }),
    idempotencyKey: t.string({ description: idempotencyKeyDescription }),
  }),
})

addMutation('createExternalAccount', {
  description: 'Adds a bank account or wallet of a customer.',
  operation: createCustomerExternalAccount,
  input: CreateExternalAccountInput,
  toInput: (input) => ({ ...input, accountInfo: toAccountInfo(input.accountInfo) }),
  result: {
    field: 'externalAccount',
    type: ExternalAccountRef,
    description: 'The account.',
    of: (account: ExternalAccount) => account,
  },
})

const CreatePlatformExternalAccountInput = builder.inputType('CreatePlatformExternalAccountInput', {
  description: "An external account of the platform's own to add.",
  fields: (t) => ({
    currency: t.string({ required: true, description: 'Code of the currency it holds.' }),
    accountInfo: t.field({ type: ExternalAccountInfoInput, required: true, description: 'What identifies it.' }),
    platformAccountId: t.string({ description: "The platform's own id of the account." }),
    idempotencyKey: t.string({ description: idempotencyKeyDescription }),
  }),
})

addMutation('createPlatformExternalAccount', {
  description: "Adds a bank account or wallet of the platform's own.",
  operation: createPlatformExternalAccount,
  input: CreatePlatformExternalAccountInput,
  toInput: (input) => ({ ...input, accountInfo: toAccountInfo(input.accountInfo) }),
  result: {
    field: 'externalAccount',
    type: ExternalAccountRef,
    description: 'The account.',
    of: (account: ExternalAccount) => account,
  },
})
