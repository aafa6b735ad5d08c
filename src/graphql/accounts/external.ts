import {
  createCustomerExternalAccount,
  createPlatformExternalAccount,
  deleteExternalAccount,
  type ExternalAccount,
  listCustomerExternalAccounts,
  listPlatformExternalAccounts,
} from '../../core/accounts/external.ts'
import { maskedFor } from '../../core/masked.ts'
import { builder } from '../builder.ts'
import { bothWayArgs, listOf, ownedList, pageComplexity } from '../connection.ts'
import { addMutation, idempotencyKeyDescription } from '../error.ts'
import {
  CustomerRef,
  ExternalAccountConnection,
  ExternalAccountEdge,
  ExternalAccountRef,
  QuoteConnection,
  TransactionConnection,
} from '../refs.ts'
import { AccountInfoRef, ExternalAccountInfoInput, toAccountInfo } from './account-info.ts'

const ExternalAccountStatus = builder.enumType('ExternalAccountStatus', {
  description: 'Whether an external account may be paid.',
  values: {
    PENDING: { description: 'Created, awaiting verification.' },
    ACTIVE: { description: 'Verified: the only status that is paid.' },
    UNDER_REVIEW: { description: 'Needs another look.' },
    INACTIVE: { description: 'Disabled.' },
  } as const,
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
    platformAccountId: t.exposeString('platformAccountId', {
      nullable: true,
      description: "The platform's own id of the account.",
    }),
    defaultUmaDepositAccount: t.exposeBoolean('defaultUmaDepositAccount', { description: 'Incoming UMA payments go here.' }),
    accountInfo: t.field({
      type: AccountInfoRef,
      description: 'What identifies it. Viewer tokens are shown the end of its number.',
      resolve: ({ accountInfo }, _args, { caller }) => maskedFor(caller, { accountInfo }).accountInfo,
    }),
    isDeleted: t.boolean({
      description: 'It was deleted: payments keep it, lists do not show it.',
      resolve: ({ isDeleted = false }) => isDeleted,
    }),
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

builder.queryField('externalAccount', (t) =>
  t.field({
    type: ExternalAccountRef,
    nullable: true,
    description: 'One external account; null when there is none with this id.',
    args: { id: t.arg.id({ required: true, description: '`ExternalAccount:<uuid>`' }) },
    resolve: (_root, { id }, { loaders }) => loaders.externalAccount.load(id),
  }),
)

builder.queryField('externalAccounts', (t) =>
  t.field({
    type: ExternalAccountConnection,
    description: "The customers' external accounts, newest first.",
    args: {
      ...bothWayArgs,
      customerId: t.arg.id({ description: 'Of this customer only.' }),
      currency: t.arg.string({ description: 'In this currency only.' }),
    },
    complexity: pageComplexity,
    resolve: (_root, args, context, info) => listOf(context, listCustomerExternalAccounts, args, info),
  }),
)

builder.queryField('platformExternalAccounts', (t) =>
  t.field({
    type: ExternalAccountConnection,
    description: "The platform's own external accounts, newest first.",
    args: { ...bothWayArgs, currency: t.arg.string({ description: 'In this currency only.' }) },
    complexity: pageComplexity,
    resolve: (_root, args, context, info) => listOf(context, listPlatformExternalAccounts, args, info),
  }),
)

export const CreateExternalAccountInput = builder.inputType('CreateExternalAccountInput', {
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
    edge: ExternalAccountEdge,
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
    edge: ExternalAccountEdge,
  },
})

addMutation('deleteExternalAccount', {
  description: 'Deletes an external account: nothing new is paid to it; payments under way go on.',
  operation: deleteExternalAccount,
  input: builder.inputType('DeleteExternalAccountInput', {
    description: 'Which one.',
    fields: (t) => ({
      externalAccountId: t.id({ required: true, description: '`ExternalAccount:<uuid>`' }),
      idempotencyKey: t.string({ description: idempotencyKeyDescription }),
    }),
  }),
  result: {
    field: 'externalAccount',
    type: ExternalAccountRef,
    description: 'The account as it was last: INACTIVE.',
    of: (account: ExternalAccount) => account,
    deletes: true,
  },
})
