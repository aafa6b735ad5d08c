import type { Currency } from '../base/currency.ts'
import { displayAmount } from '../base/money.ts'
import type { PaymentInstruction } from '../core/accounts/funding-instructions.ts'
import type { Transaction } from '../core/transactions/transaction.ts'
import { builder } from './builder.ts'

export interface Money {
  /** From a stored payload it may be a number. */
  amount: bigint | number
  currency: Currency
}

export const CurrencyRef = builder.objectRef<Currency>('Currency').implement({
  description: 'A currency or asset.',
  fields: (t) => ({
    code: t.exposeString('code', { description: 'ISO 4217 code, or an asset code such as USDC.' }),
    name: t.exposeString('name', { description: 'Its name in English.' }),
    symbol: t.exposeString('symbol', { description: 'The sign people write beside amounts.' }),
    decimals: t.exposeInt('decimals', { description: 'Decimal places: one unit is 10^decimals of the smallest unit.' }),
  }),
})

export const MoneyRef = builder.objectRef<Money>('CurrencyAmount').implement({
  description: 'An amount of money.',
  fields: (t) => ({
    amount: t.expose('amount', {
      type: 'Int64',
      description: 'In the smallest unit of the currency (cents, centavos, satoshis).',
    }),
    currency: t.expose('currency', { type: CurrencyRef, description: 'The currency of the amount.' }),
    display: t.string({
      description: 'The amount in whole units, with all decimals: `1234.56`.',
      resolve: ({ amount, currency }) => displayAmount(BigInt(amount), currency.decimals),
    }),
  }),
})

type RateDetails = NonNullable<Transaction['rateDetails']>

export const RateDetailsRef = builder.objectRef<RateDetails>('RateDetails').implement({
  description: 'How the rate and the fees are made up. Multipliers convert by way of millisatoshis (a thousandth of a satoshi).',
  fields: (t) => ({
    counterpartyMultiplier: t.exposeFloat('counterpartyMultiplier', {
      nullable: true,
      description: 'Smallest receiving units per millisatoshi.',
    }),
    counterpartyFixedFee: t.expose('counterpartyFixedFee', {
      type: 'Int64',
      nullable: true,
      description: "The counterparty's fixed fee, in the smallest unit of the receiving currency.",
    }),
    serviceApiMultiplier: t.exposeFloat('serviceApiMultiplier', {
      nullable: true,
      description: 'Millisatoshis per smallest sending unit, the variable fee already taken off.',
    }),
    serviceApiFixedFee: t.expose('serviceApiFixedFee', {
      type: 'Int64',
      nullable: true,
      description: "The service's fixed fee, in the smallest unit of the sending currency.",
    }),
    serviceApiVariableFeeRate: t.exposeFloat('serviceApiVariableFeeRate', {
      nullable: true,
      description: "The service's variable fee as a fraction: 0.003 is 0.3 %.",
    }),
    serviceApiVariableFeeAmount: t.expose('serviceApiVariableFeeAmount', {
      type: 'Int64',
      nullable: true,
      description: 'What the variable fee comes to, in the smallest unit of the sending currency.',
    }),
  }),
})

type Info = PaymentInstruction['accountOrWalletInfo']

const optional = [
  ['accountNumber', 'Account number.'],
  ['routingNumber', 'Routing number, 9 digits.'],
  ['iban', 'International bank account number.'],
  ['swiftBic', 'Bank identifier code.'],
  ['clabeNumber', 'CLABE, 18 digits.'],
  ['pixKey', 'Pix key.'],
  ['pixKeyType', 'What kind of Pix key it is.'],
  ['vpa', 'UPI address.'],
  ['address', 'Wallet address.'],
  ['assetType', 'The asset the wallet takes.'],
  ['invoice', 'Lightning invoice.'],
  ['accountHolderName', 'Whose account it is.'],
  ['bankName', 'The bank it is at.'],
  ['reference', 'The reference the payment must carry.'],
] as const satisfies readonly (readonly [keyof Info, string])[]

const AccountOrWalletInfoRef = builder.objectRef<Info>('AccountOrWalletInfo').implement({
  description: 'A bank account or wallet to push money to. Which fields are there depends on accountType.',
  fields: (t) => ({
    accountType: t.exposeString('accountType', { description: 'US_ACCOUNT, IBAN, SPARK_WALLET and so on.' }),
    ...Object.fromEntries(
      optional.map(([field, description]) => [
        field,
        t.string({ nullable: true, description, resolve: (info) => info[field] ?? null }),
      ]),
    ),
  }),
})

export const PaymentInstructionRef = builder.objectRef<PaymentInstruction>('PaymentInstruction').implement({
  description: 'One way to push money so that it arrives where it should.',
  fields: (t) => ({
    accountType: t.exposeString('accountType', { description: 'Which rail it is: US_ACCOUNT, IBAN, SPARK_WALLET and so on.' }),
    reference: t.exposeString('reference', { description: 'The reference the payment must carry.' }),
    instructionsNotes: t.exposeString('instructionsNotes', { description: 'What to mind, in words.' }),
    accountOrWalletInfo: t.expose('accountOrWalletInfo', {
      type: AccountOrWalletInfoRef,
      description: 'Where to push the money.',
    }),
  }),
})
