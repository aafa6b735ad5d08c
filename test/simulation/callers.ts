/**
 * Callers whose operations run side by side, one step at a time. Each has read and decided when it stands before its commit; there it waits
 * until the simulation lets it go, alone or with others, in an order that chance chooses; or lets it crash, before the commit or after.
 */
import { DomainError } from '../../src/base/refusal.ts'
import type { Commit } from '../../src/core/commit.ts'
import type { Core } from '../../src/core/operation.ts'
import type { Random } from './random.ts'

export class Crash extends Error {}

/** What an operation came to: its answer, the code it was refused with, or nothing, since its process died. */
export type Ending = { kind: 'answer'; answer: unknown } | { kind: 'refused'; code: string } | { kind: 'crashed' }

export interface Act {
  name: string
  run(core: Core): Promise<unknown>
}

interface Caller {
  ending: Ending | undefined
  /** Set while it stands before a commit. */
  go: ((fate: 'commit' | 'crash before' | 'crash after') => Promise<void>) | undefined
  /** Resolves when it stands before a commit, or has come to its end. */
  still: Promise<void>
}

/** Runs the acts side by side to their endings. */
export async function sideBySide(core: Core, acts: readonly Act[], chance: Random, crashes: number): Promise<Ending[]> {
  const callers: Caller[] = []
  for (const act of acts) {
    const caller = start(core, act)
    callers.push(caller)
    await caller.still
  }
  for (;;) {
    const waiting = callers.filter(({ go }) => go !== undefined)
    if (waiting.length === 0) return callers.map(({ ending }) => ending!)
    const together = chance.shuffle(waiting).slice(0, 1 + chance.below(waiting.length))
    await Promise.all(
      together.map((caller) => {
        const go = caller.go!
        caller.go = undefined
        return go(chance.chance(crashes) ? (chance.chance(0.5) ? 'crash before' : 'crash after') : 'commit')
      }),
    )
    for (const { still } of together) await still
  }
}

function start(core: Core, { run }: Act): Caller {
  let stand = () => {}
  const caller: Caller = { ending: undefined, go: undefined, still: Promise.resolve() }
  const move = () => {
    caller.still = new Promise((resolve) => {
      stand = resolve
    })
  }
  const commit: Commit = (plan, claim) =>
    new Promise((resolve, reject) => {
      caller.go = async (fate) => {
        move()
        if (fate === 'crash before') return reject(new Crash())
        try {
          const outcome = await core.commit(plan, claim)
          if (fate === 'crash after') reject(new Crash())
          else resolve(outcome)
        } catch (error) {
          reject(error)
        }
      }
      stand()
    })
  move()
  run({ ...core, commit })
    .then(
      (answer) => ({ kind: 'answer' as const, answer }),
      (error): Ending => {
        if (error instanceof Crash) return { kind: 'crashed' }
        if (error instanceof DomainError) return { kind: 'refused', code: error.code }
        throw error
      },
    )
    .then((ending) => {
      caller.ending = ending
    })
    .then(
      () => stand(),
      (bug) => {
        caller.still = Promise.reject(bug)
        stand()
      },
    )
  return caller
}
