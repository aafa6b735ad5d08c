import { describe, expect, test } from 'vitest'
import { internalAccountOf, newCustomer, newIbanAccount, newPayer, newQuote, type Payer } from './people.ts'
import { type Body, useWorld } from './world.ts'

const world = useWorld()

async function ask(query: string, variables: Body = {}): Promise<Body> {
  const { body } = await world.graphql(query, variables)
  expect(body['errors']).toBeUndefined()
  return body['data']
}

const createQuote = `mutation ($input: CreateQuoteInput!) {
  createQuote(input: $input) {
    quote { id status totalSendingAmount { amount display currency { code } } totalReceivingAmount { display } feesIncluded { display }
      exchangeRate expiresAt rateDetails { serviceApiVariableFeeRate serviceApiFixedFee } transaction { id status } }
    errors { code field message errors { field } details }
  }
}`

const quoteVariables = ({ dollars, euros }: Payer, fields: Body = {}) => ({
  input: {
    source: { account: { accountId: dollars['id'] } },
    destination: { account: { accountId: euros['id'] } },
    lockedCurrencySide: 'SENDING',
    lockedCurrencyAmount: 100_000,
    ...fields,
  },
})

describe('a payment', () => {
  test('is made by mutations alone: customer, accounts, funding, quote, execution', async () => {
    const { createCustomer } = await ask(
      `mutation ($input: CreateCustomerInput!) { createCustomer(input: $input) {
        customer { id umaAddress kycStatus internalAccounts(first: 100) { edges { node { id balance { currency { code } } } } } } errors { code } } }`,
      { input: { platformCustomerId: 'g1', customerType: 'INDIVIDUAL', fullName: 'Ada', birthDate: '1990-12-10' } },
    )
    expect(createCustomer.errors).toEqual([])
    const { customer } = createCustomer
    const nodes = customer.internalAccounts.edges.map(({ node }: Body) => node)
    const dollars = nodes.find(({ balance }: Body) => balance.currency.code === 'USD')
    expect(nodes).toHaveLength(8)

    const { fundInternalAccount } = await ask(
      `mutation ($input: FundInternalAccountInput!) { fundInternalAccount(input: $input) { internalAccount { balance { amount display } } errors { code } } }`,
      { input: { accountId: dollars.id, amount: '250000' } },
    )
    expect(fundInternalAccount.internalAccount.balance).toEqual({ amount: '250000', display: '2500.00' })

    const { createExternalAccount } = await ask(
      `mutation ($input: CreateExternalAccountInput!) { createExternalAccount(input: $input) { externalAccount {
        id status accountInfo { __typename ... on ClabeAccountInfo { clabeNumber } ... on BankAccountInfo { bankName beneficiary { ... on BusinessBeneficiary { businessInfo { legalName } } } } } } errors { code } } }`,
      {
        input: {
          customerId: customer.id,
          currency: 'MXN',
          accountInfo: {
            clabe: {
              clabeNumber: '123456789012345678',
              bankName: 'Banco',
              beneficiary: { business: { businessInfo: { legalName: 'ACME' } } },
            },
          },
        },
      },
    )
    expect(createExternalAccount.externalAccount).toMatchObject({
      status: 'ACTIVE',
      accountInfo: {
        __typename: 'ClabeAccountInfo',
        clabeNumber: '123456789012345678',
        bankName: 'Banco',
        beneficiary: { businessInfo: { legalName: 'ACME' } },
      },
    })

    const payer = { customer, dollars, euros: createExternalAccount.externalAccount }
    const made = await ask(
      createQuote,
      quoteVariables(payer, { lockedCurrencySide: 'RECEIVING', lockedCurrencyAmount: '1716375' }),
    )
    const { quote } = made['createQuote']
    expect(quote).toMatchObject({
      status: 'PENDING',
      totalReceivingAmount: { display: '17163.75' },
      transaction: { status: 'PENDING' },
    })

    const { executeQuote } = await ask(
      `mutation ($input: ExecuteQuoteInput!) { executeQuote(input: $input) { quote { status transaction { status source { account { ... on InternalAccount { balance { amount } } } } } } errors { code } } }`,
      { input: { quoteId: quote.id } },
    )
    expect(executeQuote).toMatchObject({ quote: { status: 'PROCESSING', transaction: { status: 'PROCESSING' } }, errors: [] })
    await world.drain()
    const { transaction } = await ask(
      `query ($id: ID!) { transaction(id: $id) { status settledAt sentAmount { amount } receivedAmount { display currency { code symbol } } fees { amount }
        quote { id status } customer { id fullName } reference destination { account { __typename } currency } } }`,
      { id: quote.transaction.id },
    )
    expect(transaction).toMatchObject({
      status: 'COMPLETED',
      receivedAmount: { display: '17163.75', currency: { code: 'MXN' } },
      quote: { id: quote.id, status: 'COMPLETED' },
      customer: { id: customer.id, fullName: 'Ada' },
      destination: { account: { __typename: 'ExternalAccount' }, currency: 'MXN' },
    })
  })

  test('that is refused says why in its payload', async () => {
    const payer = await newPayer(world, { balance: 0 })
    const { createQuote: refused } = await ask(createQuote, quoteVariables(payer, { lockedCurrencyAmount: '-5' }))
    expect(refused).toMatchObject({
      quote: null,
      errors: [{ code: 'INVALID_AMOUNT', field: 'lockedCurrencyAmount', errors: [{ field: 'lockedCurrencyAmount' }] }],
    })
    const quote = await newQuote(world, payer)
    const { executeQuote } = await ask(
      'mutation ($input: ExecuteQuoteInput!) { executeQuote(input: $input) { quote { id } errors { code field } } }',
      { input: { quoteId: quote['id'] } },
    )
    expect(executeQuote).toEqual({ quote: null, errors: [{ code: 'INSUFFICIENT_BALANCE', field: 'source.accountId' }] })
  })
})

test('what is made comes with its edge, and what is deleted with its id, for stores that keep lists', async () => {
  const made = await ask(
    `mutation { createCustomer(input: { platformCustomerId: "edges", customerType: INDIVIDUAL, fullName: "Ada" }) {
      customer { id } customerEdge { cursor node { id fullName } } errors { code } } }`,
  )
  const { customer, customerEdge } = made['createCustomer']
  const { customers } = await ask('{ customers(first: 1) { edges { cursor node { id fullName } } } }')
  expect(customers.edges).toEqual([customerEdge])
  const gone = 'mutation ($id: ID!) { deleteCustomer(input: { customerId: $id }) { deletedId errors { code } } }'
  expect((await ask(gone, { id: customer.id }))['deleteCustomer']).toEqual({ deletedId: customer.id, errors: [] })
  expect((await ask(gone, { id: customer.id }))['deleteCustomer']).toMatchObject({ deletedId: null, errors: [{}] })
  const refused = await ask(
    'mutation { createToken(input: { name: "", permissions: [VIEW] }) { tokenEdge { cursor } errors { field } } }',
  )
  expect(refused['createToken']).toEqual({ tokenEdge: null, errors: [{ field: 'name' }] })
})

describe('nodes', () => {
  test('of every type are found by the id REST shows, and null for what is not there', async () => {
    const payer = await newPayer(world)
    const quote = await newQuote(world, payer)
    const ids = [payer.customer['id'], payer.dollars['id'], payer.euros['id'], quote['id'], quote['transactionId']]
    for (const id of ids) {
      const { node } = await ask('query ($id: ID!) { node(id: $id) { __typename id } }', { id })
      expect(node).toEqual({ __typename: id.split(':')[0], id })
    }
    const { body: token } = await world.rest('POST', '/tokens', { name: 'x', permissions: ['VIEW'] })
    const { body: config } = await world.rest('GET', '/config')
    const form = new FormData()
    form.append('file', new File(['platformCustomerId,customerType\nx,INDIVIDUAL\n'], 'customers.csv'))
    const headers = { authorization: `Basic ${btoa('sandbox:sandbox-secret')}` }
    const uploaded = await fetch(`${world.gateway.url}/2025-10-13/customers/bulk/csv`, { method: 'POST', headers, body: form })
    const { jobId } = (await uploaded.json()) as Body
    for (const [type, id] of [
      ['ApiToken', token['id']],
      ['PlatformConfig', config['id']],
      ['BulkImportJob', jobId],
    ]) {
      expect((await ask('query ($id: ID!) { node(id: $id) { __typename id } }', { id }))['node']).toEqual({
        __typename: type,
        id,
      })
      const { body } = await world.graphql('query ($id: ID!) { node(id: $id) { id } }', { id }, { as: world.stranger })
      expect(body['data']).toEqual({ node: null })
    }
    const { nodes } = await ask('query ($ids: [ID!]!) { nodes(ids: $ids) { id } }', { ids: ids.toReversed() })
    expect(nodes.map(({ id }: Body) => id)).toEqual(ids.toReversed())
    for (const id of [
      'Quote:01890000-0000-7000-8000-000000000000',
      'Quote:nonsense',
      'Nothing:x',
      '',
      quote['id'].toUpperCase(),
    ]) {
      const { body } = await world.graphql('query ($id: ID!) { node(id: $id) { id } }', { id })
      expect([id, body]).toMatchObject([id, { data: { node: null } }])
    }
  })
})

describe('lists', () => {
  test('are nested both ways: customer ↔ accounts ↔ quotes ↔ transactions', async () => {
    const payer = await newPayer(world)
    const quote = await newQuote(world, payer)
    const { customer } = await ask(
      `query ($id: ID!) { customer(id: $id) {
        externalAccounts { edges { node { id customer { id } transactions { edges { node { id } } } quotes { totalCount } } } }
        quotes { totalCount edges { node { id customer { id } transaction { quote { id } } source { account { ... on InternalAccount { id customer { id } } } } } } }
        transactions { totalCount edges { node { type quote { transaction { type } } } } }
        internalAccounts(first: 100) { totalCount edges { node { id quotes { edges { node { id } } } outgoingTransactions { totalCount } incomingTransactions { totalCount } } } }
      } }`,
      { id: payer.customer['id'] },
    )
    const [external] = customer.externalAccounts.edges
    expect(external.node).toMatchObject({
      id: payer.euros['id'],
      customer: { id: payer.customer['id'] },
      quotes: { totalCount: 1 },
    })
    expect(external.node.transactions.edges).toEqual([{ node: { id: quote['transactionId'] } }])
    expect(customer.quotes).toMatchObject({
      totalCount: 1,
      edges: [
        {
          node: {
            id: quote['id'],
            transaction: { quote: { id: quote['id'] } },
            source: { account: { id: payer.dollars['id'] } },
          },
        },
      ],
    })
    expect(customer.transactions.totalCount).toBe(2)
    const dollars = customer.internalAccounts.edges.find(({ node }: Body) => node.id === payer.dollars['id']).node
    expect(dollars).toMatchObject({
      quotes: { edges: [{ node: { id: quote['id'] } }] },
      outgoingTransactions: { totalCount: 1 },
      incomingTransactions: { totalCount: 1 },
    })
    expect(customer.internalAccounts.totalCount).toBe(8)
  })

  test('are walked by cursor without a gap or a repeat, also nested and with equal times', async () => {
    const payer = await newPayer(world)
    const made: string[] = []
    for (let index = 0; index < 7; index += 1) made.push((await newQuote(world, payer))['id'])
    const walk = async (query: string, list: (data: Body) => Body) => {
      const seen: string[] = []
      let after: string | null = null
      for (;;) {
        const page = list(await ask(query, { id: payer.customer['id'], after }))
        seen.push(...page['edges'].map(({ node }: Body) => node.id))
        expect(page['pageInfo'].hasPreviousPage).toBe(after !== null)
        if (!page['pageInfo'].hasNextPage) return seen
        after = page['pageInfo'].endCursor
      }
    }
    const fields = '(first: 3, after: $after) { edges { cursor node { id } } pageInfo { hasNextPage hasPreviousPage endCursor } }'
    const nested = await walk(
      `query ($id: ID!, $after: String) { customer(id: $id) { quotes${fields} } }`,
      ({ customer }) => customer.quotes,
    )
    const flat = await walk(
      `query ($id: ID!, $after: String) { quotes${fields.replace('(', '(customerId: $id, ')} }`,
      ({ quotes }) => quotes,
    )
    expect(nested.toSorted()).toEqual(made.toSorted())
    expect(flat).toEqual(nested)
  })

  test('refuse a page size or a cursor that cannot be', async () => {
    for (const args of ['first: 0', 'first: 101', 'after: "nonsense"']) {
      const { body } = await world.graphql(`{ customers(${args}) { edges { cursor } } }`)
      expect([args, body['errors'][0].extensions.code]).toEqual([args, 'INVALID_INPUT'])
    }
  })

  test('cost one statement a level, however many parents there are', async () => {
    for (let index = 0; index < 5; index += 1) {
      const customer = await newCustomer(world)
      await newIbanAccount(world, customer['id'])
      await internalAccountOf(world, customer['id'], 'USD')
    }
    const statements: string[] = []
    const { query } = world.database
    world.database.query = (text, parameters) => {
      statements.push(text)
      return query(text, parameters)
    }
    await ask(`{ customers(first: 5) { edges { node { id
      internalAccounts { edges { node { id customer { id } } } }
      externalAccounts { edges { node { id quotes { edges { node { id } } } } } }
      transactions { edges { node { id quote { id } } } } } } } }`)
    world.database.query = query
    const read = statements.filter((text) => !/api_token/.test(text))
    expect(read.length).toBeLessThanOrEqual(7)
  })
})

describe('the door', () => {
  test('asks for credentials: 401, as JSON', async () => {
    for (const as of [null, { clientId: 'sandbox', clientSecret: 'wrong' }, { clientId: 'nobody', clientSecret: 'x' }]) {
      const { status, body, headers } = await world.graphql('{ __typename }', {}, { as })
      expect(status).toBe(401)
      expect(body['errors'][0]).toMatchObject({ extensions: { code: 'UNAUTHORIZED' } })
      expect(headers.get('www-authenticate')).toMatch(/^Basic/)
    }
  })

  test('asks for the permission of what is done', async () => {
    const token = async (permissions: string[]) => {
      const { body } = await world.rest('POST', '/tokens', { name: permissions.join(), permissions })
      return { clientId: body['clientId'], clientSecret: body['clientSecret'] }
    }
    const payer = await newPayer(world)
    const view = await token(['VIEW'])
    const { body } = await world.graphql(createQuote, quoteVariables(payer), { as: view })
    expect(body['data'].createQuote.errors[0].code).toBe('FORBIDDEN')
    const transact = await token(['TRANSACT'])
    const refused = await world.graphql('{ quotes { totalCount } }', {}, { as: transact })
    expect(refused.body['errors'][0].extensions.code).toBe('FORBIDDEN')
    const node = await world.graphql('query ($id: ID!) { node(id: $id) { id } }', { id: payer.customer['id'] }, { as: transact })
    expect(node.body['errors'][0].extensions.code).toBe('FORBIDDEN')
    const made = await world.graphql(
      'mutation ($input: CreateQuoteInput!) { createQuote(input: $input) { quote { id } errors { code } } }',
      quoteVariables(payer),
      { as: transact },
    )
    expect(made.body['data'].createQuote.errors).toEqual([])
  })

  test('masks bugs and shows refusals', async () => {
    const { query } = world.database
    world.database.query = async () => {
      throw new Error('secret detail')
    }
    const { body } = await world.graphql('{ quotes { totalCount } }')
    world.database.query = query
    expect(body['errors'][0].extensions.code).toBe('INTERNAL_ERROR')
    expect(JSON.stringify(body)).not.toContain('secret detail')
  })

  test('takes JSON only, and no mutation by GET', async () => {
    const form = await fetch(`${world.gateway.url}/graphql`, {
      method: 'POST',
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
      body: 'query={__typename}',
    })
    expect(form.status).toBe(415)
    const headers = { authorization: `Basic ${btoa('sandbox:sandbox-secret')}`, accept: 'application/json' }
    const get = (query: string) => fetch(`${world.gateway.url}/graphql?query=${encodeURIComponent(query)}`, { headers })
    expect(await (await get('{ __typename }')).json()).toMatchObject({ data: { __typename: 'Query' } })
    expect((await get('mutation { __typename }')).status).toBe(405)
  })

  test('refuses documents that are too long, too deep or too dear', async () => {
    const long = `{ ${Array.from({ length: 3000 }, (_, index) => `a${index}: __typename`).join(' ')} }`
    const dear = `{ customers(first: 100) { edges { node { quotes(first: 100) { edges { node { id customer { transactions(first: 100) { edges { node { id } } } } } } } } } } }`
    const deep = `{ customers { edges { node { ${'quotes { edges { node { customer { '.repeat(8)}id${' } } } }'.repeat(8)} } } } }`
    for (const query of [long, dear, deep]) {
      const { text, body } = await world.graphql(query)
      expect(body['errors'].length).toBeGreaterThan(0)
      expect(body['data'] ?? null).toBeNull()
      expect(text.length).toBeLessThan(2000)
    }
  })
})

test('tokens are made, listed and taken away over the graph', async () => {
  const create =
    'mutation ($input: CreateTokenInput!) { createToken(input: $input) { token { id clientId clientSecret permissions } errors { code } } }'
  const { body } = await world.graphql(create, { input: { name: 'graph', permissions: ['VIEW'] } })
  const { token } = body['data'].createToken
  const read = async () =>
    world.graphql(
      'query ($id: ID!) { token(id: $id) { name clientSecret } tokens(name: "graph") { totalCount edges { node { id } } } }',
      token,
      { as: token },
    )
  expect((await read()).body['data']).toEqual({
    token: { name: 'graph', clientSecret: null },
    tokens: { totalCount: 1, edges: [{ node: { id: token.id } }] },
  })
  const remove = 'mutation ($id: ID!) { deleteToken(input: { tokenId: $id }) { token { id } errors { code } } }'
  expect((await world.graphql(remove, token, { as: token })).body['data'].deleteToken.errors).toEqual([{ code: 'FORBIDDEN' }])
  expect((await world.graphql(remove, token)).body['data'].deleteToken).toEqual({ token: { id: token.id }, errors: [] })
  expect((await read()).status).toBe(401)
})
