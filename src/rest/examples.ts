/**
 * Requests that work, in the order in which they do: the reference shows them, and a test plays them from the first to the last. Their ids
 * stand for those that the answers bring.
 */
import type { Json } from '../base/json.ts'

export interface Example {
  /** Operation id of its endpoint. */
  of: string
  /** What is particular about it, where an endpoint has several. */
  says?: string
  path?: Readonly<Record<string, string>>
  query?: Readonly<Record<string, string | number | readonly string[]>>
  body?: Json
  /** Text of the file that is uploaded. */
  file?: string
  /** Ids that it brings: where each stands in the answer. */
  brings?: Readonly<Record<string, string>>
}

const id = (type: string, number: number) => `${type}:0190b2f4-7a60-7000-8000-${String(number).padStart(12, '0')}`

const ada = id('Customer', 1)
const company = id('Customer', 2)
const dollars = id('InternalAccount', 1)
const iban = id('ExternalAccount', 1)
const bank = id('ExternalAccount', 2)
const own = id('ExternalAccount', 3)
const token = id('Token', 1)
const viewer = id('ViewerToken', 1)
const job = id('Job', 1)
const webhook = id('Webhook', 1)
const [quote, pushed, abandoned] = [id('Quote', 1), id('Quote', 2), id('Quote', 3)]
const [approved, rejected, cancelled, paid] = [1, 2, 3, 4].map((number) => id('Transaction', number)) as [
  string,
  string,
  string,
  string,
]
const address = { line1: '12 Analytical Way', city: 'London', postalCode: 'W1 1AA', country: 'GB' }
const person = { beneficiaryType: 'INDIVIDUAL', fullName: 'Grace Hopper' }
const adasUma = '$ada.lovelace@demo.sandbox.uma.localhost'

export const webhookEndpoint = 'https://platform.example/webhooks'

export const examples: readonly Example[] = [
  { of: 'getConfiguration' },
  { of: 'updateConfiguration', body: { webhookEndpoint } },
  { of: 'createToken', body: { name: 'Reporting', permissions: ['VIEW'] }, brings: { [token]: 'id' } },
  { of: 'listTokens', query: { limit: 20 } },
  { of: 'getToken', path: { tokenId: token } },
  { of: 'deleteToken', path: { tokenId: token } },

  {
    of: 'createCustomer',
    says: 'A person',
    body: {
      platformCustomerId: 'customer-17',
      customerType: 'INDIVIDUAL',
      umaAddress: adasUma,
      fullName: 'Ada Lovelace',
      birthDate: '1990-12-10',
      nationality: 'GB',
      address,
    },
    brings: { [ada]: 'id' },
  },
  {
    of: 'createCustomer',
    says: 'A company',
    body: { platformCustomerId: 'customer-18', customerType: 'BUSINESS', businessInfo: { legalName: 'Engines Ltd' } },
    brings: { [company]: 'id' },
  },
  { of: 'listCustomers', query: { customerType: 'INDIVIDUAL', limit: 20 } },
  { of: 'getCustomer', path: { customerId: ada } },
  {
    of: 'createViewerToken',
    body: { customerId: ada, permissions: ['VIEW'], expiresInSeconds: 900 },
    brings: { [viewer]: 'id' },
  },
  { of: 'listViewerTokens', query: { customerId: ada, limit: 20 } },
  { of: 'deleteViewerToken', path: { viewerTokenId: viewer } },
  { of: 'updateCustomer', path: { customerId: ada }, body: { address: { ...address, line1: '14 Analytical Way' } } },
  { of: 'deleteCustomer', path: { customerId: company } },
  {
    of: 'createKycLink',
    query: { platformCustomerId: 'customer-19', redirectUri: 'https://platform.example/verified' },
  },

  {
    of: 'uploadCustomers',
    file: 'umaAddress,platformCustomerId,customerType,fullName,birthDate,addressLine1,city,state,postalCode,country\n,customer-20,INDIVIDUAL,Alan Turing,1992-06-23,2 Warrington Crescent,London,,W9 1ER,GB\n',
    brings: { [job]: 'jobId' },
  },
  { of: 'getBulkJob', path: { jobId: job } },
  {
    of: 'createInvitation',
    says: 'Pay by link',
    body: { inviterUma: adasUma, firstName: 'Bob', amountToSend: 5000, expiresAt: '2030-01-01T00:00:00Z' },
    brings: { '0a1b2c3d': 'code' },
  },
  { of: 'getInvitation', path: { invitationCode: '0a1b2c3d' } },
  { of: 'claimInvitation', path: { invitationCode: '0a1b2c3d' }, body: { inviteeUma: '$bob@elsewhere.example' } },
  { of: 'createInvitation', body: { inviterUma: adasUma }, brings: { '4e5f6a7b': 'code' } },
  { of: 'cancelInvitation', path: { invitationCode: '4e5f6a7b' } },
  {
    of: 'createLinkToken',
    body: { customerId: ada },
    brings: { 'link-sandbox-0190b2f4-7a60-7000-8000-000000000001': 'linkToken' },
  },
  {
    of: 'completeBankLink',
    path: { linkToken: 'link-sandbox-0190b2f4-7a60-7000-8000-000000000001' },
    body: { publicToken: 'public-sandbox-0190b2f4-7a60-7000-8000-000000000001' },
  },

  { of: 'listCustomerInternalAccounts', query: { customerId: ada, currency: 'USD' }, brings: { [dollars]: 'data.0.id' } },
  { of: 'listPlatformInternalAccounts', query: { currency: 'USD' } },
  {
    of: 'createCustomerExternalAccount',
    says: 'An account with an IBAN',
    body: {
      customerId: ada,
      currency: 'EUR',
      accountInfo: { accountType: 'IBAN', iban: 'DE89370400440532013100', bankName: 'Bank', beneficiary: person },
    },
    brings: { [iban]: 'id' },
  },
  {
    of: 'createCustomerExternalAccount',
    says: 'An account in the United States',
    body: {
      customerId: ada,
      currency: 'USD',
      accountInfo: {
        accountType: 'US_ACCOUNT',
        accountNumber: '1234567100',
        routingNumber: '021000021',
        accountCategory: 'CHECKING',
        beneficiary: person,
      },
    },
    brings: { [bank]: 'id' },
  },
  { of: 'listCustomerExternalAccounts', query: { customerId: ada } },
  { of: 'getExternalAccountOfCustomer', path: { externalAccountId: iban } },
  {
    of: 'createPlatformExternalAccount',
    body: {
      currency: 'USDC',
      accountInfo: { accountType: 'SOLANA_WALLET', address: '4Nd1mYQzvhCp5Yk1kXkQ8GQxYwzJ7m9VbT2c3d4e5f6g' },
    },
    brings: { [own]: 'id' },
  },
  { of: 'listPlatformExternalAccounts', query: { currency: 'USDC' } },
  { of: 'getExternalAccountOfPlatform', path: { externalAccountId: own } },
  { of: 'deleteExternalAccountOfPlatform', path: { externalAccountId: own } },

  { of: 'lookUpUmaAddress', path: { receiverUmaAddress: '$success.eur@sandbox.uma.localhost' } },
  { of: 'lookUpExternalAccount', path: { accountId: iban } },
  { of: 'listExchangeRates', query: { sourceCurrency: 'USD', destinationCurrency: ['EUR', 'MXN'], sendingAmount: 10000 } },
  { of: 'listUmaProviders', query: { currencyCode: 'EUR' } },

  { of: 'fundInternalAccount', path: { accountId: dollars }, body: { amount: 1000000 } },
  {
    of: 'createQuote',
    says: 'From a balance to an account with an IBAN',
    body: {
      source: { accountId: dollars },
      destination: { accountId: iban },
      lockedCurrencySide: 'SENDING',
      lockedCurrencyAmount: 100000,
      remittanceInformation: 'Invoice 17',
    },
    brings: { [quote]: 'id', [paid]: 'transactionId' },
  },
  { of: 'listQuotes', query: { status: 'PENDING', limit: 20 } },
  { of: 'getQuote', path: { quoteId: quote } },
  { of: 'executeQuote', path: { quoteId: quote } },
  {
    of: 'createQuote',
    says: 'Pushed just in time, to a UMA address',
    body: {
      source: { sourceType: 'REALTIME_FUNDING', customerId: ada, currency: 'USD' },
      destination: { umaAddress: '$success.eur@sandbox.uma.localhost' },
      lockedCurrencySide: 'RECEIVING',
      lockedCurrencyAmount: 5000,
      senderCustomerInfo: { FULL_NAME: 'Ada Lovelace' },
    },
    brings: { [pushed]: 'id' },
  },
  { of: 'sandboxSend', body: { quoteId: pushed, currencyCode: 'USD' } },
  {
    of: 'createQuote',
    says: 'To an account that is given inline',
    body: {
      source: { accountId: dollars },
      destination: {
        externalAccountDetails: {
          currency: 'MXN',
          accountInfo: { accountType: 'CLABE', clabeNumber: '002010077777777100', beneficiary: person },
        },
      },
      lockedCurrencySide: 'SENDING',
      lockedCurrencyAmount: 100000,
    },
    brings: { [abandoned]: 'id', [cancelled]: 'transactionId' },
  },
  { of: 'cancelTransaction', path: { transactionId: cancelled } },

  {
    of: 'transferOut',
    body: { source: { accountId: dollars }, destination: { accountId: bank }, amount: 12500, remittanceInformation: 'Rent' },
  },
  { of: 'transferIn', body: { source: { accountId: bank }, destination: { accountId: dollars }, amount: 20000 } },
  { of: 'listTransactions', query: { customerId: ada, type: 'OUTGOING', limit: 20 } },
  { of: 'getTransaction', path: { transactionId: paid } },
  {
    of: 'receiveUma',
    body: {
      senderUmaAddress: '$success.usd@sandbox.uma.localhost',
      customerId: ada,
      receivingCurrencyCode: 'USD',
      receivingCurrencyAmount: 2500,
    },
    brings: { [approved]: 'id' },
  },
  { of: 'approveTransaction', path: { transactionId: approved }, body: { receiverUserInfo: { NATIONALITY: 'GB' } } },
  {
    of: 'receiveUma',
    body: {
      senderUmaAddress: '$success.usd@sandbox.uma.localhost',
      receiverUmaAddress: adasUma,
      receivingCurrencyCode: 'USD',
      receivingCurrencyAmount: 3500,
    },
    brings: { [rejected]: 'id' },
  },
  { of: 'rejectTransaction', path: { transactionId: rejected }, body: { reason: 'Not expected' } },

  {
    of: 'listEvents',
    query: { types: ['OUTGOING_PAYMENT', 'INCOMING_PAYMENT'], limit: 20 },
    brings: { cGxhY2UgaW4gdGhlIGxvZw: 'data.0.cursor' },
  },
  { of: 'testWebhook' },
  { of: 'listWebhookKeys' },
  { of: 'rotateWebhookKey', body: { overlapSeconds: 86400 } },
  { of: 'getWebhookHealth' },
  { of: 'listWebhookDeliveries', query: { status: 'DELIVERED', type: 'OUTGOING_PAYMENT' }, brings: { [webhook]: 'data.0.id' } },
  { of: 'getWebhookDelivery', path: { webhookId: webhook } },
  { of: 'redeliverWebhook', path: { webhookId: webhook } },
  { of: 'redeliverWebhooks', body: { after: 'cGxhY2UgaW4gdGhlIGxvZw' } },
  { of: 'deleteExternalAccountOfCustomer', path: { externalAccountId: iban } },
]
