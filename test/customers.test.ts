import { beforeEach, describe, expect, test } from 'vitest'
import { fund, internalAccountOf, newCustomer, newIbanAccount, newQuote } from './people.ts'
import { type Body, useWorld } from './world.ts'

const world = useWorld()

let customer: Body
let business: Body

beforeEach(async () => {
  customer = await newCustomer(world, { birthDate: '1990-01-01', nationality: 'GB' })
  business = await newCustomer(world, { customerType: 'BUSINESS', fullName: undefined })
})

const patch = ({ id }: Body, body: Body, as = world.sandbox) => world.rest('PATCH', `/customers/${id}`, body, { as })
const remove = ({ id }: Body, as = world.sandbox) => world.rest('DELETE', `/customers/${id}`, undefined, { as })
const get = ({ id }: Body) => world.rest('GET', `/customers/${id}`)

describe('a customer', () => {
  test('changes in what is given, and stays in the rest', async () => {
    world.clock.advance(1000)
    const address = { line1: '1 Main Street', postalCode: '62701', country: 'US' }
    const { status, body } = await patch(customer, {
      fullName: 'Ada King',
      umaAddress: '$Ada.King@demo.sandbox.uma.localhost',
      address,
    })
    const changed = {
      ...customer,
      fullName: 'Ada King',
      umaAddress: '$ada.king@demo.sandbox.uma.localhost',
      address,
      updatedAt: world.clock.now().toISOString(),
    }
    expect([status, body]).toEqual([200, changed])
    expect((await get(customer)).body).toEqual(changed)
    await patch(business, { businessInfo: { legalName: 'Engines Ltd', taxId: '1' } })
    const { body: later } = await patch(business, {
      businessInfo: { taxId: '2' },
      fullName: 'ignored',
      beneficialOwners: [{ fullName: 'Ada King', individualType: 'DIRECTOR' }],
    })
    expect(later).toMatchObject({
      businessInfo: { legalName: 'Engines Ltd', taxId: '2' },
      beneficialOwners: [{ fullName: 'Ada King' }],
    })
    expect(later).not.toHaveProperty('fullName')
  })

  test('is not changed into what it cannot be', async () => {
    const cases: [Body, Body, number, string, string][] = [
      [customer, { customerType: 'BUSINESS' }, 400, 'INVALID_INPUT', 'customerType'],
      [customer, { birthDate: '1990-02-30' }, 400, 'INVALID_INPUT', 'birthDate'],
      [customer, { umaAddress: '$ada@elsewhere.example' }, 400, 'INVALID_UMA_ADDRESS', 'umaAddress'],
      [customer, { umaAddress: business['umaAddress'] }, 409, 'UMA_ADDRESS_EXISTS', 'umaAddress'],
      [customer, { address: { line1: 'x' } }, 400, 'INVALID_INPUT', 'address.postalCode'],
      [business, { businessInfo: { taxId: '1' } }, 400, 'INVALID_INPUT', 'businessInfo.legalName'],
    ]
    for (const [who, body, status, code, field] of cases) {
      expect(await patch(who, body)).toMatchObject({ status, body: { code, details: { field } } })
    }
    expect((await get(customer)).body).toEqual(customer)
    const missing = `Customer:${crypto.randomUUID()}`
    for (const change of [patch, remove] as const) {
      const foreign = await (change === patch ? patch(customer, {}, world.stranger) : remove(customer, world.stranger))
      const nobody = await (change === patch
        ? patch({ id: missing }, {}, world.stranger)
        : remove({ id: missing }, world.stranger))
      expect(foreign).toMatchObject({ status: 404, body: { code: 'USER_NOT_FOUND' } })
      expect(foreign.text.replace(customer['id'], missing)).toBe(nobody.text)
    }
  })

  test('that is deleted is hidden, stays known, and moves no money', async () => {
    const dollars = await internalAccountOf(world, customer['id'], 'USD')
    await fund(world, dollars['id'], 500_000)
    const euros = await newIbanAccount(world, customer['id'])
    const quote = await newQuote(world, { customer, dollars, euros } as never)
    const { status, body } = await remove(customer)
    expect([status, body]).toEqual([200, { ...customer, isDeleted: true, updatedAt: expect.any(String) }])
    expect((await get(customer)).body['isDeleted']).toBe(true)
    const listed = async (query: string) =>
      (await world.rest('GET', `/customers?umaAddress=${customer['umaAddress']}${query}`)).body['totalCount']
    expect([await listed(''), await listed('&isIncludingDeleted=true')]).toEqual([0, 1])
    for (const again of [await remove(customer), await patch(customer, { fullName: 'x' })]) {
      expect(again).toMatchObject({ status: 410, body: { code: 'CUSTOMER_DELETED' } })
    }
    expect(await world.rest('POST', `/quotes/${quote['id']}/execute`)).toMatchObject({
      status: 403,
      body: { code: 'USER_NOT_READY' },
    })
    expect(await newCustomer(world, { umaAddress: customer['umaAddress'] }).catch(String)).toContain('UMA_ADDRESS_EXISTS')
  })

  test('is changed and deleted over the graph too', async () => {
    const update = `mutation ($input: UpdateCustomerInput!) { updateCustomer(input: $input) { customer { fullName } errors { code field } } }`
    const done = await world.graphql(update, { input: { customerId: customer['id'], fullName: 'Ada King' } })
    expect(done.body['data'].updateCustomer).toEqual({ customer: { fullName: 'Ada King' }, errors: [] })
    const end = `mutation ($id: ID!) { deleteCustomer(input: { customerId: $id }) { customer { isDeleted } errors { code } } }`
    expect((await world.graphql(end, customer)).body['data'].deleteCustomer).toEqual({
      customer: { isDeleted: true },
      errors: [],
    })
    expect((await world.graphql(end, customer)).body['data'].deleteCustomer.errors).toEqual([{ code: 'CUSTOMER_DELETED' }])
  })
})
