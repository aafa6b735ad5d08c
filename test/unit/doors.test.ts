import { globSync, readFileSync } from 'node:fs'
import { expect, test } from 'vitest'

/** What a platform can ask for has a place on both doors, or a reason why it has not. */
const reasons: Readonly<Record<string, { rest?: string; graphql?: string }>> = {
  getCustomer: { graphql: 'customer(id:) and node(id:) load it with its siblings' },
  getExternalAccount: { graphql: 'externalAccount(id:) and node(id:) load it with its siblings' },
  getQuote: { graphql: 'node(id:) loads it with its siblings' },
  getTransaction: { graphql: 'transaction(id:) and node(id:) load it with its siblings' },
  getWebhookDelivery: { graphql: 'webhookDeliveries shows attempts and body' },
  listEvents: { graphql: 'events reads the same log, as Relay wants it' },
  readLog: { rest: 'GET /events shows the same log in the form of webhooks' },
  uploadCustomers: { graphql: 'files are uploaded over REST alone: a multipart mutation can be sent across sites' },
  registerOperation: { rest: 'what is registered is GraphQL' },
  unregisterOperation: { rest: 'what is registered is GraphQL' },
  listPersistedOperations: { rest: 'what is registered is GraphQL' },
  forgetViewerToken: internal(),
  submitKyc: { rest: 'the hosted page asks for it', graphql: 'the hosted page asks for it' },
  expireQuote: internal(),
  expireApproval: internal(),
  answerApproval: internal(),
  settlePayment: internal(),
  settleReturn: internal(),
  receiveDeposit: internal(),
  forgetLookup: internal(),
  linkAccount: internal(),
  importRows: internal(),
  openAccounts: internal(),
  moveAddresses: internal(),
  expireKycLink: internal(),
  decideKyc: { rest: 'the operator’s door asks for it', graphql: 'the operator’s door asks for it' },
  expireInvitation: internal(),
  receivePayRequest: ofUma(),
  settlePayRequest: ofUma(),
}

function internal() {
  const reason = 'the service itself asks for it'
  return { rest: reason, graphql: reason }
}

function ofUma() {
  const reason = 'other providers ask for it, in the messages of UMA'
  return { rest: reason, graphql: reason }
}

const textOf = (pattern: string) =>
  globSync(pattern)
    .map((file) => readFileSync(file, 'utf8'))
    .join('\n')

const doors = { rest: textOf('src/rest/*.ts'), graphql: textOf('src/graphql/**/*.ts') }

const asked = [...textOf('src/core/**/*.ts').matchAll(/export const (\w+) = (?:query|listQuery|operation|action)\(/g)].map(
  ([, name]) => name!,
)

test('there are as many operations as that', () => {
  expect(asked.length).toBeGreaterThan(45)
  expect(Object.keys(reasons).filter((name) => !asked.includes(name))).toEqual([])
})

test.each(asked)('%s has a place on both doors, or a reason', (name) => {
  for (const door of ['rest', 'graphql'] as const) {
    const there = new RegExp(`\\b${name}\\b`).test(doors[door])
    const reason = reasons[name]?.[door]
    expect([door, there ? 'a place' : reason], `${name}: ${door}`).toEqual([door, reason ?? 'a place'])
  }
})
