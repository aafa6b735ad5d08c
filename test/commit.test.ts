import fc from 'fast-check'
import { beforeAll, describe, expect, test } from 'vitest'
import { newId } from '../src/base/ids.ts'
import { type Commit, createCommitter, type Plan } from '../src/core/commit.ts'
import type { Database } from '../src/database/port.ts'
import { internalAccount, systemAccount } from '../src/ledger/chart.ts'
import { entry } from '../src/ledger/entry.ts'
import { useWorld } from './world.ts'

const world = useWorld({ ledgerOnly: true })
let worldId: string
let commit: Commit

beforeAll(async () => {
  const [row] = await world.database.query<{ id: string }>(`select id from world where environment = 'SANDBOX' limit 1`)
  worldId = row!.id
  commit = createCommitter(world.database, world.clock, () => {}).commit
})

const now = () => world.clock.now()

async function newAccount(balance: bigint): Promise<string> {
  const id = newId()
  await commit({
    reply: undefined,
    insert: {
      ledger_account: [{ id, worldId, kind: 'INTERNAL', currency: 'USD', balance: 0n, createdAt: now(), updatedAt: now() }],
    },
  })
  if (balance > 0n) await commit(move([[undefined, id, balance]]))
  return id
}

/** A plan of transfers; from or to undefined is the outside. */
function move(transfers: readonly (readonly [from: string | undefined, to: string | undefined, amount: bigint])[]): Plan<string> {
  const account = (id: string | undefined) => (id === undefined ? systemAccount(worldId, 'CLEARING', 'USD') : internalAccount(id))
  return {
    reply: 'moved',
    entries: transfers.map(([from, to, amount]) => ({
      worldId,
      transactionId: newId(),
      entry: entry('FUNDING', 'USD', [
        [account(from), -amount],
        [account(to), amount],
      ]),
    })),
  }
}

async function balances(ids: readonly string[]): Promise<bigint[]> {
  const rows = await world.database.query<{ id: string; balance: bigint }>(
    'select id, balance from ledger_account where id = any($1::uuid[])',
    [ids],
  )
  return ids.map((id) => rows.find((row) => row.id === id)!.balance)
}

describe('a batch of plans', () => {
  test('goes in order, each plan seeing what those before it left: as a model that runs them one by one', async () => {
    const accounts = await Promise.all([100n, 50n, 0n, 7n].map(newAccount))
    const party = fc.option(fc.integer({ min: 0, max: 3 }), { nil: undefined })
    const transfer = fc.tuple(party, party, fc.bigInt(1n, 80n)).filter(([from, to]) => from !== to)
    const plans = fc.array(fc.array(transfer, { minLength: 1, maxLength: 3 }), { minLength: 1, maxLength: 25 })
    await fc.assert(
      fc.asyncProperty(plans, async (wanted) => {
        const model = await balances(accounts)
        const expected = wanted.map((transfers) => {
          const trial = [...model]
          for (const [from, to, amount] of transfers) {
            for (const [party, delta] of [
              [from, -amount],
              [to, amount],
            ] as const) {
              if (party === undefined) continue
              trial[party]! += delta
              if (trial[party]! < 0n) return 'short'
            }
          }
          model.splice(0, model.length, ...trial)
          return 'done'
        })
        const id = (party: number | undefined) => (party === undefined ? undefined : accounts[party])
        const outcomes = await Promise.all(
          wanted.map((transfers) => commit(move(transfers.map(([from, to, amount]) => [id(from), id(to), amount] as const)))),
        )
        expect(outcomes.map(({ kind }) => kind)).toEqual(expected)
        expect(await balances(accounts)).toEqual(model)
      }),
      { numRuns: 40 },
    )
  })

  test('tells each event the balances just before and after its own plan', async () => {
    const account = await newAccount(100n)
    const zero = { amount: 0n }
    const plan = (amount: bigint): Plan<string> => ({
      ...move([[account, undefined, amount]]),
      events: [
        {
          worldId,
          type: 'ACCOUNT_STATUS',
          resourceId: `InternalAccount:${account}`,
          customerId: null,
          payload: { oldBalance: zero, newBalance: zero },
          balanceOf: account,
        },
      ],
    })
    await Promise.all([10n, 500n, 20n, 30n].map((amount) => commit(plan(amount))))
    const events = await world.database.query<{ payload: { oldBalance: { amount: number }; newBalance: { amount: number } } }>(
      'select payload from event where resource_id = $1 order by id',
      [`InternalAccount:${account}`],
    )
    expect(events.map(({ payload }) => [payload.oldBalance.amount, payload.newBalance.amount])).toEqual([
      [100, 90],
      [90, 70],
      [70, 40],
    ])
  })

  test('lets one of several plans for the same version of a row through', async () => {
    const [row] = await world.database.query<{ id: string; version: number }>('select id, version from world where id = $1', [
      worldId,
    ])
    const guarded: Plan<number> = { reply: 1, guard: { world: [row!] } }
    expect((await Promise.all([commit(guarded), commit(guarded)])).map(({ kind }) => kind)).toEqual(['done', 'done'])
    const stale: Plan<number> = { reply: 1, guard: { world: [{ id: row!.id, version: row!.version + 7 }] } }
    expect((await commit(stale)).kind).toBe('moved')
    const gone: Plan<number> = { reply: 1, guard: { world: [{ id: newId(), version: 1 }] } }
    expect((await commit(gone)).kind).toBe('moved')
  })

  test('a plan goes only within its time, by the clock of the database', async () => {
    const at = (ms: number) => new Date(now().getTime() + ms)
    const kinds = await Promise.all(
      [{ before: at(1) }, { before: at(0) }, { notBefore: at(0) }, { notBefore: at(1) }].map((period) =>
        commit({ reply: 1, ...period }),
      ),
    )
    expect(kinds.map(({ kind }) => kind)).toEqual(['done', 'late', 'done', 'early'])
  })

  test('a plan that breaks a rule of the database fails alone', async () => {
    const account = await newAccount(100n)
    const twice = { id: newId(), name: 'twice', createdAt: now() }
    const outcomes = await Promise.allSettled([
      commit(move([[account, undefined, 10n]])),
      commit({ reply: 1, insert: { platform: [twice, twice] } }),
      commit(move([[account, undefined, 10n]])),
      commit({ reply: 1, insert: { platform: [{ ...twice, id: 'not a uuid' }] } }),
      commit(move([[newId(), undefined, 1n]])),
      commit(move([[account, undefined, 10n]])),
    ])
    const kinds = outcomes.map((outcome) => (outcome.status === 'fulfilled' ? outcome.value.kind : 'threw'))
    expect(kinds).toEqual(['done', 'exists', 'done', 'threw', 'threw', 'done'])
    expect(await balances([account])).toEqual([70n])
  })
})

describe('an entry', () => {
  test('that is out of balance is a bug, here and again in the database', async () => {
    const account = await newAccount(100n)
    expect(() =>
      entry('FUNDING', 'USD', [
        [internalAccount(account), 5n],
        [systemAccount(worldId, 'CLEARING', 'USD'), -4n],
      ]),
    ).toThrow('out of balance by 1')
    const forged = (
      postings: { account: { id: string; keepsBalance: boolean }; amount: bigint }[],
      currency = 'USD',
    ): Plan<number> => ({
      reply: 1,
      entries: [{ worldId, transactionId: newId(), entry: { kind: 'FUNDING', currency, postings } }],
    })
    const [internal, outside] = [internalAccount(account), systemAccount(worldId, 'CLEARING', 'USD')]
    const wrong = [
      forged([{ account: internal, amount: 5n }]),
      forged([
        { account: internal, amount: 5n },
        { account: systemAccount(worldId, 'CLEARING', 'EUR'), amount: -5n },
      ]),
      forged(
        [
          { account: internal, amount: 5n },
          { account: outside, amount: -5n },
        ],
        'EUR',
      ),
      forged([
        { account: { id: account, keepsBalance: false }, amount: 5n },
        { account: outside, amount: -5n },
      ]),
      forged([
        { account: { ...outside, keepsBalance: true }, amount: 5n },
        { account: internal, amount: -5n },
      ]),
    ]
    for (const plan of wrong) await expect(commit(plan)).rejects.toThrow(/out of balance|does not exist/)
    expect(await balances([account])).toEqual([100n])
  })
})

test('a lost connection fails the plans that were under way, and no others', async () => {
  const broken: Database = { ...world.database, query: () => Promise.reject(new Error('connection lost')) }
  let database = broken
  const proxy: Database = { ...world.database, query: (text, parameters) => database.query(text, parameters) }
  const committer = createCommitter(proxy, world.clock, () => {})
  await expect(committer.commit({ reply: 1 })).rejects.toThrow('connection lost')
  database = world.database
  expect((await committer.commit({ reply: 1 })).kind).toBe('done')
  await committer.idle()
})
