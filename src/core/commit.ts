/**
 * The only way anything is written: a plan, committed whole or not at all, in one call of one SQL function. While a call is under way the
 * plans that arrive wait, and go together in the next one, each with an outcome of its own; so a busy account costs one lock per call
 * instead of one per plan.
 */
import type { Clock } from '../base/clock.ts'
import { newId } from '../base/ids.ts'
import { stringifyJson } from '../base/json.ts'
import type { Vault } from '../base/vault.ts'
import { sealPersonal } from '../database/personal.ts'
import { constraintOf, type Database, type Parameter, sqlState } from '../database/port.ts'
import { type InsertedRows, storedRow, type VersionedRows } from '../database/tables.ts'
import type { Entry } from '../ledger/entry.ts'
import { commitCall, parts, type RemovedTable, versionedTables } from './commit.sql.ts'

export interface Plan<Reply> {
  reply: Reply
  /** What a repeat of the idempotency key is answered, where that is less than the reply: secrets are shown once. */
  remembered?: Reply
  insert?: { [Table in keyof InsertedRows]?: readonly InsertedRows[Table][] }
  /** Whole rows as they shall be, with the version they were read at: the plan goes only while that is still the row's version. */
  update?: { [Table in keyof VersionedRows]?: readonly VersionedRows[Table][] }
  /** Rows that are relied on but not changed: the plan goes only while they have not changed either. */
  guard?: { [Table in keyof VersionedRows]?: readonly Pick<VersionedRows[Table], 'id' | 'version'>[] }
  remove?: { [Table in RemovedTable]?: readonly string[] }
  /** What moves, for which payment. */
  entries?: readonly { worldId: string; transactionId: string; entry: Entry }[]
  events?: readonly EventDraft[]
  /** The plan goes only at or after this instant, by the database's clock. */
  notBefore?: Date
  /** The plan goes only before this instant, by the database's clock. */
  before?: Date
  /** A balance in the reply that only the commit knows: where it stands, and whose it is. */
  replyBalance?: { path: readonly [string, 'amount']; accountId: string }
  /** The plan moves as much as it saw on a balance: should that not suffice, look and decide again. */
  wholeBalance?: boolean
}

export interface EventDraft {
  /** Given where it must be known beforehand. */
  uuid?: string
  worldId: string
  type: string
  /** The specification's id of what it is about. */
  resourceId: string
  /** Bare uuid; null for what belongs to the platform itself. */
  customerId: string | null
  /** The payment that makes it happen: bare uuid. */
  transactionId?: string
  payload: object
  /** The payload's `oldBalance.amount` and `newBalance.amount` are filled in from what the plan does to this account. */
  balanceOf?: string
}

/** A client's claim to an Idempotency-Key. */
export interface Claim {
  worldId: string
  operation: string
  key: string
  inputHash: string
}

type Outcome<Reply> =
  | { kind: 'done'; reply: Reply }
  /** The key was answered before: with this. */
  | { kind: 'known'; inputHash: string; reply: unknown }
  /** Something the plan relied on has changed: load and decide again. */
  | { kind: 'moved' }
  /** By the database's clock the plan came before, or after, the time it may be written. */
  | { kind: 'early' | 'late' }
  /** A balance does not suffice. */
  | { kind: 'short' }
  /** A unique constraint says that something like it exists already. */
  | { kind: 'exists'; constraint: string }

export type Commit = <Reply>(plan: Plan<Reply>, claim?: Claim) => Promise<Outcome<Reply>>

interface Waiting {
  plan: Plan<unknown>
  claim: Claim | undefined
  resolve: (outcome: Outcome<unknown>) => void
  reject: (error: unknown) => void
}

const largestBatch = 200
const retries = 5

export interface Committer {
  commit: Commit
  /** Resolves when nothing is under way. */
  idle(): Promise<void>
}

/** `onCommit` is told after each call that wrote something. */
export function createCommitter(database: Database, clock: Clock, onCommit: () => void): Committer {
  const queue: Waiting[] = []
  let working: Promise<void> | undefined

  async function work(): Promise<void> {
    while (queue.length > 0) {
      const batch = takeBatch(queue)
      try {
        await settle(batch)
      } catch (error) {
        for (const { reject } of batch) reject(error)
      }
    }
    working = undefined
  }

  async function settle(batch: readonly Waiting[]): Promise<void> {
    for (let attempt = 1; ; attempt += 1) {
      try {
        const outcomes = await call(batch.map(({ plan, claim }) => ({ plan, claim })))
        const tell = () => {
          batch.forEach(({ resolve }, index) => {
            resolve(outcomes[index]!)
          })
        }
        // Those who wait go first: the database works on their plans while these are answered.
        if (queue.length > 0) setImmediate(tell)
        else tell()
        return
      } catch (error) {
        if (isTransient(error) && attempt < retries) continue
        if (batch.length === 1) return fail(batch[0]!, error)
        // One plan breaks a rule of the database: each on its own, so that it fails alone.
        for (const single of batch) await settle([single])
        return
      }
    }
  }

  async function call(plans: readonly Planned[]): Promise<Outcome<unknown>[]> {
    const [row] = await database.query<{ result: CommitResult }>(commitCall, compile(plans, clock.pinned(), database.vault))
    const { at, verdicts, known, balanceAfter } = row!.result
    clock.observe(new Date(at))
    onCommit()
    const moves = new MoveIndex(plans)
    return plans.map(({ plan }, index) => {
      const verdict = verdicts[index]!
      if (verdict === 'known') return { kind: 'known', ...known[index + 1]! }
      if (verdict !== 'done') return { kind: verdict }
      return { kind: 'done', reply: withBalance(plan, (accountId) => balanceAfter[moves.last(index, accountId) - 1]!) }
    })
  }

  return {
    commit: <Reply>(plan: Plan<Reply>, claim?: Claim) =>
      new Promise<Outcome<Reply>>((resolve, reject) => {
        queue.push({ plan, claim, resolve: resolve as (outcome: Outcome<unknown>) => void, reject })
        working ??= work()
      }),
    async idle() {
      while (working) await working
    },
  }
}

/** As many as fit, in order; of several with the same key only the first, so that the others find its answer. */
function takeBatch(queue: Waiting[]): Waiting[] {
  const batch: Waiting[] = []
  const later: Waiting[] = []
  const keys = new Set<string>()
  for (const waiting of queue.splice(0, largestBatch)) {
    const { claim } = waiting
    const key = claim && `${claim.worldId} ${claim.operation} ${claim.key}`
    if (key !== undefined && keys.has(key)) later.push(waiting)
    else {
      if (key !== undefined) keys.add(key)
      batch.push(waiting)
    }
  }
  queue.unshift(...later)
  return batch
}

/** Another process answered the same key first, or the two waited for each other. */
function isTransient(error: unknown): boolean {
  const state = sqlState(error)
  return state === '40P01' || state === '40001' || (state === '23505' && constraintOf(error) === 'idempotency_key_pkey')
}

function fail({ resolve, reject }: Waiting, error: unknown): void {
  const constraint = sqlState(error) === '23505' ? constraintOf(error) : undefined
  if (constraint === undefined) reject(error)
  else resolve({ kind: 'exists', constraint })
}

function withBalance(plan: Plan<unknown>, balanceAfter: (accountId: string) => number | bigint): unknown {
  if (!plan.replyBalance) return plan.reply
  const { path, accountId } = plan.replyBalance
  const reply = plan.reply as Record<string, Record<string, unknown>>
  return { ...reply, [path[0]]: { ...reply[path[0]], [path[1]]: BigInt(balanceAfter(accountId)) } }
}

// ── From plans to the function's parameters ──────────────────────────────────────────────────────────────────────────────────────

interface Planned {
  plan: Plan<unknown>
  claim: Claim | undefined
}

interface CommitResult {
  at: string
  verdicts: readonly ('done' | 'known' | 'moved' | 'early' | 'late' | 'short')[]
  known: Record<string, { inputHash: string; reply: unknown }>
  balanceAfter: readonly (number | bigint | null)[]
}

/** Which postings move a running balance: numbered from 1 over the whole batch, in plan order. */
class MoveIndex {
  readonly plan: number[] = []
  readonly accountId: string[] = []
  readonly amount: bigint[] = []
  readonly #first = new Map<string, number>()
  readonly #last = new Map<string, number>()

  constructor(plans: readonly Planned[]) {
    plans.forEach(({ plan }, index) => {
      for (const { entry } of plan.entries ?? []) {
        for (const { account, amount } of entry.postings) {
          if (!account.keepsBalance) continue
          this.plan.push(index + 1)
          this.accountId.push(account.id)
          this.amount.push(amount)
          const key = `${index} ${account.id}`
          if (!this.#first.has(key)) this.#first.set(key, this.plan.length)
          this.#last.set(key, this.plan.length)
        }
      }
    })
  }

  first(plan: number, accountId: string): number {
    return this.#known(this.#first, plan, accountId)
  }

  last(plan: number, accountId: string): number {
    return this.#known(this.#last, plan, accountId)
  }

  #known(index: ReadonlyMap<string, number>, plan: number, accountId: string): number {
    const move = index.get(`${plan} ${accountId}`)
    if (move === undefined) throw new Error(`the plan does not move the balance of ${accountId}`)
    return move
  }
}

type Item = Record<string, unknown>

/** The lists of a batch, by the names of its parts, each ending as a text. */
class Batch {
  readonly #lists = new Map<string, unknown[]>()

  add(name: string, item: unknown): void {
    const list = this.#lists.get(name)
    if (list) list.push(item)
    else this.#lists.set(name, [item])
  }

  /** A row of a table, and which plan it belongs to. */
  addRow(name: string, plan: number, row: Item | string): void {
    this.add(name, row)
    this.add(`${name} plans`, plan)
  }

  /** Lists of rows and records as JSON, all others as PostgreSQL arrays; null for what is empty. */
  texts(): (string | null)[] {
    const texts: (string | null)[] = new Array(parts.size).fill(null)
    for (const [name, list] of this.#lists) {
      texts[parts.get(name)! - 1] = typeof list[0] === 'object' ? stringifyJson(list) : sqlArray(list as string[])
    }
    return texts
  }
}

function compile(plans: readonly Planned[], pinned: Date | null, vault: Vault): Parameter[] {
  const batch = new Batch()
  const moves = new MoveIndex(plans)
  const guards = compileGuards(plans, batch)
  const accounts = [...new Set(moves.accountId)].sort()
  const accountSlots = new Map(accounts.map((id, index) => [id, index + 1]))
  const entries = new Entries()

  plans.forEach(({ plan, claim }, index) => {
    const number = index + 1
    for (const [table, rows] of Object.entries(plan.insert ?? {})) {
      for (const row of rows) batch.addRow(`insert ${table}`, number, storedRow(vault, row))
    }
    for (const [table, rows] of Object.entries(plan.update ?? {})) {
      for (const row of rows) {
        batch.addRow(`update ${table}`, number, storedRow(vault, { ...row, version: row.version + 1 }))
      }
    }
    for (const [table, ids] of Object.entries(plan.remove ?? {})) {
      for (const id of ids) batch.addRow(`remove ${table}`, number, id)
    }
    for (const item of plan.entries ?? []) entries.add(number, item)
    for (const event of plan.events ?? []) {
      batch.add('events', {
        plan: number,
        uuid: event.uuid ?? newId(),
        world_id: event.worldId,
        type: event.type,
        resource_id: event.resourceId,
        customer_id: event.customerId,
        ...(event.transactionId === undefined ? {} : { transaction_id: event.transactionId }),
        payload: sealPersonal(vault, event.payload),
        ...(event.balanceOf === undefined
          ? {}
          : { first_move: moves.first(index, event.balanceOf), last_move: moves.last(index, event.balanceOf) }),
      })
    }
    if (plan.notBefore || plan.before) batch.add('periods', { plan: number, not_before: plan.notBefore, before: plan.before })
    if (claim) {
      batch.add('keys', {
        plan: number,
        world_id: claim.worldId,
        operation: claim.operation,
        key: claim.key,
        input_hash: claim.inputHash,
        reply: sealPersonal(vault, plan.remembered ?? plan.reply),
        ...(plan.replyBalance
          ? { reply_path: plan.replyBalance.path, reply_move: moves.last(index, plan.replyBalance.accountId) }
          : {}),
      })
    }
  })

  return [
    pinned,
    plans.length,
    sqlArray(guards.map(({ plan }) => plan)),
    sqlArray(guards.map(({ slot }) => slot)),
    sqlArray(guards.map(({ version }) => version)),
    sqlArray(guards.map(({ changes }) => changes)),
    sqlArray(accounts),
    sqlArray(moves.plan),
    sqlArray(moves.accountId.map((id) => accountSlots.get(id)!)),
    sqlArray(moves.amount),
    ...entries.columns(),
    ...batch.texts(),
  ]
}

/** The entries of a batch and their postings, column by column; what keeps a balance is numbered as in `MoveIndex`. */
class Entries {
  readonly #entries: (string | number)[][] = [[], [], [], [], [], []]
  readonly #postings: (string | number | bigint | null)[][] = [[], [], [], []]
  #count = 0
  #moves = 0

  add(plan: number, { worldId, transactionId, entry }: NonNullable<Plan<unknown>['entries']>[number]): void {
    this.#count += 1
    append(this.#entries, [plan, newId(), worldId, transactionId, entry.kind, entry.currency])
    for (const { account, amount } of entry.postings) {
      append(this.#postings, [this.#count, account.id, amount, account.keepsBalance ? ++this.#moves : null])
    }
  }

  columns(): string[] {
    return [...this.#entries, ...this.#postings].map(sqlArray)
  }
}

function append<Value>(columns: Value[][], values: readonly Value[]): void {
  values.forEach((value, index) => {
    columns[index]!.push(value)
  })
}

interface Guard {
  plan: number
  slot: number
  version: number
  changes: boolean
}

/**
 * Each guarded row once in the batch, numbered; and per plan which of them it relies on, at which version. Rows that no plan changes are
 * read and not locked: who relies on one has read it after asking, so whatever was acknowledged before the asking is seen.
 */
function compileGuards(plans: readonly Planned[], batch: Batch): Guard[] {
  const guards: Guard[] = []
  let slots = 0
  for (const table of versionedTables) {
    const guarded = plans.flatMap(({ plan }, index) => guardedBy(plan, table).map((one) => ({ plan: index + 1, ...one })))
    if (guarded.length === 0) continue
    const changing = new Set(guarded.flatMap(({ row, changes }) => (changes ? [row.id] : [])))
    const ids = [...new Set(guarded.map(({ row }) => row.id))].sort()
    // By table: rows of two tables may have the same id. In the order in which the function numbers them.
    const slotOf = new Map<string, number>()
    for (const [part, wanted] of [
      ['changing', ids.filter((id) => changing.has(id))],
      ['relied', ids.filter((id) => !changing.has(id))],
    ] as const) {
      for (const id of wanted) {
        batch.add(`${part} ${table}`, id)
        slots += 1
        slotOf.set(id, slots)
      }
    }
    for (const { plan, row, changes } of guarded) guards.push({ plan, slot: slotOf.get(row.id)!, version: row.version, changes })
  }
  // The function goes through the plans one after the other: what one has changed, a later one has not seen.
  return guards.sort((left, right) => left.plan - right.plan)
}

function guardedBy(plan: Plan<unknown>, table: (typeof versionedTables)[number]) {
  return [
    ...(plan.update?.[table] ?? []).map((row) => ({ row, changes: true })),
    ...(plan.guard?.[table] ?? []).map((row) => ({ row, changes: false })),
  ]
}

/** A PostgreSQL array of values that need no quoting: numbers, uuids, codes of our own. */
function sqlArray(values: readonly (string | number | bigint | boolean | null)[]): string {
  return `{${values.map((value) => value ?? 'null').join(',')}}`
}
