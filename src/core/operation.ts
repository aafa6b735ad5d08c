/**
 * What can be asked of the gateway. A query reads; an operation writes, always by load → decide → commit; an action does what is not in
 * the books. All are values that every door calls alike: they check the caller's permission, read their input once, and answer the specification's resource.
 */
import type { z } from 'zod'
import type { Clock } from '../base/clock.ts'
import { newId, toId } from '../base/ids.ts'
import { canonicalJson } from '../base/json.ts'
import { DomainError, type RefusalCode } from '../base/refusal.ts'
import type { Vault } from '../base/vault.ts'
import type { Database } from '../database/port.ts'
import type { Sight } from '../database/sight.ts'
import type { Rails, RateSource } from '../rails/port.ts'
import type { UmaNetwork } from '../rails/uma.ts'
import type { Claim, Commit, Plan } from './commit.ts'
import { readInput } from './input.ts'
import type { Admission } from './platform/admission.ts'
import type { Tokens } from './platform/authentication.ts'
import type { PersistedOperations } from './platform/persisted-operations.ts'
import type { Worlds } from './platform/world.ts'
import type { ListedProvider } from './uma/providers.ts'

export const permissions = ['VIEW', 'TRANSACT', 'MANAGE'] as const

export type Permission = (typeof permissions)[number]

export type Environment = 'SANDBOX' | 'PRODUCTION'

/** Who asks: always somebody in one world; with a viewer token, somebody who sees one customer of it. */
export interface Caller extends Sight {
  environment: Environment
  permissions: readonly Permission[]
  /** Bare uuid of the token it came with; absent for the service itself. */
  tokenId?: string
  /** When the token ends; absent: never. */
  expiresAt?: Date
}

/** What operations work with. */
export interface Core {
  database: Database
  clock: Clock
  commit: Commit
  rates: RateSource
  /** Who carries money in and out of the worlds of an environment; undefined where nobody does. */
  rails: Readonly<Record<Environment, Rails | undefined>>
  /** Other providers of UMA addresses, and how they are spoken with. */
  providers: readonly ListedProvider[]
  uma: UmaNetwork
  worlds: Worlds
  tokens: Tokens
  persisted: PersistedOperations
  admission: Admission
  settings: CoreSettings
}

interface CoreSettings {
  quoteLifetimeMs: number
  /** The gateway's public address, without a slash at its end: what generated links carry. */
  baseUrl: string
  /** Sandbox worlds may use http:// and loopback webhook endpoints. */
  allowLocalWebhooks: boolean
}

/** One call of a query or an operation. */
export interface Call {
  caller: Caller
  idempotencyKey?: string | undefined
}

/** What `decide` may use besides its input and what was loaded. */
export interface Moment {
  caller: Caller
  /** For stamps. Whether an instant has passed is the database's to say: a plan's `before` and `notBefore`. */
  now: Date
  /** What the database's clock said of the last plan: too early, or too late. */
  timing?: 'early' | 'late'
  newId: () => string
  settings: CoreSettings
  rails: Rails | undefined
  vault: Vault
}

/** What any call may be refused: for its input, its credentials, its permission; and one that writes, for its key or for losing every race. */
export function commonRefusals({ kind }: Pick<Query | Operation | Action, 'kind'>): readonly RefusalCode[] {
  const common = ['INVALID_INPUT', 'INVALID_REQUEST_FORMAT', 'UNAUTHORIZED', 'FORBIDDEN', 'RATE_LIMITED'] as const
  return kind === 'operation' ? [...common, 'IDEMPOTENCY_KEY_REUSED', 'CONFLICT'] : common
}

/** The service itself, at work in a world. */
export async function serviceCaller({ worlds }: Core, worldId: string): Promise<Caller> {
  const world = await worlds.get(worldId)
  if (!world) throw new DomainError('NOT_FOUND', 'There is no such world', { worldId })
  return { worldId, customerId: undefined, environment: world.environment, permissions }
}

type Asking = Pick<Described<z.ZodType, z.ZodType>, 'permission' | 'forViewers' | 'sandboxOnly'>

interface Described<Input extends z.ZodType, Output extends z.ZodType> {
  /** Also the scope of idempotency keys. */
  name: string
  permission: Permission
  /** Also for viewer tokens, which see one customer: everything that is read for it goes by the caller's sight. */
  forViewers?: true
  sandboxOnly?: boolean
  /** Besides what any call may be refused: `commonRefusals`. The doors' references list them, and tests hold replies against it. */
  refuses?: readonly RefusalCode[]
  input: Input
  output: Output
}

export interface Query<Input extends z.ZodType = z.ZodType, Output extends z.ZodType = z.ZodType>
  extends Described<Input, Output> {
  kind: 'query'
  answer(core: Core, caller: Caller, input: z.output<Input>): Promise<z.output<Output>>
}

export interface Operation<Input extends z.ZodType = z.ZodType, Output extends z.ZodType = z.ZodType, Loaded = unknown>
  extends Described<Input, Output> {
  kind: 'operation'
  /** Reads what the decision needs. */
  load(core: Core, caller: Caller, input: z.output<Input>): Promise<Loaded>
  /** Pure: refuses, or says what shall be written. */
  decide(input: z.output<Input>, loaded: Loaded, moment: Moment): Plan<z.output<Output>>
  /** Unique constraints that mean a refusal; any other is a collision of new ids, and decided again. */
  exists?: Readonly<Record<string, (input: z.output<Input>) => DomainError>>
  /** Told once it is written, e.g. to drop what is cached of it. */
  committed?(core: Core, caller: Caller, reply: z.output<Output>): void
}

/**
 * Does something besides the books: sends a webhook again, tries an endpoint. Repeating it is harmless, so it takes no idempotency key.
 */
export interface Action<Input extends z.ZodType = z.ZodType, Output extends z.ZodType = z.ZodType>
  extends Described<Input, Output> {
  kind: 'action'
  answer(core: Core, caller: Caller, input: z.output<Input>): Promise<z.output<Output>>
}

export function query<Input extends z.ZodType, Output extends z.ZodType>(
  definition: Omit<Query<Input, Output>, 'kind'>,
): Query<Input, Output> {
  return { kind: 'query', ...definition }
}

export function operation<Input extends z.ZodType, Output extends z.ZodType, Loaded>(
  definition: Omit<Operation<Input, Output, Loaded>, 'kind'>,
): Operation<Input, Output, Loaded> {
  return { kind: 'operation', ...definition }
}

export function action<Input extends z.ZodType, Output extends z.ZodType>(
  definition: Omit<Action<Input, Output>, 'kind'>,
): Action<Input, Output> {
  return { kind: 'action', ...definition }
}

/** Refuses FORBIDDEN, INVALID_… for bad input, and whatever the query or action refuses. */
export async function ask<Input extends z.ZodType, Output extends z.ZodType>(
  core: Core,
  asked: Query<Input, Output> | Action<Input, Output>,
  call: Call,
  rawInput: unknown,
): Promise<z.output<Output>> {
  return asked.answer(core, call.caller, inputOf(asked, call, rawInput))
}

/** What is asked for, of a caller who may. */
export function inputOf<Input extends z.ZodType>(
  asked: Described<Input, z.ZodType>,
  { caller }: Call,
  rawInput: unknown,
): z.output<Input> {
  requirePermission(asked, caller)
  return readInput(asked.input, rawInput)
}

/**
 * Runs an operation to its end. With an idempotency key, a repeat answers what the first call was answered, whatever has happened since;
 * the same key with another input refuses IDEMPOTENCY_KEY_REUSED.
 */
export async function perform<Input extends z.ZodType, Output extends z.ZodType, Loaded>(
  core: Core,
  asked: Operation<Input, Output, Loaded>,
  call: Call,
  rawInput: unknown,
): Promise<z.output<Output>> {
  requirePermission(asked, call.caller)
  const input = readInput(asked.input, rawInput)
  const claim = claimOf(core.database.vault, asked.name, call, input)
  try {
    return await decideAndCommit(core, asked, call.caller, input, claim)
  } catch (error) {
    // Refused perhaps because the same key has done it already: then its answer is the answer. (Where the decision would not refuse,
    // the commit finds the key.)
    const before = claim && error instanceof DomainError ? await answeredBefore(core, asked, claim) : undefined
    if (before) return before.reply
    throw error
  }
}

const mostDecisions = 20

/** What was loaded does not fit together, because it changed between two reads: load and decide again. Where it stays so it is a bug. */
export class TornRead extends Error {
  override readonly name = 'TornRead'
}

async function decideAndCommit<Input extends z.ZodType, Output extends z.ZodType, Loaded>(
  core: Core,
  asked: Operation<Input, Output, Loaded>,
  caller: Caller,
  input: z.output<Input>,
  claim?: Claim,
): Promise<z.output<Output>> {
  let timing: Pick<Moment, 'timing'> = {}
  let torn: TornRead | undefined
  for (let decisions = 0; decisions < mostDecisions; decisions += 1) {
    const loaded = await asked.load(core, caller, input)
    const rails = core.rails[caller.environment]
    const { settings, database } = core
    const moment: Moment = { caller, now: core.clock.now(), newId, settings, rails, vault: database.vault, ...timing }
    let plan: Plan<z.output<Output>>
    try {
      plan = asked.decide(input, loaded, moment)
    } catch (error) {
      if (!(error instanceof TornRead)) throw error
      torn = error
      continue
    }
    torn = undefined
    if (writesNothing(plan)) return plan.reply
    const outcome = await core.commit(plan, claim)
    switch (outcome.kind) {
      case 'done':
        asked.committed?.(core, caller, outcome.reply)
        return outcome.reply
      case 'known':
        return replay(asked, claim!, outcome)
      case 'early':
      case 'late':
        timing = { timing: outcome.kind }
        break
      case 'short':
        if (plan.wholeBalance) break
        throw new DomainError('INSUFFICIENT_BALANCE', 'The source account does not hold enough for this', {
          field: 'source.accountId',
        })
      case 'exists': {
        const refusal = asked.exists?.[outcome.constraint]
        if (refusal) throw refusal(input)
        break
      }
      case 'moved':
        break
    }
  }
  if (torn) throw torn
  throw new DomainError('CONFLICT', 'What this works on keeps changing; try again')
}

/** The decision was that there is nothing to do. */
function writesNothing(plan: Plan<unknown>): boolean {
  return Object.keys(plan).length === 1
}

/** Refuses FORBIDDEN. */
export function requirePermission({ permission, forViewers, sandboxOnly }: Asking, caller: Caller): void {
  if (!forViewers) requireWholeWorld(caller)
  if (!caller.permissions.includes(permission)) {
    throw new DomainError('FORBIDDEN', `This needs a token with the permission ${permission}`, { permission })
  }
  if (sandboxOnly && caller.environment !== 'SANDBOX') {
    throw new DomainError('FORBIDDEN', 'This works with sandbox credentials only')
  }
}

/** Refuses FORBIDDEN to viewer tokens. */
export function requireWholeWorld({ customerId }: Caller): void {
  if (customerId === undefined) return
  throw new DomainError('FORBIDDEN', "This is the platform's to ask: a viewer token sees one customer")
}

function claimOf(vault: Vault, name: string, { caller, idempotencyKey }: Call, input: unknown): Claim | undefined {
  if (idempotencyKey === undefined) return undefined
  if (!/^[\x21-\x7e]{1,255}$/.test(idempotencyKey)) {
    throw new DomainError('INVALID_INPUT', 'An idempotency key is 1 to 255 visible ASCII characters', {
      field: 'Idempotency-Key',
    })
  }
  const inputHash = vault.digest(canonicalJson(input))
  // A customer's keys are the customer's: nobody else's call is answered with what theirs was.
  const operation = caller.customerId === undefined ? name : `${name} ${toId('Customer', caller.customerId)}`
  return { worldId: caller.worldId, operation, key: idempotencyKey, inputHash }
}

async function answeredBefore<Output extends z.ZodType>(
  core: Core,
  asked: { output: Output },
  claim: Claim,
): Promise<{ reply: z.output<Output> } | undefined> {
  const [known] = await core.database.query<{ inputHash: string; reply: unknown }>(
    `select input_hash as "inputHash", reply from idempotency_key where world_id = $1 and operation = $2 and key = $3`,
    [claim.worldId, claim.operation, claim.key],
  )
  return known && { reply: replay(asked, claim, known) }
}

function replay<Output extends z.ZodType>(
  asked: { output: Output },
  claim: Claim,
  known: { inputHash: string; reply: unknown },
): z.output<Output> {
  if (known.inputHash !== claim.inputHash) {
    throw new DomainError('IDEMPOTENCY_KEY_REUSED', 'This idempotency key was used before, with another input', {
      field: 'Idempotency-Key',
      value: claim.key,
    })
  }
  return asked.output.parse(known.reply)
}
