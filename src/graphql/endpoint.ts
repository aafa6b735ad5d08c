import type { z } from 'zod'
import type { Destination, Source } from '../core/endpoint.ts'
import { builder } from './builder.ts'
import type { Context } from './context.ts'
import { ExternalAccountRef, InternalAccountRef } from './refs.ts'

const AccountRef = builder.unionType('Account', {
  description: 'An account of either kind.',
  types: [InternalAccountRef, ExternalAccountRef],
  resolveType: ({ id }) => (id.startsWith('InternalAccount:') ? 'InternalAccount' : 'ExternalAccount'),
})

function accountOf({ accountId }: { accountId?: string | undefined }, _args: object, { loaders }: Context) {
  if (accountId === undefined) return null
  return accountId.startsWith('InternalAccount:')
    ? loaders.internalAccount.load(accountId)
    : loaders.externalAccount.load(accountId)
}

export const SourceRef = builder.objectRef<z.output<typeof Source>>('PaymentSource').implement({
  description: 'Where the money of a payment comes from.',
  fields: (t) => ({
    sourceType: t.exposeString('sourceType', { description: 'ACCOUNT, UMA_ADDRESS or REALTIME_FUNDING.' }),
    account: t.field({ type: AccountRef, nullable: true, description: 'The account, where it is one.', resolve: accountOf }),
    umaAddress: t.exposeString('umaAddress', { nullable: true, description: 'The address, where it is one.' }),
    currency: t.exposeString('currency', { description: 'Code of the currency.' }),
  }),
})

export const DestinationRef = builder.objectRef<z.output<typeof Destination>>('PaymentDestination').implement({
  description: 'Where the money of a payment goes.',
  fields: (t) => ({
    destinationType: t.exposeString('destinationType', { description: 'ACCOUNT or UMA_ADDRESS.' }),
    account: t.field({ type: AccountRef, nullable: true, description: 'The account, where it is one.', resolve: accountOf }),
    umaAddress: t.exposeString('umaAddress', { nullable: true, description: 'The address, where it is one.' }),
    currency: t.exposeString('currency', { description: 'Code of the currency.' }),
  }),
})
