/** What may change about a customer, and their end: they are marked as deleted, and their history stays. */
import { z } from 'zod'
import { DomainError } from '../../base/refusal.ts'
import type { CustomerRow } from '../../database/tables.ts'
import { idOf } from '../input.ts'
import { type Caller, type Core, operation } from '../operation.ts'
import type { World } from '../platform/world.ts'
import { customerInput, umaAddressExists } from './create-customer.ts'
import { businessInfo, Customer, customerDeleted, requireCustomer, toCustomer } from './customer.ts'
import { accountsOf, erasure } from './erase-customer.ts'
import { readUmaAddress } from './uma-address.ts'

async function loadCustomer({ database, worlds }: Core, caller: Caller, customerId: string) {
  const [world, customer] = await Promise.all([worlds.get(caller.worldId), requireCustomer(database, caller, customerId)])
  return { world: world!, customer }
}

function requireUndeleted({ isDeleted }: CustomerRow): void {
  if (isDeleted) throw customerDeleted()
}

/**
 * Fields that are absent stay; those of the other customer type are ignored. Refuses USER_NOT_FOUND, CUSTOMER_DELETED, INVALID_UMA_ADDRESS,
 * UMA_ADDRESS_EXISTS, and INVALID_INPUT for another customerType than the customer's.
 */
export const updateCustomer = operation({
  name: 'updateCustomer',
  permission: 'MANAGE',
  refuses: ['USER_NOT_FOUND', 'CUSTOMER_DELETED', 'INVALID_UMA_ADDRESS', 'UMA_ADDRESS_EXISTS'],
  input: customerInput
    .omit({ platformCustomerId: true })
    .partial()
    .extend({ customerId: idOf('Customer'), businessInfo: businessInfo.partial().optional() }),
  output: Customer,
  load: (core, caller, { customerId }) => loadCustomer(core, caller, customerId),
  decide(input, { world, customer }, { now }) {
    requireUndeleted(customer)
    if (input.customerType !== undefined && input.customerType !== customer.customerType) {
      throw new DomainError('INVALID_INPUT', `customerType: the customer is ${customer.customerType}`, {
        field: 'customerType',
        value: input.customerType,
      })
    }
    const changed: CustomerRow = { ...customer, ...changesOf(input, customer, world), updatedAt: now }
    return { reply: toCustomer(changed), update: { customer: [changed] } }
  },
  exists: { customer_world_id_uma_address_key: umaAddressExists },
})

type Changes = Omit<z.output<typeof updateCustomer.input>, 'customerId' | 'customerType'>

function changesOf(wanted: Changes, customer: CustomerRow, world: World): Partial<CustomerRow> {
  const { umaAddress, address: newAddress, email, fullName, birthDate, nationality, beneficialOwners } = wanted
  const ofBoth = {
    ...(umaAddress === undefined ? {} : { umaAddress: readUmaAddress(umaAddress, world.umaDomain) }),
    ...(newAddress === undefined ? {} : { address: newAddress }),
    ...(email === undefined ? {} : { email }),
  }
  if (customer.customerType === 'INDIVIDUAL') {
    return {
      ...ofBoth,
      ...(fullName === undefined ? {} : { fullName }),
      ...(birthDate === undefined ? {} : { birthDate }),
      ...(nationality === undefined ? {} : { nationality }),
    }
  }
  const business = { ...(customer.businessInfo as object | null), ...wanted.businessInfo }
  if (wanted.businessInfo && !('legalName' in business)) {
    throw new DomainError('INVALID_INPUT', 'businessInfo.legalName: expected with the first information', {
      field: 'businessInfo.legalName',
    })
  }
  return {
    ...ofBoth,
    ...(wanted.businessInfo === undefined ? {} : { businessInfo: business }),
    ...(beneficialOwners === undefined ? {} : { beneficialOwners }),
  }
}

/**
 * The customer is hidden from lists and can neither pay nor be paid; their address stays theirs. With `erasePersonalData` whatever is known of
 * them as a person is erased too, also later of one who has been deleted: names, birth dates, numbers, addresses (the UMA address becomes
 * another), in the log as well; payments and the books stay. Spec silent: that it can be asked for. Refuses USER_NOT_FOUND, CUSTOMER_DELETED
 * the second time.
 */
export const deleteCustomer = operation({
  name: 'deleteCustomer',
  permission: 'MANAGE',
  refuses: ['USER_NOT_FOUND', 'CUSTOMER_DELETED'],
  input: z.object({ customerId: idOf('Customer'), erasePersonalData: z.union([z.boolean(), z.stringbool()]).default(false) }),
  output: Customer,
  async load(core, caller, { customerId, erasePersonalData }) {
    const { customer } = await loadCustomer(core, caller, customerId)
    return { customer, accounts: erasePersonalData ? await accountsOf(core.database, customer) : [] }
  },
  decide({ erasePersonalData }, { customer, accounts }, moment) {
    if (erasePersonalData) {
      const { erased, accounts: left, task } = erasure(customer, accounts, moment)
      return { reply: toCustomer(erased), update: { customer: [erased], external_account: left }, insert: { task: [task] } }
    }
    requireUndeleted(customer)
    const deleted: CustomerRow = { ...customer, isDeleted: true, updatedAt: moment.now }
    return { reply: toCustomer(deleted), update: { customer: [deleted] } }
  },
})
