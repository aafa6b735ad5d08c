import type { z } from 'zod'
import { deleteCustomer, updateCustomer } from '../core/customers/change-customer.ts'
import { createCustomer } from '../core/customers/create-customer.ts'
import { type beneficialOwner, type Customer, kycStatuses } from '../core/customers/customer.ts'
import { createKycLink } from '../core/customers/kyc-link.ts'
import { listCustomers } from '../core/customers/read-customers.ts'
import { maskedFor } from '../core/masked.ts'
import { builder } from './builder.ts'
import { bothWayArgs, listOf, ownedList, pageComplexity } from './connection.ts'
import { addMutation, idempotencyKeyDescription } from './error.ts'
import { AddressInput, AddressRef, BusinessInfoInput, BusinessInfoRef } from './people.ts'
import {
  CustomerConnection,
  CustomerEdge,
  CustomerRef,
  ExternalAccountConnection,
  InternalAccountConnection,
  QuoteConnection,
  TransactionConnection,
} from './refs.ts'

const CustomerType = builder.enumType('CustomerType', {
  description: 'Whether a customer is a person or a company.',
  values: { INDIVIDUAL: { description: 'A person.' }, BUSINESS: { description: 'A company.' } } as const,
})

const KycStatus = builder.enumType('KycStatus', {
  description: 'How far the verification of a customer has come.',
  values: Object.fromEntries(
    kycStatuses.map((status) => [status, { description: status.toLowerCase().replaceAll('_', ' ') }]),
  ) as Record<Customer['kycStatus'], { description: string }>,
})

const BeneficialOwnerRef = builder.objectRef<z.output<typeof beneficialOwner>>('BeneficialOwner').implement({
  description: 'Somebody who owns or controls a business customer.',
  fields: (t) => ({
    fullName: t.exposeString('fullName', { description: 'Full name.' }),
    individualType: t.exposeString('individualType', { description: 'DIRECTOR, CONTROL_PERSON, TRUSTEE and so on.' }),
    percentageOwnership: t.exposeFloat('percentageOwnership', { nullable: true, description: 'Share of the company, 0 to 100.' }),
    title: t.exposeString('title', { nullable: true, description: 'Position in the company.' }),
  }),
})

builder.node(CustomerRef, {
  description: "A customer of the platform. Deleted ones stay, marked as such: their payments' history does too.",
  id: { resolve: ({ id }) => id, description: '`Customer:<uuid>`' },
  loadOne: (id: string, { loaders }) => loaders.customer.load(id),
  fields: (t) => ({
    platformCustomerId: t.exposeString('platformCustomerId', { description: "The platform's own id of the customer." }),
    customerType: t.expose('customerType', { type: CustomerType, description: 'A person or a company.' }),
    umaAddress: t.exposeString('umaAddress', { description: '`$username@domain`' }),
    kycStatus: t.expose('kycStatus', { type: KycStatus, description: 'Only approved customers move money.' }),
    fullName: t.exposeString('fullName', { nullable: true, description: 'Of a person.' }),
    birthDate: t.field({
      type: 'Date',
      nullable: true,
      description: 'Of a person. Not shown to viewer tokens.',
      resolve: ({ birthDate }, _args, { caller }) => maskedFor(caller, { birthDate }).birthDate ?? null,
    }),
    nationality: t.exposeString('nationality', { nullable: true, description: 'Of a person: ISO 3166-1 alpha-2 code.' }),
    email: t.exposeString('email', { nullable: true, description: 'E-mail address.' }),
    address: t.expose('address', {
      type: AddressRef,
      nullable: true,
      description: 'Postal address.',
    }),
    businessInfo: t.field({
      type: BusinessInfoRef,
      nullable: true,
      description: 'Of a company. Viewer tokens are shown the end of its tax number.',
      resolve: ({ businessInfo }, _args, { caller }) => maskedFor(caller, businessInfo) ?? null,
    }),
    beneficialOwners: t.field({
      type: [BeneficialOwnerRef],
      description: 'Of a company: who owns or controls it.',
      resolve: ({ beneficialOwners }, _args, { caller }) => maskedFor(caller, beneficialOwners) ?? [],
    }),
    isDeleted: t.exposeBoolean('isDeleted', { description: 'Deleted customers can no longer move money.' }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When it was created.' }),
    updatedAt: t.expose('updatedAt', { type: 'DateTime', description: 'When it last changed.' }),
    internalAccounts: t.field({
      type: InternalAccountConnection,
      ...ownedList('Balances, one per currency; newest first.', ({ ofCustomer }) => ofCustomer.internalAccounts),
    }),
    externalAccounts: t.field({
      type: ExternalAccountConnection,
      ...ownedList('Bank accounts and wallets; newest first.', ({ ofCustomer }) => ofCustomer.externalAccounts),
    }),
    quotes: t.field({
      type: QuoteConnection,
      ...ownedList('Quotes from the accounts of the customer; newest first.', ({ ofCustomer }) => ofCustomer.quotes),
    }),
    transactions: t.field({
      type: TransactionConnection,
      ...ownedList('Payments of the customer, incoming and outgoing; newest first.', ({ ofCustomer }) => ofCustomer.transactions),
    }),
  }),
})

builder.queryField('customers', (t) =>
  t.field({
    type: CustomerConnection,
    description: 'The customers of the platform, newest first.',
    args: {
      ...bothWayArgs,
      platformCustomerId: t.arg.string({ description: "The platform's own id." }),
      customerType: t.arg({ type: CustomerType, description: 'People or companies only.' }),
      umaAddress: t.arg.string({ description: 'The one with this address.' }),
      createdAfter: t.arg({ type: 'DateTime', description: 'Created at or after this instant.' }),
      createdBefore: t.arg({ type: 'DateTime', description: 'Created at or before this instant.' }),
      isIncludingDeleted: t.arg.boolean({ description: 'Deleted ones too.' }),
    },
    complexity: pageComplexity,
    resolve: (_root, args, context, info) => listOf(context, listCustomers, args, info),
  }),
)

builder.queryField('customer', (t) =>
  t.field({
    type: CustomerRef,
    nullable: true,
    description: 'One customer; null when there is none with this id.',
    args: { id: t.arg.id({ required: true, description: '`Customer:<uuid>`' }) },
    resolve: (_root, { id }, { loaders }) => loaders.customer.load(id),
  }),
)

const BeneficialOwnerInput = builder.inputType('BeneficialOwnerInput', {
  description: 'Somebody who owns or controls a business customer.',
  fields: (t) => ({
    fullName: t.string({ required: true, description: 'Full name.' }),
    individualType: t.string({
      required: true,
      description: 'DIRECTOR, CONTROL_PERSON, BUSINESS_POINT_OF_CONTACT, TRUSTEE, SETTLOR or GENERAL_PARTNER.',
    }),
    emailAddress: t.string({ description: 'E-mail address.' }),
    phoneNumber: t.string({ description: 'E.164: `+15551234567`.' }),
    taxId: t.string({ description: 'Tax number.' }),
    birthDate: t.field({ type: 'Date', description: 'Date of birth.' }),
    nationality: t.string({ description: 'ISO 3166-1 alpha-2 code.' }),
    address: t.field({ type: AddressInput, description: 'Postal address.' }),
    percentageOwnership: t.float({ description: 'Share of the company, 0 to 100.' }),
    title: t.string({ description: 'Position in the company.' }),
  }),
})

const CreateCustomerInput = builder.inputType('CreateCustomerInput', {
  description: 'A customer to add.',
  fields: (t) => ({
    platformCustomerId: t.string({ required: true, description: "The platform's own id of the customer." }),
    customerType: t.field({ type: CustomerType, required: true, description: 'A person or a company.' }),
    umaAddress: t.string({ description: "`$username@domain`, on the platform's domain; generated when absent." }),
    fullName: t.string({ description: 'Of a person.' }),
    birthDate: t.field({ type: 'Date', description: 'Of a person.' }),
    nationality: t.string({ description: 'Of a person: ISO 3166-1 alpha-2 code.' }),
    email: t.string({ description: 'E-mail address.' }),
    address: t.field({ type: AddressInput, description: 'Postal address.' }),
    businessInfo: t.field({ type: BusinessInfoInput, description: 'Of a company.' }),
    beneficialOwners: t.field({ type: [BeneficialOwnerInput], description: 'Of a company.' }),
    idempotencyKey: t.string({ description: idempotencyKeyDescription }),
  }),
})

addMutation('createCustomer', {
  description: 'Adds a customer, with an internal account in every supported currency.',
  operation: createCustomer,
  input: CreateCustomerInput,
  result: {
    field: 'customer',
    type: CustomerRef,
    description: 'The customer.',
    of: (customer: Customer) => customer,
    edge: CustomerEdge,
  },
})

const BusinessInfoChange = builder.inputType('BusinessInfoChangeInput', {
  description: 'What changes about a company; absent fields stay.',
  fields: (t) => ({
    legalName: t.string({ description: 'Registered name.' }),
    registrationNumber: t.string({ description: 'Number in the register of companies.' }),
    taxId: t.string({ description: 'Tax number.' }),
  }),
})

const customerResult = {
  field: 'customer',
  type: CustomerRef,
  description: 'The customer as they now are.',
  of: (customer: Customer) => customer,
}

addMutation('updateCustomer', {
  description: 'Changes what is known of a customer; absent fields stay.',
  operation: updateCustomer,
  input: builder.inputType('UpdateCustomerInput', {
    description: 'Who, and what changes.',
    fields: (t) => ({
      customerId: t.id({ required: true, description: '`Customer:<uuid>`' }),
      umaAddress: t.string({ description: "`$username@domain`, on the platform's domain." }),
      fullName: t.string({ description: 'Of a person.' }),
      birthDate: t.field({ type: 'Date', description: 'Of a person.' }),
      nationality: t.string({ description: 'Of a person: ISO 3166-1 alpha-2 code.' }),
      email: t.string({ description: 'E-mail address.' }),
      address: t.field({ type: AddressInput, description: 'Postal address; replaces the whole.' }),
      businessInfo: t.field({ type: BusinessInfoChange, description: 'Of a company.' }),
      beneficialOwners: t.field({ type: [BeneficialOwnerInput], description: 'Of a company; replaces the whole list.' }),
      idempotencyKey: t.string({ description: idempotencyKeyDescription }),
    }),
  }),
  result: customerResult,
})

addMutation('deleteCustomer', {
  description: 'Marks a customer as deleted: they can neither pay nor be paid, and their history stays.',
  operation: deleteCustomer,
  input: builder.inputType('DeleteCustomerInput', {
    description: 'Who.',
    fields: (t) => ({
      customerId: t.id({ required: true, description: '`Customer:<uuid>`' }),
      erasePersonalData: t.boolean({
        description: 'Also erases whatever is known of them as a person, for ever; payments and the books stay.',
      }),
      idempotencyKey: t.string({ description: idempotencyKeyDescription }),
    }),
  }),
  result: { ...customerResult, deletes: true },
})

type KycLink = z.output<typeof createKycLink.output>

const KycLinkRef = builder.objectRef<KycLink>('KycLink').implement({
  description: 'Where a customer is verified.',
  fields: (t) => ({
    kycUrl: t.exposeString('kycUrl', { description: 'For the customer: works once, for a day.' }),
    platformCustomerId: t.exposeString('platformCustomerId', { description: "The platform's own id of the customer." }),
    customer: t.field({
      type: CustomerRef,
      nullable: true,
      description: 'The customer: NOT_STARTED until they have been there.',
      resolve: ({ customerId }, _args, { loaders }) => loaders.customer.load(customerId),
    }),
  }),
})

addMutation('createKycLink', {
  description: 'Makes a link that a customer is verified by, and the customer where there is none yet to be verified.',
  operation: createKycLink,
  input: builder.inputType('CreateKycLinkInput', {
    description: 'Who, and where they go afterwards.',
    fields: (t) => ({
      platformCustomerId: t.string({ required: true, description: "The platform's own id of the customer." }),
      redirectUri: t.string({ description: 'Where the customer goes when it is done.' }),
      customerType: t.field({ type: CustomerType, description: 'INDIVIDUAL unless said otherwise.' }),
      idempotencyKey: t.string({ description: idempotencyKeyDescription }),
    }),
  }),
  result: { field: 'kycLink', type: KycLinkRef, description: 'The link.', of: (link: KycLink) => link },
})
