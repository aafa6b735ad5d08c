/** Rails that end payments as a test has told them to, and remember what they were asked. */
import type { RailOutcome, RailPayment, RailReturn, Rails, UmaReceiver } from '../src/rails/port.ts'

export interface ScriptedRails extends Rails {
  /** What the next calls answer, in order; paid when there is nothing left. */
  answers: { send: RailOutcome[]; pull: RailOutcome[]; giveBack: RailOutcome[] }
  asked: (RailPayment | RailReturn)[]
  /** What UMA receivers want to know. */
  payerFields: UmaReceiver['payerFields']
  /** Currencies nobody carries. */
  closed: Set<string>
}

export function scriptedRails(): ScriptedRails {
  const next = (kind: keyof ScriptedRails['answers']) => async (asked: RailPayment | RailReturn) => {
    rails.asked.push(asked)
    return rails.answers[kind].shift() ?? { kind: 'paid' as const }
  }
  const rails: ScriptedRails = {
    answers: { send: [], pull: [], giveBack: [] },
    asked: [],
    payerFields: [],
    closed: new Set(),
    sends: (currency) => !rails.closed.has(currency),
    pulls: (currency, accountType) => accountType === 'US_ACCOUNT' && !rails.closed.has(currency),
    instructions: ({ currency }) =>
      rails.closed.has(currency) ? [] : [{ accountType: 'US_ACCOUNT', accountNumber: '1', routingNumber: '2' }],
    receiver: async () => ({ currencies: [{ currency: 'EUR', min: 1_000n, max: 90_000n }], payerFields: rails.payerFields }),
    send: next('send'),
    pull: next('pull'),
    giveBack: next('giveBack'),
  }
  return rails
}
