/**
 * The outside world, as the gateway needs it: where prices come from, and who carries money to a bank. The sandbox implements both;
 * another implementation is plugged in by `gateway.ts`.
 */
import type { Ratio } from '../base/money.ts'

/** What one currency costs in another, and what the service and the counterparty charge. */
export interface Terms {
  /** Major units of the sending currency per major unit of the receiving one, before rounding to what a quote shows. */
  rate: Ratio
  /** Smallest unit of the sending currency. */
  serviceFixedFee: bigint
  /** Fraction of the sending amount, e.g. 3/1000. */
  serviceVariableRate: Ratio
  /** Smallest unit of the receiving currency. */
  counterpartyFixedFee: bigint
  /** Major units of the sending currency per bitcoin: the yardstick of the rate details. */
  bitcoinPrice: Ratio
}

export interface RateSource {
  /** Currency codes; undefined when the pair has no price. */
  terms(sendingCurrency: string, receivingCurrency: string): Promise<Terms | undefined>
}

/** A payment on its way to a bank account or wallet. */
export interface RailPayment {
  /** The same for every attempt of the same payment: a rail pays it once. */
  transactionId: string
  accountType: string
  /** Account number, IBAN, address …: full, never logged. */
  primaryIdentifier: string
  currency: string
  /** Smallest unit of `currency`. */
  amount: bigint
  /** When the payment was executed. */
  startedAt: Date
}

export type RailOutcome =
  | { kind: 'paid' }
  /** The payment did not happen. */
  | { kind: 'failed'; reason: string }
  /** The receiving bank or wallet refused it. */
  | { kind: 'rejected' }
  /** Under way; ask again then. */
  | { kind: 'pending'; askAgainInMs: number }

export interface PaymentRail {
  /** Starts the payment, or tells how one that was started is doing: it may be called any number of times. */
  pay(payment: RailPayment): Promise<RailOutcome>
}
