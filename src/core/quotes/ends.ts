/**
 * The two ends of a quote. A client names them in one of the specification's forms; here each form is read, and what it names is loaded: a
 * source is a balance, an account to pull from, or money that will be pushed; a destination is a balance, an account outside (there already,
 * or given inline) or a UMA address.
 */
import { z } from 'zod'
import { toId } from '../../base/ids.ts'
import { DomainError } from '../../base/refusal.ts'
import type { CustomerRow, ExternalAccountRow, InternalAccountRow, LookupRow } from '../../database/tables.ts'
import type { UmaReceiver } from '../../rails/port.ts'
import { accountDetails, externalAccountLike, externalAccountsById } from '../accounts/external.ts'
import { internalAccountsById, ownersOfInternalAccounts } from '../accounts/internal.ts'
import { accountNotFound } from '../accounts/payable.ts'
import { customerByUmaAddress, customersById, requireCustomer } from '../customers/customer.ts'
import { requireUmaAddress } from '../customers/uma-address.ts'
import { accountReference, currencyCode, idOf, text } from '../input.ts'
import { requireReceiver } from '../lookups/lookup.ts'
import type { Caller, Core } from '../operation.ts'

const umaAddress = z.string().max(400)

export const sourceInput = z
  .object({
    sourceType: z.enum(['ACCOUNT', 'REALTIME_FUNDING', 'UMA_ADDRESS']).optional(),
    accountId: accountReference.optional(),
    customerId: idOf('Customer').optional(),
    umaAddress: umaAddress.optional(),
    currency: currencyCode.optional(),
  })
  // The discriminator may be left out; reading it the same either way keeps idempotency keys the same too.
  .transform((end) => ({ ...end, sourceType: end.sourceType ?? inferSource(end) }))

function inferSource({
  accountId,
  umaAddress: address,
  currency,
}: {
  accountId?: unknown
  umaAddress?: unknown
  currency?: unknown
}) {
  if (accountId !== undefined) return 'ACCOUNT'
  if (address !== undefined) return 'UMA_ADDRESS'
  return currency === undefined ? 'ACCOUNT' : 'REALTIME_FUNDING'
}

export const destinationInput = z
  .object({
    destinationType: z.enum(['ACCOUNT', 'UMA_ADDRESS', 'EXTERNAL_ACCOUNT_DETAILS', 'LOOKUP']).optional(),
    accountId: accountReference.optional(),
    umaAddress: umaAddress.optional(),
    externalAccountDetails: accountDetails.optional(),
    currency: currencyCode.optional(),
    counterpartyInformation: z.record(text(60), text(500)).optional(),
  })
  .transform((end) => ({ ...end, destinationType: end.destinationType ?? inferDestination(end) }))

function inferDestination(end: { umaAddress?: unknown; externalAccountDetails?: unknown }) {
  if (end.umaAddress !== undefined) return 'UMA_ADDRESS'
  return end.externalAccountDetails === undefined ? 'ACCOUNT' : 'EXTERNAL_ACCOUNT_DETAILS'
}

export type SourceInput = z.output<typeof sourceInput>
export type DestinationInput = z.output<typeof destinationInput>

export type Source = { customer: CustomerRow | undefined; currency: string } & (
  | { type: 'INTERNAL_ACCOUNT'; account: InternalAccountRow }
  | { type: 'EXTERNAL_ACCOUNT'; account: ExternalAccountRow }
  | { type: 'REALTIME_FUNDING' }
)

export type Destination = { currency: string } & (
  | { type: 'INTERNAL_ACCOUNT'; account: InternalAccountRow; owner: CustomerRow | undefined }
  | { type: 'EXTERNAL_ACCOUNT'; account: ExternalAccountRow }
  /** Given inline: made with the quote. */
  | { type: 'NEW_ACCOUNT'; details: z.output<typeof accountDetails>; owner: CustomerRow | undefined }
  | { type: 'UMA_ADDRESS'; umaAddress: string; receiver: UmaReceiver }
)

/** Refuses ACCOUNT_NOT_FOUND, USER_NOT_FOUND, UMA_NOT_FOUND and INVALID_INPUT for a form that lacks what it needs. */
export async function loadSource(core: Core, caller: Caller, from: SourceInput): Promise<Source> {
  if (from.sourceType !== 'ACCOUNT') return pushed(core, caller, from)
  if (!from.accountId) throw missing('source.accountId', 'expected an account id')
  const { kind, id } = from.accountId
  if (kind === 'InternalAccount') {
    const [[account], [owner]] = await Promise.all([
      internalAccountsById(core.database, caller, [id]),
      ownersOfInternalAccounts(core.database, caller, [id]),
    ])
    if (!account) throw accountNotFound('source.accountId', toId(kind, id))
    return { type: 'INTERNAL_ACCOUNT', account, customer: owner?.customer, currency: account.currency }
  }
  const [account] = await externalAccountsById(core.database, caller, [id])
  if (!account) throw accountNotFound('source.accountId', toId(kind, id))
  const [customer] = account.customerId === null ? [] : await customersById(core.database, caller, [account.customerId])
  return { type: 'EXTERNAL_ACCOUNT', account, customer, currency: account.currency }
}

/** A customer, by id or by UMA address, or the platform itself will push the money. */
async function pushed({ database }: Core, caller: Caller, from: SourceInput): Promise<Source> {
  if (from.currency === undefined) throw missing('source.currency', 'expected the currency that will be pushed')
  const type = 'REALTIME_FUNDING'
  if (from.umaAddress === undefined) {
    if (from.sourceType === 'UMA_ADDRESS') throw missing('source.umaAddress', 'expected the UMA address of a customer')
    const customerId = from.customerId ?? caller.customerId
    const customer =
      customerId === undefined ? undefined : await requireCustomer(database, caller, customerId, 'source.customerId')
    return { type, customer, currency: from.currency }
  }
  const address = requireUmaAddress(from.umaAddress, 'source.umaAddress')
  const customer = await customerByUmaAddress(database, caller, address)
  if (customer) return { type, customer, currency: from.currency }
  throw new DomainError('UMA_NOT_FOUND', 'source.umaAddress: no customer has this UMA address', {
    field: 'source.umaAddress',
    value: address,
  })
}

/** `lookup`: what the quote's lookupId names. */
export async function loadDestination(
  core: Core,
  caller: Caller,
  to: DestinationInput,
  lookup: LookupRow | undefined,
  payer: CustomerRow | undefined,
): Promise<Destination> {
  switch (to.destinationType) {
    case 'ACCOUNT':
      if (!to.accountId) throw missing('destination.accountId', 'expected an account id')
      return accountOf(core, caller, to.accountId)
    case 'EXTERNAL_ACCOUNT_DETAILS':
      if (!to.externalAccountDetails) throw missing('destination.externalAccountDetails', "expected the account's details")
      return inline(core, caller, to.externalAccountDetails, payer)
    case 'UMA_ADDRESS':
      if (to.umaAddress === undefined) throw missing('destination.umaAddress', 'expected a UMA address')
      return umaEnd(core, caller, to.umaAddress, to.currency, 'destination.umaAddress')
    case 'LOOKUP':
      if (!lookup) throw missing('lookupId', 'expected the id of a lookup')
      return lookup.receiverUmaAddress === null
        ? accountOf(core, caller, { kind: 'ExternalAccount', id: lookup.receiverAccountId! })
        : umaEnd(core, caller, lookup.receiverUmaAddress, to.currency, 'lookupId')
  }
}

async function accountOf(
  { database }: Core,
  caller: Caller,
  { kind, id }: z.output<typeof accountReference>,
): Promise<Destination> {
  if (kind === 'ExternalAccount') {
    const [account] = await externalAccountsById(database, caller, [id])
    if (!account) throw accountNotFound('destination.accountId', toId(kind, id))
    return { type: 'EXTERNAL_ACCOUNT', account, currency: account.currency }
  }
  const [[account], [owner]] = await Promise.all([
    internalAccountsById(database, caller, [id]),
    ownersOfInternalAccounts(database, caller, [id]),
  ])
  if (!account) throw accountNotFound('destination.accountId', toId(kind, id))
  return { type: 'INTERNAL_ACCOUNT', account, owner: owner?.customer, currency: account.currency }
}

/** Spec silent: inline details that name an account which is there already mean that account. Whose it is: the payer's, unless it says. */
async function inline(
  { database }: Core,
  caller: Caller,
  details: z.output<typeof accountDetails>,
  payer: CustomerRow | undefined,
): Promise<Destination> {
  const owner =
    details.customerId === undefined || details.customerId === payer?.id
      ? payer
      : await requireCustomer(database, caller, details.customerId, 'destination.externalAccountDetails.customerId')
  const account = await externalAccountLike(database, caller.worldId, owner?.id, details)
  return account
    ? { type: 'EXTERNAL_ACCOUNT', account, currency: account.currency }
    : { type: 'NEW_ACCOUNT', details, owner, currency: details.currency }
}

async function umaEnd(
  core: Core,
  caller: Caller,
  address: string,
  wanted: string | undefined,
  field: string,
): Promise<Destination> {
  const { umaAddress: found, receiver } = await requireReceiver(core, caller, address, field)
  const currency = wanted ?? receiver.currencies[0]!.currency
  return { type: 'UMA_ADDRESS', umaAddress: found, receiver, currency }
}

function missing(field: string, what: string): DomainError {
  return new DomainError('INVALID_INPUT', `${field}: ${what}`, { field })
}
