import { expect, test } from 'vitest'
import { newCustomer, newIbanAccount, newPayer, newQuote, paymentOf, quoteInput, usAccountInfo } from './people.ts'
import { useWorld } from './world.ts'

const world = useWorld()

test('one account is read under the path of its owner only', async () => {
  const customer = await newCustomer(world)
  const theirs = await newIbanAccount(world, customer['id'])
  const { body: ours } = await world.rest('POST', '/platform/external-accounts', {
    currency: 'USD',
    accountInfo: usAccountInfo(),
  })
  expect((await world.rest('GET', `/customers/external-accounts/${theirs['id']}`)).body).toEqual(theirs)
  expect((await world.rest('GET', `/platform/external-accounts/${ours['id']}`)).body).toEqual(ours)
  for (const path of [`/platform/external-accounts/${theirs['id']}`, `/customers/external-accounts/${ours['id']}`]) {
    for (const method of ['GET', 'DELETE']) {
      const { status, body } = await world.rest(method, path)
      expect([status, body['code']]).toEqual([404, 'ACCOUNT_NOT_FOUND'])
    }
  }
})

test('a deleted account is in no list and is paid nothing new; what was made of it stays, and it can be added again', async () => {
  const payer = await newPayer(world)
  const [path, id] = [`/customers/external-accounts/${payer.euros['id']}`, payer.euros['id']]
  const before = await newQuote(world, payer)
  const underWay = await newQuote(world, payer, { immediatelyExecute: true })
  expect((await world.rest('DELETE', path)).status).toBe(204)
  expect((await world.rest('DELETE', path)).status).toBe(204)
  expect((await world.rest('GET', path)).body).toMatchObject({ id, status: 'INACTIVE', isDeleted: true })
  const { body: list } = await world.rest('GET', `/customers/external-accounts?customerId=${payer.customer['id']}`)
  expect([list['data'], list['totalCount']]).toEqual([[], 0])
  const nested = await world.graphql(
    'query ($id: ID!) { node(id: $id) { ... on Customer { externalAccounts { totalCount edges { node { id } } } } } }',
    { id: payer.customer['id'] },
  )
  expect(nested.body['data'].node.externalAccounts).toEqual({ totalCount: 0, edges: [] })

  for (const refused of [
    await world.rest('POST', '/quotes', quoteInput(payer)),
    await world.rest('POST', `/quotes/${before['id']}/execute`),
    await world.rest('GET', `/receiver/external-account/${id}`),
  ]) {
    expect([refused.status, refused.body['code']]).toEqual([400, 'INVALID_BANK_ACCOUNT'])
  }
  await world.drain()
  expect(await paymentOf(world, underWay)).toMatchObject({ status: 'COMPLETED', destination: { accountId: id } })

  const { accountInfo, currency, customerId } = payer.euros
  const again = await world.rest('POST', '/customers/external-accounts', { customerId, currency, accountInfo })
  expect([again.status, again.body['id'] === id]).toEqual([201, false])
})

test('an account is deleted over GraphQL', async () => {
  const { euros } = await newPayer(world)
  const { body } = await world.graphql(
    `mutation ($input: DeleteExternalAccountInput!) {
      deleteExternalAccount(input: $input) { externalAccount { id status isDeleted } errors { code } }
    }`,
    { input: { externalAccountId: euros['id'] } },
  )
  expect(body['data'].deleteExternalAccount).toEqual({
    externalAccount: { id: euros['id'], status: 'INACTIVE', isDeleted: true },
    errors: [],
  })
})
