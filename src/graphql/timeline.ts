/** What happened to money, line by line: the statement of an account and the timeline of a payment. */
import type { StatementLine } from '../core/accounts/statement.ts'
import { accountKinds, entryKinds, type TimelineItem } from '../core/transactions/timeline.ts'
import { builder } from './builder.ts'
import { EventRef } from './events.ts'
import { MoneyRef } from './money.ts'
import { InternalAccountRef, TransactionRef, TransactionStatus } from './refs.ts'

const LedgerEntryKind = builder.enumType('LedgerEntryKind', {
  description: 'Why money moved.',
  values: described(entryKinds),
})

const LedgerAccountKind = builder.enumType('LedgerAccountKind', {
  description: 'What an account of the ledger holds.',
  values: described(accountKinds),
})

function described<Kind extends string>(kinds: Readonly<Record<Kind, string>>) {
  return Object.fromEntries(Object.entries<string>(kinds).map(([kind, description]) => [kind, { description }])) as Record<
    Kind,
    { description: string }
  >
}

const StatementLineRef = builder.objectRef<StatementLine>('StatementLine').implement({
  description: 'One movement of an internal account.',
  fields: (t) => ({
    kind: t.expose('kind', { type: LedgerEntryKind, description: 'Why it moved.' }),
    amount: t.field({
      type: MoneyRef,
      description: 'By how much: positive is money in, negative money out.',
      resolve: ({ amount, currency }) => ({ amount, currency }),
    }),
    balanceAfter: t.field({
      type: MoneyRef,
      description: 'What was on the account afterwards.',
      resolve: ({ balanceAfter, currency }) => ({ amount: balanceAfter, currency }),
    }),
    transaction: t.field({
      type: TransactionRef,
      nullable: true,
      description: "The payment it belongs to; null for a viewer token whose customer was paid by another customer's payment.",
      resolve: ({ transactionId }, _args, { loaders }) => loaders.transaction.load(transactionId),
    }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When it was written.' }),
  }),
})

export const StatementConnection = builder.connectionObject(
  { type: StatementLineRef, name: 'StatementConnection', description: 'A page of a statement.' },
  { name: 'StatementEdge', description: 'A movement in a statement.' },
)

type Of<Kind extends TimelineItem['kind']> = Extract<TimelineItem, { kind: Kind }>

export const TimelineItemRef = builder.interfaceRef<TimelineItem>('TimelineItem').implement({
  description: 'Something that happened to a payment.',
  fields: (t) => ({ at: t.expose('at', { type: 'DateTime', description: 'When.' }) }),
  resolveType: ({ kind }) => ({ status: 'StatusChange', entry: 'LedgerEntry', event: 'TimelineEvent' })[kind],
})

builder.objectRef<Of<'status'>>('StatusChange').implement({
  interfaces: [TimelineItemRef],
  description: 'It had a new state.',
  fields: (t) => ({ status: t.expose('status', { type: TransactionStatus, description: 'Which.' }) }),
})

type Posting = {
  accountKind: keyof typeof accountKinds
  accountId: string | undefined
  money: { amount: bigint; currency: Of<'entry'>['currency'] }
}

const PostingRef = builder.objectRef<Posting>('LedgerPosting').implement({
  description: 'One leg of an entry.',
  fields: (t) => ({
    accountKind: t.expose('accountKind', { type: LedgerAccountKind, description: 'What the account holds.' }),
    account: t.field({
      type: InternalAccountRef,
      nullable: true,
      description: "The internal account; null for the service's own.",
      resolve: ({ accountId }, _args, { loaders }) => (accountId === undefined ? null : loaders.internalAccount.load(accountId)),
    }),
    amount: t.expose('money', { type: MoneyRef, description: 'Positive credits the account, negative debits it.' }),
  }),
})

builder.objectRef<Of<'entry'>>('LedgerEntry').implement({
  interfaces: [TimelineItemRef],
  description: 'The ledger wrote an entry: balanced legs in one currency.',
  fields: (t) => ({
    kind: t.expose('entryKind', { type: LedgerEntryKind, description: 'Why.' }),
    postings: t.field({
      type: [PostingRef],
      description: 'Its legs; they sum to zero.',
      resolve: ({ postings, currency }) =>
        postings.map(({ amount, ...posting }) => ({ ...posting, money: { amount, currency } })),
    }),
  }),
})

builder.objectRef<Of<'event'>>('TimelineEvent').implement({
  interfaces: [TimelineItemRef],
  description: 'An event told of it.',
  fields: (t) => ({ event: t.expose('event', { type: EventRef, description: 'The event.' }) }),
})
