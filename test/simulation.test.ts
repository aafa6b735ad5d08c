import { afterAll, beforeAll, expect, inject, test } from 'vitest'
import type { Commit } from '../src/core/commit.ts'
import type { Database } from '../src/database/port.ts'
import { openSimulator, type Simulator } from './simulation/simulate.ts'
import { freshDatabase } from './world.ts'

let database: Database
let drop: () => Promise<void>
let simulator: Simulator

beforeAll(async () => {
  ;({ database, drop } = await freshDatabase())
  simulator = await openSimulator(database)
})

afterAll(async () => {
  await simulator.close()
  await drop()
})

// Other seeds on each engine; `npm run simulate` runs as many as one likes.
const [first, count] = inject('engine') === 'embedded' ? [1, 50] : [1001, 150]

test(`${count} lives end with balanced books that agree with the bank's`, async () => {
  for (let seed = first; seed < first + count; seed += 1) {
    const { faults } = await simulator.run(seed)
    expect({ seed, faults }).toEqual({ seed, faults: [] })
  }
}, 300_000)

test('a seed replays exactly', async () => {
  for (const seed of [7, 77, 777]) {
    const [one, other] = [await simulator.run(seed), await simulator.run(seed)]
    expect(other.trace).toEqual(one.trace)
    expect(other.digest).toBe(one.digest)
  }
})

test('a posting that is off by one unit, though balanced, is caught by the auditor and by the bank', async () => {
  const fresh = await freshDatabase()
  const broken = await openSimulator(fresh.database, skimming)
  const faults: string[] = []
  for (let seed = 1; seed <= 3; seed += 1) faults.push(...(await broken.run(seed)).faults)
  expect(faults.join('\n')).toContain('a payment moved what it says, once')
  expect(faults.join('\n')).toMatch(/the bank holds -?\d+ EUR, our books say/)
  await broken.close()
  await fresh.drop()
})

/** Of every payout one unit goes to the counterparty's fees. */
function skimming(commit: Commit): Commit {
  return (plan, claim) => {
    const entries = (plan.entries ?? []).map((item) =>
      item.entry.kind === 'PAYOUT' && item.entry.postings.length === 3
        ? { ...item, entry: { ...item.entry, postings: item.entry.postings.map(shift) } }
        : item,
    )
    return commit(plan.entries ? { ...plan, entries } : plan, claim)
  }
}

function shift<Posting extends { amount: bigint }>(posting: Posting, index: number): Posting {
  return { ...posting, amount: posting.amount + [0n, 1n, -1n][index]! }
}
