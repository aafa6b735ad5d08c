/**
 * A bank with a fault menu, that keeps books of its own. What becomes of a payment is decided by its amount, which a simulation never uses
 * twice; how the gateway comes to hear of it is decided too: at once, late, only when asked often, by a report, by a report that comes twice
 * or in the wrong order, or after the line broke in the middle.
 */
import type { RailOutcome, RailPayment, RailReports, RailReturn, Rails } from '../../src/rails/port.ts'
import { type Random, random } from './random.ts'

const fates: readonly RailOutcome[] = [
  { kind: 'paid' },
  { kind: 'paid' },
  { kind: 'paid' },
  { kind: 'paid' },
  { kind: 'failed' },
  { kind: 'failed', reason: 'TIMEOUT' },
  { kind: 'rejected' },
  { kind: 'returned' },
]

const manners = ['at once', 'late', 'asked often', 'reported', 'reported twice', 'broken line'] as const

interface Leg {
  fate: RailOutcome
  manner: (typeof manners)[number]
  asked: number
}

export interface Bank {
  rails: Rails
  /** Reports that are due: told in an order of the simulation's choosing. */
  reports: ((to: RailReports) => Promise<void>)[]
  /** What the bank holds for the gateway, by its own books: deposits and pulls less payments and returns. Smallest unit, by currency. */
  holds: Map<string, bigint>
  deposit(currency: string, amount: bigint): void
}

export function bank(seed: string): Bank {
  const legs = new Map<string, Leg>()
  const holds = new Map<string, bigint>()
  const reports: Bank['reports'] = []
  const move = (currency: string, amount: bigint) => holds.set(currency, (holds.get(currency) ?? 0n) + amount)

  function begin(key: string, chance: Random, moved: () => void): Leg {
    const leg: Leg = { fate: chance.pick(fates), manner: chance.pick(manners), asked: 0 }
    legs.set(key, leg)
    if (leg.fate.kind === 'paid') moved()
    return leg
  }

  async function carry(leg: 'PULL' | 'SEND', payment: RailPayment): Promise<RailOutcome> {
    const { worldId, transactionId, currency, amount } = payment
    const key = `${transactionId} ${leg}`
    const chance = random(`${seed} ${leg} ${currency} ${amount}`)
    const known = legs.get(key) ?? begin(key, chance, () => move(currency, leg === 'PULL' ? amount : -amount))
    known.asked += 1
    const report = (outcome: RailOutcome) => {
      reports.push((to) => to.outcome({ worldId, transactionId, leg, outcome }))
    }
    switch (known.manner) {
      case 'late':
        return known.asked < 3 ? { kind: 'pending', askAgainInMs: 5_000 } : known.fate
      case 'asked often':
        return known.asked < 6 ? { kind: 'accepted', askAgainInMs: 60_000 } : known.fate
      case 'reported':
      case 'reported twice':
        if (known.asked === 1) {
          report(known.fate)
          report({ kind: 'accepted', askAgainInMs: 1_000 })
          if (known.manner === 'reported twice') report(known.fate)
        }
        return known.asked < 8 ? { kind: 'pending', askAgainInMs: 120_000 } : known.fate
      case 'broken line':
        if (known.asked === 1) throw new Error('the line broke after the bank had understood')
        return known.fate
      case 'at once':
        return known.fate
    }
  }

  const rails: Rails = {
    sends: () => true,
    pulls: (_currency, accountType) => accountType === 'US_ACCOUNT',
    instructions: () => [{ accountType: 'US_ACCOUNT', accountNumber: '1', routingNumber: '021000021' }],
    receiver: async () => ({ currencies: [{ currency: 'EUR', min: 1n, max: 10n ** 12n }], payerFields: [] }),
    send: (payment) => carry('SEND', payment),
    pull: (payment) => carry('PULL', payment),
    async giveBack({ depositId, currency, amount }: RailReturn) {
      const key = `${depositId} RETURN`
      const known = legs.get(key)
      if (known) {
        known.asked += 1
        return { kind: 'paid' }
      }
      legs.set(key, { fate: { kind: 'paid' }, manner: 'at once', asked: 1 })
      move(currency, -amount)
      if (random(`${seed} RETURN ${currency} ${amount}`).chance(0.3))
        throw new Error('the line broke after the bank had understood')
      return { kind: 'paid' }
    },
  }
  return { rails, reports, holds, deposit: move }
}
