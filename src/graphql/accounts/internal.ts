import { type InternalAccount, listCustomerInternalAccounts, listPlatformInternalAccounts } from '../../core/accounts/internal.ts'
import { fundInternalAccount } from '../../core/sandbox/fund-internal-account.ts'
import { builder } from '../builder.ts'
import { bothWayArgs, connectionOf, listOf, ownedArgs, ownedList, pageComplexity, wayOf } from '../connection.ts'
import { addMutation, idempotencyKeyDescription } from '../error.ts'
import { MoneyRef, PaymentInstructionRef } from '../money.ts'
import { CustomerRef, InternalAccountConnection, InternalAccountRef, QuoteConnection, TransactionConnection } from '../refs.ts'
import { StatementConnection } from '../timeline.ts'

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
    balanceAt: t.field({
      type: MoneyRef,
      args: { at: t.arg({ type: 'DateTime', required: true, description: 'The instant; what happened at it counts.' }) },
      description: 'What was on it at an instant.',
      resolve: async ({ id, balance: { currency } }, { at }, { loaders }) => ({
        amount: await loaders.balanceAt.load({ id, at: new Date(at) }),
        currency,
      }),
    }),
    statement: t.field({
      type: StatementConnection,
      description: 'Every movement of the account, newest first.',
      args: { ...ownedArgs },
      complexity: pageComplexity,
      async resolve({ id }, args, { loaders }) {
        const way = wayOf(args)
        const page = await loaders.statement.page(id, way)
        return connectionOf(
          page,
          ({ cursor }) => cursor,
          way,
          () => loaders.statement.count(id),
        )
      },
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

builder.queryField('internalAccount', (t) =>
  t.field({
    type: InternalAccountRef,
    nullable: true,
    description: 'One internal account; null when there is none with this id.',
    args: { id: t.arg.id({ required: true, description: '`InternalAccount:<uuid>`' }) },
    resolve: (_root, { id }, { loaders }) => loaders.internalAccount.load(id),
  }),
)

builder.queryField('internalAccounts', (t) =>
  t.field({
    type: InternalAccountConnection,
    description: "The customers' internal accounts, newest first.",
    args: {
      ...bothWayArgs,
      customerId: t.arg.id({ description: 'Of this customer only.' }),
      currency: t.arg.string({ description: 'In this currency only.' }),
    },
    complexity: pageComplexity,
    resolve: (_root, args, context, info) => listOf(context, listCustomerInternalAccounts, args, info),
  }),
)

builder.queryField('platformInternalAccounts', (t) =>
  t.field({
    type: InternalAccountConnection,
    description: "The platform's own internal accounts, newest first.",
    args: { ...bothWayArgs, currency: t.arg.string({ description: 'In this currency only.' }) },
    complexity: pageComplexity,
    resolve: (_root, args, context, info) => listOf(context, listPlatformInternalAccounts, args, info),
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
