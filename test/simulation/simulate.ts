/**
 * A platform's life from a seed: many callers, a bank with a fault menu, a clock that jumps, processes that die between any two steps. At the
 * end everything must have come to an end, the auditor must find nothing, and the bank's own books must agree with ours to the cent. A seed
 * replays exactly.
 */
import { createHash } from 'node:crypto'
import pino from 'pino'
import { type ManualClock, manualClock, minute } from '../../src/base/clock.ts'
import { uuidOf } from '../../src/base/ids.ts'
import { stringifyJson } from '../../src/base/json.ts'
import { readConfig } from '../../src/config.ts'
import { createCustomerExternalAccount } from '../../src/core/accounts/external.ts'
import { listCustomerInternalAccounts } from '../../src/core/accounts/internal.ts'
import { approveTransaction, rejectTransaction } from '../../src/core/approvals/approval.ts'
import { audit, type Finding } from '../../src/core/audit.ts'
import type { Commit } from '../../src/core/commit.ts'
import { createCustomer } from '../../src/core/customers/create-customer.ts'
import { ask, type Caller, type Core, type Operation, perform, permissions } from '../../src/core/operation.ts'
import { updateConfiguration } from '../../src/core/platform/configuration.ts'
import { createPlatform } from '../../src/core/platform/create-platform.ts'
import { createQuote } from '../../src/core/quotes/create-quote.ts'
import { executeQuote } from '../../src/core/quotes/execute-quote.ts'
import type { Quote } from '../../src/core/quotes/quote.ts'
import { fundInternalAccount } from '../../src/core/sandbox/fund-internal-account.ts'
import { receiveUma } from '../../src/core/sandbox/receive-uma.ts'
import { cancelTransaction } from '../../src/core/transactions/cancel.ts'
import { railReports } from '../../src/core/transactions/payment-work.ts'
import type { Transaction } from '../../src/core/transactions/transaction.ts'
import { transferIn, transferOut } from '../../src/core/transactions/transfers.ts'
import type { Database } from '../../src/database/port.ts'
import { type Gateway, startGateway } from '../../src/gateway.ts'
import type { Rails } from '../../src/rails/port.ts'
import { type Bank, bank } from './bank.ts'
import { type Act, Crash, type Ending, sideBySide } from './callers.ts'
import { type Random, random } from './random.ts'

export interface Simulator {
  run(seed: number): Promise<Run>
  close(): Promise<void>
}

interface Run {
  seed: number
  /** What each step came to, in order: the same for the same seed. */
  trace: string[]
  digest: string
  /** What must not be: empty. */
  faults: string[]
}

/** `sabotage`: changes plans on their way to the commit, to see that it is noticed. */
export async function openSimulator(
  database: Database,
  sabotage: (commit: Commit) => Commit = (commit) => commit,
): Promise<Simulator> {
  const clock = manualClock(new Date('2026-01-15T12:00:00.000Z'))
  let current: Bank = bank('none')
  // One gateway, and for every seed a bank of its own.
  const sandboxRails: Rails = {
    sends: (...asked) => current.rails.sends(...asked),
    pulls: (...asked) => current.rails.pulls(...asked),
    instructions: (asked) => current.rails.instructions(asked),
    receiver: (address) => current.rails.receiver(address),
    send: (payment) => current.rails.send(payment),
    pull: (payment) => current.rails.pull(payment),
    giveBack: (returned) => current.rails.giveBack(returned),
  }
  const logger = pino({ level: process.env['TEST_LOG'] ?? 'silent' })
  const gateway = await startGateway(readConfig({ PORT: '0' }), { database, clock, logger, background: false, sandboxRails })
  const { core } = gateway
  core.commit = sabotage(core.commit)
  return {
    async run(seed) {
      current = bank(`bank ${seed}`)
      return new Life(seed, gateway, clock, current).live()
    },
    close: () => gateway.close(),
  }
}

/** One customer with a balance in two currencies, and accounts outside. */
interface Person {
  customerId: string
  dollars: string
  euros: string
  dollarReference: string
  usAccount: string
  iban: string
}

/** Something a caller did with a key, which may have to be repeated until it is answered. */
interface Deed {
  act: Act
  again: Act
  ending: Ending | undefined
}

class Life {
  readonly #chance: Random
  readonly #core: Core
  readonly #trace: string[] = []
  readonly #deeds: Deed[] = []
  readonly #quotes: Quote[] = []
  readonly #incoming: Transaction[] = []
  readonly #people: Person[] = []
  readonly seed: number
  readonly gateway: Gateway
  readonly clock: ManualClock
  readonly bank: Bank
  #caller!: Caller
  #count = 0

  constructor(seed: number, gateway: Gateway, clock: ManualClock, itsBank: Bank) {
    this.seed = seed
    this.gateway = gateway
    this.clock = clock
    this.bank = itsBank
    this.#chance = random(`life ${seed}`)
    this.#core = gateway.core
  }

  async live(): Promise<Run> {
    await this.#begin()
    const steps = 6 + this.#chance.below(8)
    for (let step = 0; step < steps; step += 1) await this.#step()
    await this.#end()
    const faults = await this.#faults()
    const digest = createHash('sha256').update(this.#trace.join('\n')).digest('hex').slice(0, 16)
    return { seed: this.seed, trace: this.#trace, digest, faults }
  }

  async #begin(): Promise<void> {
    const created = await createPlatform(this.#core.commit, { name: `Simulation ${this.seed}` }, this.clock.now())
    this.#caller = { worldId: created!.worlds.SANDBOX.id, customerId: undefined, environment: 'SANDBOX', permissions }
    await this.#do(updateConfiguration, { incomingPaymentApproval: 'API' })
    for (const name of ['Ada', 'Grace']) this.#people.push(await this.#newPerson(name))
  }

  async #newPerson(fullName: string): Promise<Person> {
    const customer = await this.#do(createCustomer, { platformCustomerId: fullName, customerType: 'INDIVIDUAL', fullName })
    const { data } = await ask(this.#core, listCustomerInternalAccounts, { caller: this.#caller }, { customerId: customer.id })
    const account = (code: string) => data.find(({ balance }) => balance.currency.code === code)!
    const outside = async (currency: string, accountInfo: object) =>
      (await this.#do(createCustomerExternalAccount, { customerId: customer.id, currency, accountInfo })).id
    const us = { accountType: 'US_ACCOUNT', accountNumber: '5550100', routingNumber: '021000021', accountCategory: 'CHECKING' }
    const person: Person = {
      customerId: customer.id,
      dollars: account('USD').id,
      euros: account('EUR').id,
      dollarReference: account('USD').fundingPaymentInstructions[0]!.reference,
      usAccount: await outside('USD', us),
      iban: await outside('EUR', { accountType: 'IBAN', iban: 'DE89370400440532013000' }),
    }
    await this.#do(fundInternalAccount, { accountId: person.dollars, amount: 500_000 })
    this.bank.deposit('USD', 500_000n)
    return person
  }

  #do(operation: Operation<any, any, any>, input: object, core = this.#core, idempotencyKey?: string): Promise<any> {
    return perform(core, operation, { caller: this.#caller, idempotencyKey }, input)
  }

  async #step(): Promise<void> {
    const what = this.#chance.below(10)
    if (what < 6) return this.#callers()
    if (what < 7) return this.#report()
    if (what < 8) {
      this.clock.advance(this.#chance.pick([1, 999, 4_999, 30_000, 5 * minute - 1, 5 * minute]))
      this.#trace.push('time passes')
      return
    }
    await this.#work()
  }

  /** Several callers at once: new deeds, deposits that somebody pushes, and deeds repeated whose process died. */
  async #callers(): Promise<void> {
    const repeated = this.#deeds.filter(({ ending }) => ending?.kind === 'crashed' && this.#chance.chance(0.5))
    const fresh = Array.from({ length: 1 + this.#chance.below(5) }, () => this.#newDeed())
    const deeds = [...repeated, ...fresh]
    const endings = await sideBySide(
      this.#core,
      deeds.map(({ act, again, ending }) => (ending ? again : act)),
      this.#chance,
      0.12,
    )
    deeds.forEach((deed, index) => {
      this.#note(deed, endings[index]!)
    })
  }

  #note(deed: Deed, ending: Ending): void {
    deed.ending = ending
    if (!this.#deeds.includes(deed)) this.#deeds.push(deed)
    this.#trace.push(`${deed.act.name}: ${describe(ending)}`)
    if (ending.kind !== 'answer') return
    if (isQuote(ending.answer)) this.#quotes.push(ending.answer)
    if (deed.act.name === 'receive') this.#incoming.push(ending.answer as Transaction)
    // The payer's provider hands the money over.
    if (deed.act.name === 'approve') this.bank.deposit('USD', BigInt((ending.answer as Transaction).receivedAmount.amount))
  }

  /** No amount twice: the bank decides by it. */
  #amount(): number {
    this.#count += 1
    return 10_000 + this.#count * 10 + this.#chance.below(10)
  }

  #newDeed(): Deed {
    const person = this.#chance.pick(this.#people)
    const other = this.#chance.pick(this.#people)
    const { customerId, dollars, usAccount } = person
    const amount = this.#amount()
    const quote = (source: object, destination: object) =>
      this.#keyed('quote', createQuote, {
        source,
        destination,
        lockedCurrencySide: this.#chance.pick(['SENDING', 'RECEIVING']),
        lockedCurrencyAmount: amount,
        immediatelyExecute: 'accountId' in source && this.#chance.chance(0.5),
      })
    const to = this.#chance.pick([
      { accountId: other.iban },
      { accountId: other.euros },
      { umaAddress: '$anybody@bank.example' },
      { externalAccountDetails: { currency: 'EUR', accountInfo: { accountType: 'IBAN', iban: `FR76${amount}000000000` } } },
    ])
    switch (this.#chance.below(13)) {
      case 0:
      case 1:
        return quote({ accountId: dollars }, to)
      case 2:
        return quote({ accountId: usAccount }, to)
      case 3:
        return quote({ customerId, currency: 'USD' }, to)
      case 4:
        return this.#keyed('transfer out', transferOut, {
          source: { accountId: dollars },
          destination: { accountId: other.usAccount },
          // The whole balance is an amount that chance has not chosen: it stays unique, since it is larger than all others.
          ...(this.#chance.chance(0.1) ? {} : { amount }),
        })
      case 5:
        return this.#keyed('transfer in', transferIn, {
          source: { accountId: usAccount },
          destination: { accountId: other.dollars },
          amount,
        })
      case 6:
      case 7: {
        const open = this.#quotes.filter(({ source }) => source.sourceType === 'ACCOUNT')
        return open.length === 0
          ? quote({ accountId: dollars }, to)
          : this.#keyed('execute', executeQuote, { quoteId: this.#chance.pick(open).id })
      }
      case 8:
        return this.#keyed('receive', receiveUma, {
          senderUmaAddress: '$anybody@bank.example',
          customerId,
          receivingCurrencyCode: 'USD',
          receivingCurrencyAmount: amount,
        })
      case 9:
      case 10: {
        if (this.#incoming.length === 0) return this.#push(person)
        const { id: transactionId } = this.#chance.pick(this.#incoming)
        return this.#chance.chance(0.7)
          ? this.#keyed('approve', approveTransaction, { transactionId })
          : this.#keyed('reject', rejectTransaction, { transactionId })
      }
      case 11:
        return this.#quotes.length === 0
          ? this.#push(person)
          : this.#keyed('cancel', cancelTransaction, { transactionId: this.#chance.pick(this.#quotes).transactionId })
      default:
        return this.#push(person)
    }
  }

  #keyed(name: string, operation: Operation<any, any, any>, input: object): Deed {
    const key = `${this.seed}-${this.#deeds.length}-${this.#count}`
    const act: Act = { name, run: (core) => this.#do(operation, input, core, key) }
    return { act, again: act, ending: undefined }
  }

  /** Somebody pushes money: to a balance, or for a quote: the right amount or not, in time or not, told once or twice. */
  #push({ dollarReference }: Person): Deed {
    const waiting = this.#quotes.filter(({ paymentInstructions }) => paymentInstructions)
    const amount = BigInt(this.#amount())
    const quote = waiting.length > 0 && this.#chance.chance(0.8) ? this.#chance.pick(waiting) : undefined
    const deposit = {
      railReference: `wire ${this.seed} ${this.#count}`,
      reference: quote ? quote.paymentInstructions![0]!.reference : dollarReference,
      currency: 'USD',
      amount: quote && this.#chance.chance(0.7) ? quote.totalSendingAmount : amount,
    }
    this.bank.deposit('USD', deposit.amount)
    const run = (core: Core) => railReports(() => core).deposit({ worldId: this.#caller.worldId, ...deposit })
    const act: Act = { name: 'deposit', run }
    return { act, again: act, ending: undefined }
  }

  /** The bank tells what it has to tell, in any order, some of it again later. */
  async #report(): Promise<void> {
    const due = this.#chance.shuffle(this.bank.reports.splice(0))
    for (const report of due) {
      await report(railReports(() => this.#core))
      if (this.#chance.chance(0.3)) this.bank.reports.push(report)
    }
    this.#trace.push(`${due.length} reports`)
  }

  /** Everything that is due is done; of the commits on the way some die before they are written, some after. */
  async #work(): Promise<void> {
    const { commit } = this.#core
    const chance = random(`work ${this.seed} ${this.#trace.length}`)
    let left = chance.below(4)
    this.#core.commit = async (plan, claim) => {
      const crash = left > 0 && chance.chance(0.2) ? chance.pick(['before', 'after']) : undefined
      if (crash) left -= 1
      if (crash === 'before') throw new Crash()
      const outcome = await commit(plan, claim)
      if (crash === 'after') throw new Crash()
      return outcome
    }
    try {
      await this.gateway.drain()
    } finally {
      this.#core.commit = commit
    }
    this.#trace.push('work')
  }

  /** Every caller repeats what was not answered, the bank has told everything, and all the time in the world passes. */
  async #end(): Promise<void> {
    for (const deed of this.#deeds) {
      if (deed.ending?.kind !== 'crashed') continue
      const [ending] = await sideBySide(this.#core, [deed.again], this.#chance, 0)
      this.#note(deed, ending!)
    }
    for (let rounds = 0; rounds < 40; rounds += 1) {
      await this.#report()
      await this.gateway.drain()
      this.clock.advance(5 * minute)
      const [row] = await this.#core.database.query<{ open: bigint }>(`select count(*) as open from task where world_id = $1`, [
        this.#caller.worldId,
      ])
      if (row!.open === 0n) break
    }
    const rows = await this.#core.database.query<{ line: string }>(
      `select type || ' ' || status || ' ' || sent_amount || ' ' || coalesce(failure_reason, '') as line from transaction
       where world_id = $1 order by 1`,
      [this.#caller.worldId],
    )
    this.#trace.push(...rows.map(({ line }) => line))
  }

  async #faults(): Promise<string[]> {
    const { worldId } = this.#caller
    const found: Finding[] = await audit(this.#core.database, worldId)
    return [
      ...found.map(({ rule, id, detail }) => `${rule}: ${id} ${detail}`),
      ...(await this.#unended()),
      ...(await this.#bankDisagrees()),
      ...(await this.#forgotten()),
    ]
  }

  async #unended(): Promise<string[]> {
    const rows = await this.#core.database.query<{ id: string; status: string }>(
      `select id, status::text from transaction where world_id = $1 and status in ('CREATED', 'PENDING', 'PROCESSING', 'SENT')`,
      [this.#caller.worldId],
    )
    return rows.map(({ id, status }) => `a payment never ended: ${id} ${status}`)
  }

  /** What we say the rails hold is what the bank says it holds for us. */
  async #bankDisagrees(): Promise<string[]> {
    const rows = await this.#core.database.query<{ currency: string; sum: bigint }>(
      `select a.currency, sum(p.amount)::bigint as sum from ledger_account a join ledger_posting p on p.account_id = a.id
       where a.world_id = $1 and a.kind = 'CLEARING' group by a.currency`,
      [this.#caller.worldId],
    )
    const ours = new Map(rows.map(({ currency, sum }) => [currency, -sum]))
    return [...new Set([...ours.keys(), ...this.bank.holds.keys()])].flatMap((currency) => {
      const [here, there] = [ours.get(currency) ?? 0n, this.bank.holds.get(currency) ?? 0n]
      return here === there ? [] : [`the bank holds ${there} ${currency}, our books say ${here}`]
    })
  }

  /** Whoever repeats a call with its key is answered what they were answered. */
  async #forgotten(): Promise<string[]> {
    const faults: string[] = []
    for (const { act, ending } of this.#deeds) {
      if (ending?.kind !== 'answer' || act.name === 'deposit') continue
      const again = await act.run(this.#core)
      if (stringifyJson(again) !== stringifyJson(ending.answer)) faults.push(`a repeated ${act.name} was answered differently`)
    }
    return faults
  }
}

function describe(ending: Ending): string {
  if (ending.kind === 'refused') return ending.code
  if (ending.kind === 'crashed') return 'crashed'
  const { status } = (ending.answer ?? {}) as { status?: string }
  return status ?? 'done'
}

function isQuote(answer: unknown): answer is Quote {
  const { id } = (answer ?? {}) as { id?: string }
  return id !== undefined && uuidOf('Quote', id) !== undefined
}
