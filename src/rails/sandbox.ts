/** The sandbox's bank rail: no money moves, and the last three characters of the account choose how a payment ends. */
import { type Clock, second } from '../base/clock.ts'
import type { PaymentRail, RailOutcome } from './port.ts'

const slowFailureMs = 30 * second

/**
 * 002 insufficient funds, 003 closed or invalid: failed. 004: rejected by the bank. 005: pending for thirty seconds, then failed.
 * Anything else: paid at once. For addresses with an @ the part before it counts.
 */
export function sandboxRail(clock: Clock): PaymentRail {
  return {
    async pay({ primaryIdentifier, startedAt }): Promise<RailOutcome> {
      switch (ending(primaryIdentifier)) {
        case '002':
        case '003':
          return { kind: 'failed', reason: 'QUOTE_EXECUTION_FAILED' }
        case '004':
          return { kind: 'rejected' }
        case '005': {
          const remainingMs = startedAt.getTime() + slowFailureMs - clock.now().getTime()
          return remainingMs > 0 ? { kind: 'pending', askAgainInMs: remainingMs } : { kind: 'failed', reason: 'TIMEOUT' }
        }
        default:
          return { kind: 'paid' }
      }
    },
  }
}

function ending(identifier: string): string {
  const at = identifier.lastIndexOf('@')
  return (at > 0 ? identifier.slice(0, at) : identifier).slice(-3)
}
