import { type LookupReply, lookUpExternalAccount, lookUpUmaAddress } from '../core/lookups/lookup.ts'
import { builder } from './builder.ts'
import { addMutation, idempotencyKeyDescription } from './error.ts'
import { CurrencyRef, MoneyRef } from './money.ts'

type Receivable = LookupReply['supportedCurrencies'][number]

const ReceivableCurrencyRef = builder.objectRef<Receivable>('ReceivableCurrency').implement({
  description: 'A currency that a receiver takes.',
  fields: (t) => ({
    currency: t.expose('currency', { type: CurrencyRef, description: 'The currency.' }),
    estimatedExchangeRate: t.exposeFloat('estimatedExchangeRate', {
      description: "Units of it per unit of the platform's first currency: indicative, not locked.",
    }),
    min: t.field({
      type: MoneyRef,
      description: 'The least that can arrive.',
      resolve: ({ min, currency }) => ({ amount: min, currency }),
    }),
    max: t.field({
      type: MoneyRef,
      description: 'The most that can arrive.',
      resolve: ({ max, currency }) => ({ amount: max, currency }),
    }),
  }),
})

const PayerFieldRef = builder.objectRef<LookupReply['requiredPayerDataFields'][number]>('PayerDataField').implement({
  description: "Something the receiver's provider wants to know about who pays.",
  fields: (t) => ({
    name: t.exposeString('name', { description: 'FULL_NAME, BIRTH_DATE and so on.' }),
    mandatory: t.exposeBoolean('mandatory', { description: 'Whether a quote is refused without it.' }),
  }),
})

const LookupRef = builder.objectRef<LookupReply>('Lookup').implement({
  description: 'A receiver that was looked up.',
  fields: (t) => ({
    lookupId: t.exposeID('lookupId', { description: '`Lookup:<uuid>`: name it in createQuote.' }),
    receiverUmaAddress: t.exposeString('receiverUmaAddress', {
      nullable: true,
      description: 'The UMA address, where it is one.',
    }),
    accountId: t.exposeID('accountId', { nullable: true, description: 'The external account, where it is one.' }),
    supportedCurrencies: t.expose('supportedCurrencies', {
      type: [ReceivableCurrencyRef],
      description: 'What the receiver takes; the preferred currency first.',
    }),
    requiredPayerDataFields: t.expose('requiredPayerDataFields', {
      type: [PayerFieldRef],
      description: 'What must or may be told about who pays.',
    }),
  }),
})

const toLookup = {
  field: 'lookup',
  type: LookupRef,
  description: 'The receiver.',
  of: (lookup: LookupReply) => lookup,
}

addMutation('lookUpUmaAddress', {
  description: 'Looks up who stands behind a UMA address, before paying them.',
  operation: lookUpUmaAddress,
  input: builder.inputType('LookUpUmaAddressInput', {
    description: 'A receiver by UMA address.',
    fields: (t) => ({
      receiverUmaAddress: t.string({ required: true, description: '`$name@domain`' }),
      idempotencyKey: t.string({ description: idempotencyKeyDescription }),
    }),
  }),
  result: toLookup,
})

addMutation('lookUpExternalAccount', {
  description: 'Looks up what an external account can receive, before paying it.',
  operation: lookUpExternalAccount,
  input: builder.inputType('LookUpExternalAccountInput', {
    description: 'A receiver by account.',
    fields: (t) => ({
      accountId: t.id({ required: true, description: '`ExternalAccount:<uuid>`' }),
      idempotencyKey: t.string({ description: idempotencyKeyDescription }),
    }),
  }),
  result: toLookup,
})
