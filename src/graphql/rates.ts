import { listUmaProviders, type UmaProvider } from '../core/lookups/uma-providers.ts'
import { type ExchangeRate, listExchangeRates } from '../core/rates/exchange-rates.ts'
import { builder } from './builder.ts'
import { connectionOf, pageArgs, pageComplexity, wayOf } from './connection.ts'
import { askCore } from './context.ts'
import { CurrencyRef, MoneyRef } from './money.ts'

const ExchangeRateRef = builder.objectRef<ExchangeRate>('ExchangeRate').implement({
  description: 'What exchanging costs just now: indicative, remembered for five minutes. A quote locks one.',
  fields: (t) => ({
    sourceCurrency: t.expose('sourceCurrency', { type: CurrencyRef, description: 'What is sent.' }),
    destinationCurrency: t.expose('destinationCurrency', { type: CurrencyRef, description: 'What arrives.' }),
    destinationPaymentRail: t.exposeString('destinationPaymentRail', { description: 'How it arrives.' }),
    exchangeRate: t.exposeFloat('exchangeRate', {
      description: 'Units of the source currency per unit of the destination currency.',
    }),
    sendingAmount: t.field({
      type: MoneyRef,
      description: 'The amount that was asked about.',
      resolve: ({ sendingAmount, sourceCurrency }) => ({ amount: sendingAmount, currency: sourceCurrency }),
    }),
    receivingAmount: t.field({
      type: MoneyRef,
      description: 'What it comes to, before fees.',
      resolve: ({ receivingAmount, destinationCurrency }) => ({ amount: receivingAmount, currency: destinationCurrency }),
    }),
    minSendingAmount: t.field({
      type: MoneyRef,
      description: 'The least that can be sent at a time.',
      resolve: ({ minSendingAmount, sourceCurrency }) => ({ amount: minSendingAmount, currency: sourceCurrency }),
    }),
    maxSendingAmount: t.field({
      type: MoneyRef,
      description: 'The most that can be sent at a time.',
      resolve: ({ maxSendingAmount, sourceCurrency }) => ({ amount: maxSendingAmount, currency: sourceCurrency }),
    }),
    fixedFees: t.field({
      type: MoneyRef,
      description: 'The fees that do not depend on the amount.',
      resolve: ({ fees, sourceCurrency }) => ({ amount: fees.fixed, currency: sourceCurrency }),
    }),
    totalFees: t.field({
      type: MoneyRef,
      description: 'All fees of this amount.',
      resolve: ({ fees, sourceCurrency }) => ({ amount: fees.total, currency: sourceCurrency }),
    }),
    updatedAt: t.expose('updatedAt', { type: 'DateTime', description: 'Since when it has been remembered.' }),
  }),
})

builder.queryField('exchangeRates', (t) =>
  t.field({
    type: [ExchangeRateRef],
    description: 'What exchanging costs just now, between currencies of the platform.',
    args: {
      sourceCurrency: t.arg.string({ description: 'From this one only.' }),
      destinationCurrencies: t.arg.stringList({ description: 'To these only.' }),
      sendingAmount: t.arg({
        type: 'Int64',
        description: 'Of the source currency, in its smallest unit; 10000 unless said otherwise.',
      }),
    },
    resolve: async (_root, { destinationCurrencies, ...asked }, context) =>
      (await askCore(context, listExchangeRates, { ...asked, destinationCurrency: destinationCurrencies })).data,
  }),
)

const UmaProviderRef = builder.objectRef<UmaProvider>('UmaProvider').implement({
  description: 'Somebody whose UMA addresses can be paid.',
  fields: (t) => ({
    name: t.exposeString('name', { description: 'Its name.' }),
    domain: t.exposeString('domain', { description: 'What its addresses end in.' }),
    supportedRegions: t.exposeStringList('supportedRegions', { description: 'ISO 3166-1 alpha-2 codes.' }),
    supportedCurrencies: t.expose('supportedCurrencies', { type: [CurrencyRef], description: 'What its addresses can receive.' }),
    isAllowed: t.exposeBoolean('allowListStatus', { description: 'Whether the platform may pay there.' }),
  }),
})

const UmaProviderConnection = builder.connectionObject(
  { type: UmaProviderRef, name: 'UmaProviderConnection', description: 'A page of providers.' },
  { name: 'UmaProviderEdge', description: 'A provider in a list.' },
)

builder.queryField('umaProviders', (t) =>
  t.field({
    type: UmaProviderConnection,
    description: 'The other providers of UMA addresses, by domain.',
    args: {
      ...pageArgs,
      countryCode: t.arg.string({ description: 'In this country only: ISO 3166-1 alpha-2.' }),
      currencyCode: t.arg.string({ description: 'That receive this currency only.' }),
    },
    complexity: pageComplexity,
    async resolve(_root, { first, after, ...filters }, context) {
      const way = wayOf({ first, after })
      const page = await askCore(context, listUmaProviders, { ...filters, limit: way.limit, cursor: way.cursor })
      const cursorOf = ({ domain }: UmaProvider) => Buffer.from(domain).toString('base64url')
      return connectionOf(page, cursorOf, way, async () => page.totalCount)
    },
  }),
)
