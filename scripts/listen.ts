/**
 * Webhooks on a machine that nobody outside can reach: follows the events of a world and posts each, signed as a webhook would be, to a server
 * of yours. Goes on after the last event it has posted when the connection is lost.
 *
 *   npm run listen -- --forward-to http://localhost:3000/hook [--types INCOMING_PAYMENT,KYC_STATUS] [--after <cursor>]
 *
 * A request for approval is decided by your server's answer, as a webhook's would be: 200 approves, 403 rejects, 202 leaves it to a call. Let the
 * platform's `incomingPaymentApproval` be API for that: then no webhook endpoint is needed.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { base, NotPossible, readAuthorization } from './running-gateway.ts'

type Body = Record<string, any>

const { values: options } = parseArgs({
  options: { 'forward-to': { type: 'string' }, types: { type: 'string' }, after: { type: 'string' } },
})

const subscription = `subscription ($types: [EventType!], $after: String) { events(types: $types, after: $after) {
  id type webhook { body signature } ... on PaymentEvent { transaction { id } approvalDeadline }
} }`

const decisions: Record<string, string> = {
  approveTransaction: `mutation ($input: ApproveTransactionInput!) { approveTransaction(input: $input) { errors { message } } }`,
  rejectTransaction: `mutation ($input: RejectTransactionInput!) { rejectTransaction(input: $input) { errors { message } } }`,
}

const reconnectMs = 1000
const patienceMs = 15_000

async function listen(forwardTo: string): Promise<never> {
  const authorization = readAuthorization()
  let after = options.after
  for (;;) {
    try {
      for await (const { event, cursor } of follow(authorization, after)) {
        await forward(event, forwardTo, authorization)
        after = cursor
      }
      console.log('The gateway has ended the stream; going on.')
    } catch (error) {
      if (error instanceof NotPossible) throw error
      console.log(`The gateway at ${base} cannot be reached (${reasonOf(error)}); trying again.`)
    }
    await sleep(reconnectMs)
  }
}

/** The events of the world as they happen, each with its cursor, over server-sent events. */
async function* follow(authorization: string, after: string | undefined): AsyncGenerator<{ event: Body; cursor: string }> {
  const variables = { after, types: options.types?.split(',') }
  const response = await fetch(`${base}/graphql`, {
    method: 'POST',
    headers: { authorization, accept: 'text/event-stream', 'content-type': 'application/json' },
    body: JSON.stringify({ query: subscription, variables }),
  })
  if (response.status === 401) throw new NotPossible('The gateway does not accept these credentials.')
  if (!response.ok) throw new NotPossible(`The gateway answered ${response.status}: ${await response.text()}`)
  console.log(`Following ${base}${after ? ` after ${after}` : ''}`)
  let text = ''
  for await (const chunk of response.body!.pipeThrough(new TextDecoderStream())) {
    text += chunk
    for (let end = text.indexOf('\n\n'); end >= 0; end = text.indexOf('\n\n')) {
      const data = /^data: (.+)$/m.exec(text.slice(0, end))?.[1]
      text = text.slice(end + 2)
      if (!data) continue
      const { data: result, errors, extensions } = JSON.parse(data) as Body
      if (errors) throw new NotPossible(errors[0].message)
      yield { event: result.events, cursor: extensions.cursor }
    }
  }
}

async function forward(
  { id, type, webhook, transaction, approvalDeadline }: Body,
  to: string,
  authorization: string,
): Promise<void> {
  const say = (what: string) => console.log(`${new Date().toISOString()}  ${type.padEnd(16)} ${id}  ${what}`)
  let answer: Response
  let text: string
  try {
    answer = await fetch(to, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-service-signature': webhook.signature },
      body: webhook.body,
      redirect: 'manual',
      signal: AbortSignal.timeout(patienceMs),
    })
    text = await answer.text()
  } catch (error) {
    say(`not delivered: ${reasonOf(error)}`)
    return
  }
  say(`${answer.status}`)
  if (!approvalDeadline || (answer.status !== 200 && answer.status !== 403)) return
  const name = answer.status === 200 ? 'approveTransaction' : 'rejectTransaction'
  const refusal = await decide(name, transaction.id, text, authorization)
  say(refusal ?? (name === 'approveTransaction' ? 'approved' : 'rejected'))
}

/** Says why it could not be decided. */
async function decide(name: string, transactionId: string, answer: string, authorization: string): Promise<string | undefined> {
  const told = Object.entries(objectIn(answer)['receiverUserInfo'] ?? {}).map(([field, value]) => ({
    name: field,
    value: String(value),
  }))
  const input = { transactionId, ...(name === 'approveTransaction' && told.length > 0 ? { receiverUserInfo: told } : {}) }
  const response = await fetch(`${base}/graphql`, {
    method: 'POST',
    headers: { authorization, 'content-type': 'application/json' },
    body: JSON.stringify({ query: decisions[name], variables: { input } }),
  })
  const { data, errors } = (await response.json()) as Body
  return errors?.[0]?.message ?? data[name].errors[0]?.message
}

function objectIn(text: string): Body {
  try {
    return Object(JSON.parse(text))
  } catch {
    return {}
  }
}

function reasonOf(error: unknown): string {
  const { cause, message } = error as Error
  return cause instanceof Error ? cause.message : message
}

const forwardTo = options['forward-to']
if (!forwardTo || !URL.canParse(forwardTo)) {
  console.error('npm run listen -- --forward-to http://localhost:3000/hook [--types TYPE,TYPE] [--after <cursor>]')
  process.exit(2)
}
listen(forwardTo).catch((error: unknown) => {
  console.error(error instanceof NotPossible ? error.message : error)
  process.exit(1)
})
