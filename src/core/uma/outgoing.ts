/**
 * Paying an address at another provider: its provider is asked (pay request), what it asks for is settled, and it is told so. The request is
 * claimed before it is sent, and its answer is kept before anything is paid; so whatever is interrupted goes on without paying twice.
 */
import { z } from 'zod'
import { second } from '../../base/clock.ts'
import type { CustomerRow, PayRequestRow, TransactionRow } from '../../database/tables.ts'
import type { RailEnd, RailOutcome, RailPayment, UmaCounterparty, UmaReceiver } from '../../rails/port.ts'
import { customersById } from '../customers/customer.ts'
import { knownPersonData } from '../customers/person-data.ts'
import { type Caller, type Core, type Moment, operation, perform } from '../operation.ts'
import { supportOf, type World } from '../platform/world.ts'
import { transactionsById } from '../transactions/transaction.ts'
import { umaIdentity } from './identity.ts'
import { counterpartyFieldsOf } from './incoming.ts'
import { payRequestOf } from './pay-request.ts'

/** A request whose answer nobody has written down after this long has died with its process. */
const answeredWithinMs = 30 * second
const lookAgainMs = 2 * second
const tellAgainMs = 5 * second

/** What a quote to an address elsewhere keeps for its payment. */
export function newPayRequest(
  transaction: TransactionRow,
  receiver: UmaReceiver,
  payer: { customer: CustomerRow | undefined; given: Readonly<Record<string, string>> | undefined },
  { now }: Moment,
): PayRequestRow | undefined {
  const { elsewhere } = receiver
  if (!elsewhere) return undefined
  const known = knownPersonData(payer.customer, payer.given)
  const told = ['FULL_NAME', ...receiver.payerFields.map(({ name }) => name)]
  return {
    id: transaction.id,
    worldId: transaction.worldId,
    counterpartyDomain: elsewhere.domain,
    majorVersion: elsewhere.majorVersion,
    multiplier: receiver.currencies.find(({ currency }) => currency === transaction.destinationCurrency)!.millisatoshis!,
    payerData: Object.fromEntries(told.flatMap((name) => (known[name] === undefined ? [] : [[name, known[name]]]))),
    callbackUrl: elsewhere.callbackUrl,
    travelRule: elsewhere.travelRule,
    askedAt: null,
    invoice: null,
    millisatoshis: null,
    settlementUrl: null,
    settleBy: null,
    createdAt: now,
    updatedAt: now,
    version: 1,
  }
}

/** As far as it can be taken now. Undefined: no other provider is at its end. */
export async function payElsewhere(core: Core, caller: Caller, payment: RailPayment): Promise<RailOutcome | undefined> {
  const { transactionId } = payment
  const [request, world] = await Promise.all([payRequestOf(core, transactionId), core.worlds.get(caller.worldId)])
  if (!request) return undefined
  if (request.invoice !== null) return settle(core, caller, world!, payment, request)
  const { claimed } = await perform(core, claimPayRequest, { caller }, { transactionId })
  if (!claimed) return { kind: 'pending', askAgainInMs: lookAgainMs }
  const answer = await ask(core, caller, world!, request)
  switch (answer.kind) {
    case 'refused':
      return { kind: 'rejected' }
    case 'incomplete':
      return { kind: 'failed', reason: 'MISSING_MANDATORY_PAYEE_DATA' }
    case 'failed':
      return { kind: 'failed', reason: 'PAY_REQUEST_FAILED' }
    case 'accepted': {
      const { kind: _accepted, ...accepted } = answer
      await perform(core, acceptPayRequest, { caller }, { transactionId, ...accepted })
      return settle(core, caller, world!, payment, { ...request, ...accepted })
    }
  }
}

async function ask(core: Core, caller: Caller, world: World, request: PayRequestRow) {
  const [transaction] = await transactionsById(core.database, caller, [request.id])
  const { customerId, destinationCurrency: currency, receivedAmount: amount, description } = transaction!
  const [customer] = customerId === null ? [] : await customersById(core.database, caller, [customerId])
  const counterparty: UmaCounterparty = {
    domain: request.counterpartyDomain,
    callbackUrl: request.callbackUrl!,
    majorVersion: request.majorVersion,
    travelRule: request.travelRule,
  }
  return core.uma.requestPayment(await umaIdentity(core, world), {
    counterparty,
    payer: {
      // Spec silent: by which address the platform itself pays.
      address: customer?.umaAddress ?? `$platform@${world.umaDomain}`,
      verified: true,
      data: request.payerData as Record<string, string>,
    },
    receiverAddress: transaction!.destinationUmaAddress!,
    currency,
    amount,
    millisatoshis: request.multiplier,
    description: description ?? undefined,
    wanted: counterpartyFieldsOf(world, supportOf(world, currency) ? currency : transaction!.sourceCurrency),
  })
}

/** In the sandbox the word that it was paid is all there is to settle; in production a rail pays the invoice first. */
async function settle(
  core: Core,
  { environment }: Caller,
  world: World,
  payment: RailPayment,
  { counterpartyDomain: domain, invoice, millisatoshis, settlementUrl }: PayRequestRow,
): Promise<RailOutcome> {
  const as = await umaIdentity(core, world)
  const paid = { settlementUrl: settlementUrl!, invoice: invoice!, millisatoshis: millisatoshis! }
  if (environment === 'PRODUCTION') {
    const end = { ...(payment.end as RailEnd & { kind: 'uma' }), invoice: { domain, ...paid } }
    const outcome = await core.rails.PRODUCTION!.send({ ...payment, end })
    if (outcome.kind === 'paid') await core.uma.tellPaid(as, paid)
    return outcome
  }
  switch (await core.uma.tellPaid(as, paid)) {
    case 'taken':
      return { kind: 'paid' }
    case 'refused':
      return { kind: 'failed', reason: 'PAY_REQUEST_FAILED' }
    default:
      return { kind: 'accepted', askAgainInMs: tellAgainMs }
  }
}

/** Whoever writes that it asks, asks. */
const claimPayRequest = operation({
  name: 'claimPayRequest',
  permission: 'TRANSACT',
  input: z.object({ transactionId: z.uuid() }),
  output: z.object({ claimed: z.boolean() }),
  load: (core, _caller, { transactionId }) => payRequestOf(core, transactionId),
  decide(_input, request, { now }) {
    const asking = request?.askedAt && now.getTime() - request.askedAt.getTime() < answeredWithinMs
    if (!request || request.invoice !== null || asking) return { reply: { claimed: false } }
    return { reply: { claimed: true }, update: { pay_request: [{ ...request, askedAt: now, updatedAt: now }] } }
  },
})

/** Keeps what is to be paid, and what was said of the receiver. */
const acceptPayRequest = operation({
  name: 'acceptPayRequest',
  permission: 'TRANSACT',
  input: z.object({
    transactionId: z.uuid(),
    invoice: z.string().max(4000),
    millisatoshis: z.bigint(),
    settlementUrl: z.string().max(2000),
    payee: z.record(z.string(), z.string()),
  }),
  output: z.object({}),
  load: async (core, caller, { transactionId }) => {
    const [request, [transaction]] = await Promise.all([
      payRequestOf(core, transactionId),
      transactionsById(core.database, caller, [transactionId]),
    ])
    return { request: request!, transaction: transaction! }
  },
  decide({ invoice, millisatoshis, settlementUrl, payee }, { request, transaction }, { now }) {
    const known = transaction.counterpartyInformation as Record<string, string> | null
    return {
      reply: {},
      update: {
        pay_request: [{ ...request, invoice, millisatoshis, settlementUrl, updatedAt: now }],
        transaction: [{ ...transaction, counterpartyInformation: { ...known, ...payee }, updatedAt: now }],
      },
    }
  },
})
