/**
 * The outside world, as the gateway needs it: where prices come from, and who carries money to and from banks, wallets and UMA
 * counterparties. `sandbox.ts` implements it; a module named by the variable RAILS does for production (`load.ts`).
 *
 * What the gateway relies on, and what it does not:
 * - A payment has at most one PULL and one SEND, a deposit one RETURN: asked again, a rail starts nothing new and tells how it is doing.
 * - How something ended may be answered, or reported later, any number of times and in any order: the first final outcome counts, and the
 *   gateway asks again by itself, so a lost report is only slow.
 * - A deposit has the rail's own reference; reported twice, it is one deposit.
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

/** Where a rail takes money to, or from. */
export type RailEnd =
  /** `primaryIdentifier`: account number, IBAN, address …: full, never logged. `accountInfo`: all that is known of the account. */
  | { kind: 'account'; accountType: string; primaryIdentifier: string; accountInfo: unknown }
  | { kind: 'uma'; umaAddress: string; invoice?: UmaInvoice }

/** What the provider of a UMA address elsewhere wants to be paid: by whatever the two settle with. */
interface UmaInvoice {
  domain: string
  invoice: string
  millisatoshis: bigint
}

export interface RailPayment {
  worldId: string
  /** Bare uuid: the same for every call about the same payment. */
  transactionId: string
  /** The payment's reconciliation reference. */
  reference: string
  /** What the receiver's bank shall show; at most 80 characters. */
  remittanceInformation: string | undefined
  end: RailEnd
  currency: string
  /** Smallest unit of `currency`. */
  amount: bigint
  /** When this leg of the payment began. */
  startedAt: Date
}

/** Money that came in and has to go back to whoever sent it. */
export interface RailReturn {
  worldId: string
  /** Bare uuid of the deposit: the same for every call about it. */
  depositId: string
  /** The rail's own name for the money that came in; `pull:<transactionId>` for what it pulled. */
  railReference: string
  currency: string
  /** Smallest unit of `currency`. */
  amount: bigint
}

/** Why a payment failed: the specification's values. */
export const failureReasons = [
  'LNURLP_FAILED',
  'PAY_REQUEST_FAILED',
  'PAYMENT_APPROVAL_WEBHOOK_ERROR',
  'PAYMENT_APPROVAL_TIMED_OUT',
  'OFFRAMP_FAILED',
  'MISSING_MANDATORY_PAYEE_DATA',
  'QUOTE_EXPIRED',
  'QUOTE_EXECUTION_FAILED',
  'FUNDING_AMOUNT_MISMATCH',
  'TIMEOUT',
] as const

type FailureReason = (typeof failureReasons)[number]

export type RailOutcome =
  /** The money is where it should be: final. */
  | { kind: 'paid' }
  /** It did not happen: final. Without a reason the gateway names the one that fits the kind of payment. */
  | { kind: 'failed'; reason?: FailureReason | undefined }
  /** The other bank or wallet refused it: final. */
  | { kind: 'rejected' }
  /** It had been sent and came back: final. */
  | { kind: 'returned' }
  /** Cross-border settlement has begun; ask again then. */
  | { kind: 'accepted'; askAgainInMs: number }
  /** Not begun, or nothing to tell; ask again then. */
  | { kind: 'pending'; askAgainInMs: number }

/** Where a deposit can be pushed to: the fields of the specification's payment instruction for the account type. */
export interface DepositInstruction {
  accountType: string
  accountNumber?: string
  routingNumber?: string
  iban?: string
  swiftBic?: string
  clabeNumber?: string
  pixKey?: string
  pixKeyType?: string
  vpa?: string
  address?: string
  assetType?: string
  invoice?: string
  accountHolderName?: string
  bankName?: string
}

/** What a UMA address can receive, and what its provider wants to know about who pays. */
export interface UmaReceiver {
  /** The first one is what it prefers. Amounts in the smallest unit of the currency. */
  currencies: readonly UmaCurrency[]
  payerFields: readonly { name: string; mandatory: boolean }[]
  /** Where another provider takes pay requests for it. Absent: a rail carries the payment by itself. */
  elsewhere?: UmaCounterparty
}

export interface UmaCurrency {
  currency: string
  min: bigint
  max: bigint
  /** What its provider asks for one smallest unit: an exact decimal. */
  millisatoshis?: string
}

export interface UmaCounterparty {
  domain: string
  callbackUrl: string
  majorVersion: number
  /** It must have the payer's data for the travel rule. */
  travelRule: boolean
}

/** Somebody whose addresses can be paid. */
export interface UmaProvider {
  name: string
  domain: string
  /** ISO 3166-1 alpha-2 codes. */
  regions: readonly string[]
  /** Codes of what its addresses can receive. */
  currencies: readonly string[]
  logoUrl?: string | undefined
  /** Legal entity identifier (ISO 17442). */
  lei?: string | undefined
}

export interface Rails {
  /** Whether payments in this currency can be sent to accounts of this type (`UMA_ADDRESS` for UMA). */
  sends(currency: string, accountType: string): boolean
  /** Whether money in this currency can be pulled from accounts of this type. */
  pulls(currency: string, accountType: string): boolean
  /** Everywhere money with this reference can be pushed to; instant rails only where it funds a quote. Empty: nowhere. */
  instructions(deposit: {
    worldId: string
    currency: string
    reference: string
    funds: 'account' | 'quote'
  }): readonly DepositInstruction[]
  /** Undefined when there is no such address. */
  receiver(umaAddress: string): Promise<UmaReceiver | undefined>
  /** Absent: it knows of none. */
  providers?(): readonly UmaProvider[]
  /** What it must know of a customer who moves this currency, by the specification's names of user information. Absent: nothing. */
  customerFields?(currency: string): readonly string[]
  send(payment: RailPayment): Promise<RailOutcome>
  pull(payment: RailPayment): Promise<RailOutcome>
  giveBack(returned: RailReturn): Promise<RailOutcome>
}

/** How a rail tells what it learns by itself. Each call resolves when the gateway has written it down; repeat it until it does. */
export interface RailReports {
  outcome(report: { worldId: string; transactionId: string; leg: 'PULL' | 'SEND'; outcome: RailOutcome }): Promise<void>
  /**
   * Another provider has paid an invoice of ours. Resolves to whether it was taken: not one that is unknown, too little, not approved of, or
   * too late; then the money is the rail's to give back.
   */
  invoice(report: { worldId: string; invoice: string; millisatoshis: bigint }): Promise<boolean>
  /** `reference`: what the payer wrote, as the instructions said. Amount in the smallest unit. */
  deposit(report: { worldId: string; railReference: string; reference: string; currency: string; amount: bigint }): Promise<void>
}
