/**
 * The same story told twice: over REST in one world, over GraphQL in another. Each answer of the one is compared with the other's, field by
 * field, as far as the story goes; then each is told again, and of things that nobody has, and the refusals are compared; at last what
 * has happened in both worlds. The story is the reference's examples.
 */

import {
  type GraphQLOutputType,
  getNamedType,
  getNullableType,
  isAbstractType,
  isLeafType,
  isListType,
  isObjectType,
} from 'graphql'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { schema } from '../src/graphql/schema.ts'
import { type Example, examples, webhookEndpoint } from '../src/rest/examples.ts'
import { endpointOf, urlOf, withIds } from './endpoints.ts'
import { openReceiver, type Receiver } from './receiver.ts'
import { type Body, useWorld, type World } from './world.ts'

const rest = useWorld({ background: true })
const graph = useWorld({ background: true })
const receivers: Receiver[] = []
/** What the ids of the examples really are, in each world. */
const ids = new Map<World, Map<string, string>>([
  [rest, new Map()],
  [graph, new Map()],
])

beforeAll(async () => {
  for (const [world, real] of ids) {
    const receiver = await openReceiver()
    receiver.answer = ({ type, transaction }) => ({
      status: type === 'INCOMING_PAYMENT' && transaction.status === 'PENDING' ? 202 : 200,
    })
    receivers.push(receiver)
    real.set(webhookEndpoint, receiver.url)
    expect(world.gateway.url).toBeDefined()
  }
})

afterAll(() => {
  for (const receiver of receivers) receiver.close()
})

// ── What the graph calls it ──────────────────────────────────────────────────────────────────────────────────────────────────────

type Document = { mutation: string; input?: (given: Body) => Body } | { query: string; args?: (given: Body) => Body }

const same = (given: Body) => given
const one = (name: string) => (given: Body) => ({ id: given[name] })
const page = ({ limit, ...rest }: Body) => ({ ...rest, ...(limit === undefined ? {} : { first: limit }) })
const userInfo = (record: Body | undefined) => record && Object.entries(record).map(([name, value]) => ({ name, value }))

function accountInfo({ accountType, beneficiary, ...details }: Body): Body {
  const { beneficiaryType, ...who } = beneficiary ?? {}
  const name =
    accountType === 'IBAN'
      ? 'iban'
      : accountType.toLowerCase().replace(/_(\w)/g, (_all: string, letter: string) => letter.toUpperCase())
  return { [name]: { ...details, ...(beneficiary ? { beneficiary: { [beneficiaryType.toLowerCase()]: who } } : {}) } }
}

const externalAccount = (given: Body) => ({ ...given, accountInfo: accountInfo(given['accountInfo']) })

function quoteInput({ source, destination, senderCustomerInfo, ...given }: Body): Body {
  const { sourceType: _sourceType, ...from } = source
  const { externalAccountDetails: details, umaAddress } = destination
  return {
    ...given,
    source: from.accountId ? { account: from } : { realtimeFunding: from },
    destination: details
      ? { externalAccountDetails: externalAccount(details) }
      : umaAddress
        ? { umaAddress: destination }
        : { account: destination },
    ...(senderCustomerInfo ? { senderCustomerInfo: userInfo(senderCustomerInfo) } : {}),
  }
}

/** By the operation of the endpoint. */
const documents: Readonly<Record<string, Document>> = {
  getConfiguration: { query: 'platform' },
  updateConfiguration: { mutation: 'updateConfiguration' },
  createToken: { mutation: 'createToken' },
  listTokens: { query: 'tokens', args: page },
  getToken: { query: 'token', args: one('tokenId') },
  deleteToken: { mutation: 'deleteToken' },
  createViewerToken: { mutation: 'createViewerToken' },
  listViewerTokens: { query: 'viewerTokens', args: page },
  deleteViewerToken: { mutation: 'deleteViewerToken' },
  createCustomer: { mutation: 'createCustomer' },
  listCustomers: { query: 'customers', args: page },
  getCustomer: { query: 'customer', args: one('customerId') },
  updateCustomer: { mutation: 'updateCustomer' },
  deleteCustomer: { mutation: 'deleteCustomer' },
  createKycLink: { mutation: 'createKycLink' },
  createInvitation: { mutation: 'createInvitation' },
  getInvitation: { query: 'invitation', args: ({ invitationCode: code }) => ({ code }) },
  claimInvitation: { mutation: 'claimInvitation' },
  cancelInvitation: { mutation: 'cancelInvitation' },
  createLinkToken: { mutation: 'createLinkToken' },
  completeBankLink: { mutation: 'completeBankLink' },
  listCustomerInternalAccounts: { query: 'internalAccounts', args: page },
  listPlatformInternalAccounts: { query: 'platformInternalAccounts', args: page },
  createCustomerExternalAccount: { mutation: 'createExternalAccount', input: externalAccount },
  listCustomerExternalAccounts: { query: 'externalAccounts', args: page },
  getExternalAccountOfCustomer: { query: 'externalAccount', args: one('externalAccountId') },
  createPlatformExternalAccount: { mutation: 'createPlatformExternalAccount', input: externalAccount },
  listPlatformExternalAccounts: { query: 'platformExternalAccounts', args: page },
  getExternalAccountOfPlatform: { query: 'externalAccount', args: one('externalAccountId') },
  deleteExternalAccountOfPlatform: { mutation: 'deleteExternalAccount' },
  deleteExternalAccountOfCustomer: { mutation: 'deleteExternalAccount' },
  lookUpUmaAddress: { mutation: 'lookUpUmaAddress' },
  lookUpExternalAccount: { mutation: 'lookUpExternalAccount' },
  listExchangeRates: {
    query: 'exchangeRates',
    args: ({ destinationCurrency, ...given }) => ({ ...given, destinationCurrencies: destinationCurrency }),
  },
  listUmaProviders: { query: 'umaProviders', args: page },
  fundInternalAccount: { mutation: 'fundInternalAccount' },
  createQuote: { mutation: 'createQuote', input: quoteInput },
  listQuotes: { query: 'quotes', args: page },
  getQuote: { query: 'quote', args: one('quoteId') },
  executeQuote: { mutation: 'executeQuote' },
  sandboxSend: { mutation: 'sandboxSend' },
  cancelTransaction: { mutation: 'cancelTransaction' },
  transferOut: { mutation: 'transferOut' },
  transferIn: { mutation: 'transferIn' },
  listTransactions: { query: 'transactions', args: page },
  getTransaction: { query: 'transaction', args: one('transactionId') },
  receiveUma: { mutation: 'sandboxReceiveUma' },
  approveTransaction: {
    mutation: 'approveTransaction',
    input: ({ receiverUserInfo, ...given }) => ({ ...given, receiverUserInfo: userInfo(receiverUserInfo) }),
  },
  rejectTransaction: { mutation: 'rejectTransaction' },
  testWebhook: { mutation: 'testWebhook' },
  rotateWebhookKey: { mutation: 'rotateWebhookKey' },
  getWebhookHealth: { query: 'webhookHealth' },
  listWebhookDeliveries: { query: 'webhookDeliveries', args: page },
  redeliverWebhook: { mutation: 'redeliverWebhook' },
  redeliverWebhooks: { mutation: 'redeliverWebhooks' },
}

/** Told in another way there. */
const elsewhere: Readonly<Record<string, string>> = {
  uploadCustomers: 'files are uploaded over REST alone',
  getBulkJob: 'of a file that was uploaded',
  listEvents: 'events, which are followed by subscription',
  listWebhookKeys: 'platform { webhookKeys }',
  getWebhookDelivery: 'webhookDeliveries shows attempts and body',
}

test('every endpoint has its place in the graph, or a reason why it has not', () => {
  for (const { of } of examples) expect([of, documents[of] ? 'a place' : elsewhere[of]]).toEqual([of, expect.any(String)])
})

// ── Both doors ───────────────────────────────────────────────────────────────────────────────────────────────────────────────────

interface Answer {
  /** What was made or found. */
  value: unknown
  /** Instead: why not. */
  refusal?: { code: string; field: string | undefined; message: string }
}

async function overRest(example: Example, world: World = rest): Promise<Answer> {
  const endpoint = endpointOf(example.of)
  const reply = await world.rest(endpoint.method, urlOf(endpoint, example), example.body)
  if (reply.status < 400) return { value: reply.body }
  const { code, message, details } = reply.body
  return { value: undefined, refusal: { code, field: details?.field, message } }
}

/** Asks the graph for as much as `shown`, REST's answer, has. */
async function overGraphql({ of, path = {}, query = {}, body = {} }: Example, shown: unknown): Promise<Answer> {
  const document = documents[of]!
  const given = { ...query, ...(body as Body), ...path }
  if ('query' in document) return askGraph(document.query, (document.args ?? same)(given), shown)
  const { mutation } = document
  const field = schema.getMutationType()!.getFields()[mutation]!
  const payload = getNamedType(field.type)
  const made = isObjectType(payload) ? Object.values(payload.getFields()).find(({ name }) => name !== 'errors')! : undefined
  const input = field.args[0]
  const text = `mutation ${input ? `($input: ${input.type})` : ''} { answer: ${mutation}${input ? '(input: $input)' : ''} {
    made: ${made!.name}${selection(made!.type, shown)} errors { code field message }
  } }`
  const { body: reply } = await graph.graphql(text, input ? { input: (document.input ?? same)(given) } : {})
  if (reply['errors']) return { value: undefined, refusal: topLevel(reply) }
  const { made: value, errors } = reply['data'].answer
  return errors.length > 0 ? { value: undefined, refusal: { ...errors[0], field: errors[0].field ?? undefined } } : { value }
}

async function askGraph(name: string, args: Body, shown: unknown): Promise<Answer> {
  const field = schema.getQueryType()!.getFields()[name]!
  const used = field.args.filter((arg) => args[arg.name] !== undefined)
  const declared = used.map((arg) => `$${arg.name}: ${arg.type}`).join(', ')
  const passed = used.map((arg) => `${arg.name}: $${arg.name}`).join(', ')
  const text = `query ${declared && `(${declared})`} { answer: ${name}${passed && `(${passed})`} ${selection(field.type, shown)} }`
  const { body: reply } = await graph.graphql(text, args)
  if (reply['errors']) return { value: undefined, refusal: topLevel(reply) }
  return { value: reply['data'].answer }
}

function topLevel({ errors: [{ message, extensions = {} }] }: Body): NonNullable<Answer['refusal']> {
  const { code, details } = extensions
  return { code, field: details?.field, message }
}

/** Those of a type's fields that REST shows too. */
function selection(type: GraphQLOutputType, shown: unknown): string {
  const named = getNamedType(type)
  if (isLeafType(named)) return ''
  if (named.name === 'UserInfo') return '{ name value }'
  const items = Array.isArray(shown)
    ? shown
    : isListType(getNullableType(type))
      ? ((shown as Body | undefined)?.['data'] ?? [])
      : undefined
  // Of a list, whatever any of its items shows.
  const example = items ? items.reduce(merged, undefined) : shown
  if (named.name.endsWith('Connection') && isObjectType(named)) {
    const edge = getNamedType(named.getFields()['edges']!.type)
    const node = isObjectType(edge) ? edge.getFields()['node']!.type : undefined
    return `{ totalCount pageInfo { hasNextPage } edges { node ${selection(node!, (shown as Body | undefined)?.['data'])} } }`
  }
  const possible = isAbstractType(named) ? schema.getPossibleTypes(named) : []
  if (possible.length > 0) {
    const fragments = possible.map((one) => `... on ${one.name} ${selection(one, example)}`)
    return `{ __typename ${fragments.join(' ')} }`
  }
  if (!isObjectType(named)) return ''
  const fields = Object.values(named.getFields()).filter(({ args }) =>
    args.every(({ defaultValue }) => defaultValue !== undefined),
  )
  const chosen = fields.flatMap((field) => {
    const value = shownAs(example as Body | undefined, named.name, field.name)
    const isMoney = getNamedType(field.type).name === 'CurrencyAmount'
    if (isMoney) return value === undefined ? [] : [`${field.name} { amount currency { code name symbol decimals } }`]
    if ((example as Body | undefined)?.[`${field.name}Id`] !== undefined) return [`${field.name} ${idOnly(field.type)}`]
    if (value === undefined) return []
    return [`${field.name} ${selection(field.type, value)}`]
  })
  return `{ __typename ${chosen.join(' ')} }`
}

/** Fields that the graph calls otherwise than the specification. */
const renames: Readonly<Record<string, string>> = {
  'RedeliveredWebhooks.redelivered': 'count',
  'TestedWebhook.response_body': 'responseBody',
  'TestedWebhook.response_status': 'responseStatus',
  'UmaProvider.allowListStatus': 'isAllowed',
  'WebhookDelivery.attempts': 'attemptCount',
}

function isObject(value: unknown): value is Body {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** What either of two values shows. */
function merged(left: unknown, right: unknown): unknown {
  if (!isObject(left) || !isObject(right)) return left ?? right
  return Object.fromEntries(
    [...new Set([...Object.keys(left), ...Object.keys(right)])].map((key) => [key, merged(left[key], right[key])]),
  )
}

function shownAs(shown: Body | undefined, type: string, field: string): unknown {
  const former = Object.entries(renames).find(([from, to]) => from.startsWith(`${type}.`) && to === field)?.[0]
  return former ? shown?.[former.split('.')[1]!] : renames[`${type}.${field}`] ? undefined : shown?.[field]
}

function idOnly(type: GraphQLOutputType): string {
  const named = getNamedType(type)
  return isAbstractType(named)
    ? `{ ${schema
        .getPossibleTypes(named)
        .map(({ name }) => `... on ${name} { id }`)
        .join(' ')} }`
    : '{ id }'
}

// ── Comparing ────────────────────────────────────────────────────────────────────────────────────────────────────────────────────

/** What REST shows and the graph does not, or elsewhere: each with where. */
const onlyInRest = new Set<string>()

const knownDifferences: Readonly<Record<string, string>> = {
  'ExchangeRate.fees': 'fixedFees and totalFees',
  'IbanAccountInfo.accountType': 'the type of the object says it',
  'IndividualBeneficiary.beneficiaryType': 'the type of the object says it',
  'PaymentSource.customerId': "the quote's customer",
  'Transaction.reconciliationInstructions': 'reference',
  'UsAccountInfo.accountType': 'the type of the object says it',
}

/** Random in every world. */
const random = new Set([
  'callbackUrl',
  'clientId',
  'clientSecret',
  'code',
  'fundingPaymentInstructions',
  'kycUrl',
  'linkToken',
  'lookupId',
  'nextCursor',
  'paymentInstructions',
  'publicKey',
  'token',
  'reference',
  'requestId',
  'umaAddress',
  'url',
])

function compare(shown: unknown, graphs: unknown, at: string): void {
  if (Array.isArray(shown)) {
    expect(graphs, at).toHaveLength(shown.length)
    for (const [index, item] of shown.entries()) compare(item, (graphs as unknown[])[index], `${at}[]`)
  } else if (typeof shown === 'object' && shown !== null) compareObjects(shown as Body, graphs as Body, at)
  else if (typeof shown === 'number') {
    const money = (graphs as Body | null)?.['amount']
    expect(Number(money ?? graphs), at).toBe(shown)
  } else expect([at, masked(graph, graphs)]).toEqual([at, masked(rest, shown)])
}

function compareObjects(shown: Body, graphs: Body, at: string): void {
  expect(graphs, at).not.toBeNull()
  if (Array.isArray(graphs)) {
    compare(shown['data'] ?? Object.entries(shown).map(([name, value]) => ({ name, value })), graphs, at)
    return
  }
  if (graphs['edges']) {
    const { edges, totalCount, pageInfo } = graphs
    expect(pageInfo.hasNextPage, at).toBe(shown['hasMore'])
    if (shown['totalCount'] !== undefined) expect(totalCount, at).toBe(shown['totalCount'])
    const nodes = edges.map(({ node }: Body) => node)
    compare(shown['data'], nodes, `${at}.data`)
    return
  }
  const where = graphs['__typename'] ?? at
  for (const [key, value] of Object.entries(shown)) {
    if (random.has(key)) continue
    const name = renames[`${where}.${key}`] ?? key
    if (name in graphs) compare(value, graphs[name], `${where}.${key}`)
    else if (key.endsWith('Id') && key.slice(0, -2) in graphs) compare(value, graphs[key.slice(0, -2)]?.id, `${where}.${key}`)
    else onlyInRest.add(`${where}.${key}`)
  }
}

/** The ids of a world as the examples have them, and whatever else is random in it without its randomness. */
function masked(world: World, value: unknown): unknown {
  if (typeof value !== 'string') return value
  const known = [...ids.get(world)!].find(([, real]) => real === value)
  if (known) return known[0]
  // The number of the account that the bank link found.
  if (/^\d{12}$/.test(value)) return 'a number'
  return value.replace(/\b([A-Z]\w+):[0-9a-f-]{36}/g, '$1:*').replace(/127\.0\.0\.1:\d+/g, 'host')
}

const realIn = (world: World) => ids.get(world)!

/** A query for what does not exist answers null, where REST answers 404. */
function compareRefusals(shown: Answer, graphs: Answer): void {
  if (graphs.value === null && !graphs.refusal) expect(shown.refusal?.code).toMatch(/_NOT_FOUND$/)
  else expect(graphs.refusal).toEqual(shown.refusal)
}

const files = ['uploadCustomers', 'getBulkJob']
const told = examples.filter(({ of }) => !files.includes(of))
const story = told.filter(({ of }) => documents[of])

/** What has been begun is over, and what comes next is later than it: lists have one order in both worlds. */
async function drained(): Promise<void> {
  await Promise.all([rest.drain(), graph.drain()])
  for (const { clock } of [rest, graph]) clock.advance(1)
}

describe('told once, both doors answer the same', () => {
  test.each(told.map((example) => [example.of, example] as const))('%s', async (of, example) => {
    await drained()
    const shown = await overRest(withIds(example, realIn(rest)))
    expect(shown.refusal).toBeUndefined()
    if (!documents[of]) {
      bring(example, rest, shown.value)
      bring(example, graph, (await overRest(withIds(example, realIn(graph)), graph)).value)
      return
    }
    const graphs = await overGraphql(withIds(example, realIn(graph)), shown.value)
    expect(graphs.refusal).toBeUndefined()
    bring(example, rest, shown.value)
    bring(example, graph, graphs.value)
    if (shown.value !== undefined && Object.keys(shown.value as Body).length > 0) compare(shown.value, graphs.value, example.of)
  })
})

function bring({ brings = {} }: Example, world: World, value: unknown): void {
  for (const [id, place] of Object.entries(brings)) ids.get(world)!.set(id, valueAt(value, place))
}

function valueAt(value: unknown, place: string): string {
  const whole = value as Body
  const list = whole?.['edges'] ? { data: whole['edges'].map(({ node }: Body) => node) } : whole
  const found = place.split('.').reduce<unknown>((at, key) => {
    const object = at as Body
    return object[key] ?? object[key.replace(/Id$/, '')]?.id
  }, list)
  expect(found, place).toEqual(expect.any(String))
  return found as string
}

test('what only REST shows, is known', () => {
  expect([...onlyInRest].sort()).toEqual(Object.keys(knownDifferences).sort())
})

describe('told again, both refuse the same or answer the same', () => {
  test.each(story.map((example) => [example.of, example] as const))('%s', async (_of, example) => {
    await drained()
    const shown = await overRest(withIds(example, realIn(rest)))
    compareRefusals(shown, await overGraphql(withIds(example, realIn(graph)), shown.value))
  })
})

describe('told of what nobody has, both refuse the same', () => {
  const nobodys = story.map(
    (example) =>
      JSON.parse(JSON.stringify(example).replaceAll('$ada.lovelace@', '$nobody@').replaceAll('$success.', '$nobody.')) as Example,
  )
  test.each(nobodys.map((example) => [example.of, example] as const))('%s', async (_of, example) => {
    const shown = await overRest(example)
    compareRefusals(shown, await overGraphql(example, shown.value))
  })
})

test('and the same has happened in both worlds', async () => {
  await drained()
  const happened = async (world: World) => {
    const { body } = await world.rest('GET', '/events?limit=100')
    const ofResource = Map.groupBy(body['data'] as Body[], ({ resourceId }) => resourceId)
    return [...ofResource.values()]
      .map((events) =>
        events
          .map(({ event }) => [event.type, event.transaction?.status ?? event.newBalance?.amount ?? null].join(' '))
          .join(', '),
      )
      .sort()
  }
  expect(await happened(graph)).toEqual(await happened(rest))
})
