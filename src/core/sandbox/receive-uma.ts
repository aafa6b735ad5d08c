/** Sandbox: somebody at another provider pays one of the platform's customers by UMA address. */

import { z } from 'zod'
import { DomainError } from '../../base/refusal.ts'
import type { CustomerRow } from '../../database/tables.ts'
import { customerByUmaAddress, customersById } from '../customers/customer.ts'
import { requireUmaAddress } from '../customers/uma-address.ts'
import { amountUpTo, currencyCode, idOf, text } from '../input.ts'
import { operation } from '../operation.ts'
import { supportOf } from '../platform/world.ts'
import { Transaction, toTransaction } from '../transactions/transaction.ts'
import { accountsFor, askForApproval, type IncomingParties } from '../uma/incoming-payment.ts'
import { noSuchAddress } from '../uma/providers.ts'

/** What the simulated provider tells of who pays, as far as the platform requires it of counterparties. */
const sender: Readonly<Record<string, string>> = {
  FULL_NAME: 'Sandbox Sender',
  BIRTH_DATE: '1990-01-01',
  NATIONALITY: 'US',
  COUNTRY_OF_RESIDENCE: 'US',
  ADDRESS: '1 Sandbox Street, Springfield, US',
  PHONE_NUMBER: '+15550100000',
  EMAIL: 'sender@example.com',
  TAX_ID: '000-00-0000',
  BUSINESS_NAME: 'Sandbox Sender Ltd',
}

interface Parties extends IncomingParties {
  /** Of who pays, in its stored form. */
  senderAddress: string
}

/**
 * The reply is the payment as it waits for the platform's approval (PENDING). Approved, it is credited to the customer's default UMA deposit
 * account in that currency, or to their internal account. Spec silent: the simulated provider wants to know the receiver's name, which is
 * requested only where we do not hold it, and their nationality if it can be had. Refuses UMA_NOT_FOUND for a sender or receiver that does
 * not exist, USER_NOT_FOUND, USER_NOT_READY, INVALID_CURRENCY, AMOUNT_OUT_OF_RANGE, WEBHOOK_ENDPOINT_NOT_SET unless the platform approves by
 * calls; FORBIDDEN with production credentials.
 */
export const receiveUma = operation({
  name: 'receiveUma',
  permission: 'TRANSACT',
  sandboxOnly: true,
  refuses: [
    'INVALID_UMA_ADDRESS',
    'INVALID_CURRENCY',
    'INVALID_AMOUNT',
    'AMOUNT_OUT_OF_RANGE',
    'WEBHOOK_ENDPOINT_NOT_SET',
    'USER_NOT_READY',
    'MISSING_MANDATORY_USER_INFO',
    'UMA_NOT_FOUND',
    'USER_NOT_FOUND',
  ],
  input: z
    .object({
      senderUmaAddress: text(300),
      receiverUmaAddress: text(300).optional(),
      customerId: idOf('Customer').optional(),
      receivingCurrencyCode: currencyCode,
      receivingCurrencyAmount: amountUpTo(),
    })
    .refine(({ receiverUmaAddress, customerId }) => receiverUmaAddress !== undefined || customerId !== undefined, {
      path: ['receiverUmaAddress'],
      error: 'expected the address of the customer who is paid',
    }),
  output: Transaction,
  async load({ database, worlds, rails }, caller, input): Promise<Parties> {
    const { worldId, environment } = caller
    const senderAddress = requireUmaAddress(input.senderUmaAddress, 'senderUmaAddress')
    const receiverAddress = input.receiverUmaAddress && requireUmaAddress(input.receiverUmaAddress, 'receiverUmaAddress')
    const [world, known, [byId], byAddress] = await Promise.all([
      worlds.get(worldId),
      rails[environment]?.receiver(senderAddress),
      input.customerId === undefined ? [] : customersById(database, caller, [input.customerId]),
      receiverAddress === undefined ? undefined : customerByUmaAddress(database, caller, receiverAddress),
    ])
    if (!known) throw noSuchAddress('senderUmaAddress', senderAddress)
    if (input.customerId !== undefined && !byId) {
      throw new DomainError('USER_NOT_FOUND', 'There is no such customer', { field: 'customerId' })
    }
    if (receiverAddress !== undefined && (!byAddress || byAddress.isDeleted || (byId && byId.id !== byAddress.id))) {
      throw noSuchAddress('receiverUmaAddress', receiverAddress)
    }
    const customer = (byAddress ?? byId)!
    return { world: world!, senderAddress, customer, ...(await accountsFor(database, customer, input.receivingCurrencyCode)) }
  },
  decide(input, parties, moment) {
    const { receivingCurrencyCode: currency, receivingCurrencyAmount: amount } = input
    const required = supportOf(parties.world, currency)?.requiredCounterpartyFields ?? []
    const told = ['FULL_NAME', ...required.map(({ name }) => name)].filter((name) => sender[name] !== undefined)
    const wanted = {
      senderAddress: parties.senderAddress,
      currency,
      amount,
      counterpartyInformation: Object.fromEntries(told.map((name) => [name, sender[name]!])),
      requested: requestedOf(parties.customer),
    }
    const fields = { currency: 'receivingCurrencyCode', amount: 'receivingCurrencyAmount' }
    const { transaction, plan } = askForApproval(wanted, parties, moment, fields)
    return { ...plan, reply: toTransaction(transaction) }
  },
})

/** What the simulated provider wants to know. */
function requestedOf({ customerType }: CustomerRow): { name: string; mandatory: boolean }[] {
  return customerType === 'INDIVIDUAL'
    ? [
        { name: 'FULL_NAME', mandatory: true },
        { name: 'NATIONALITY', mandatory: false },
      ]
    : [{ name: 'BUSINESS_NAME', mandatory: true }]
}
