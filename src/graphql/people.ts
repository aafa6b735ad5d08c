/** What identifies people and companies, wherever they appear. */
import type { z } from 'zod'
import type { businessInfo } from '../core/customers/customer.ts'
import type { address } from '../core/input.ts'
import { builder } from './builder.ts'

export const AddressRef = builder.objectRef<z.output<typeof address>>('Address').implement({
  description: 'A postal address.',
  fields: (t) => ({
    line1: t.exposeString('line1', { description: 'Street and number.' }),
    line2: t.exposeString('line2', { nullable: true, description: 'More of it.' }),
    city: t.exposeString('city', { nullable: true, description: 'City.' }),
    state: t.exposeString('state', { nullable: true, description: 'State or region.' }),
    postalCode: t.exposeString('postalCode', { description: 'Postal code.' }),
    country: t.exposeString('country', { description: 'ISO 3166-1 alpha-2 code.' }),
  }),
})

export const AddressInput = builder.inputType('AddressInput', {
  description: 'A postal address.',
  fields: (t) => ({
    line1: t.string({ required: true, description: 'Street and number.' }),
    line2: t.string({ description: 'More of it.' }),
    city: t.string({ description: 'City.' }),
    state: t.string({ description: 'State or region.' }),
    postalCode: t.string({ required: true, description: 'Postal code.' }),
    country: t.string({ required: true, description: 'ISO 3166-1 alpha-2 code.' }),
  }),
})

export const BusinessInfoRef = builder.objectRef<z.output<typeof businessInfo>>('BusinessInfo').implement({
  description: 'What identifies a company.',
  fields: (t) => ({
    legalName: t.exposeString('legalName', { description: 'Registered name.' }),
    registrationNumber: t.exposeString('registrationNumber', {
      nullable: true,
      description: 'Number in the register of companies.',
    }),
    taxId: t.exposeString('taxId', { nullable: true, description: 'Tax number.' }),
  }),
})

export const BusinessInfoInput = builder.inputType('BusinessInfoInput', {
  description: 'What identifies a company.',
  fields: (t) => ({
    legalName: t.string({ required: true, description: 'Registered name.' }),
    registrationNumber: t.string({ description: 'Number in the register of companies.' }),
    taxId: t.string({ description: 'Tax number.' }),
  }),
})

export const UserInfoInput = builder.inputType('UserInfoInput', {
  description: 'One piece of information about a person or company.',
  fields: (t) => ({
    name: t.string({
      required: true,
      description: 'FULL_NAME, BIRTH_DATE (YYYY-MM-DD), NATIONALITY, ADDRESS, TAX_ID and so on.',
    }),
    value: t.string({ required: true, description: 'What it is.' }),
  }),
})

export interface UserInfo {
  name: string
  value: string
}

export const UserInfoRef = builder.objectRef<UserInfo>('UserInfo').implement({
  description: 'One piece of information about a person or company.',
  fields: (t) => ({
    name: t.exposeString('name', { description: 'FULL_NAME, BIRTH_DATE, NATIONALITY and so on.' }),
    value: t.exposeString('value', { description: 'What it is.' }),
  }),
})

/** By name, as the core takes it. */
export function toRecord(items: readonly UserInfo[] | null | undefined): Record<string, string> | undefined {
  return items ? Object.fromEntries(items.map(({ name, value }) => [name, value])) : undefined
}
