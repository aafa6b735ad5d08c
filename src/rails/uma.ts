/**
 * Other providers of UMA addresses, as the gateway speaks with them: who receives, what is asked for it, and that it was paid. `src/uma`
 * implements it over HTTP with the protocol's own messages; the money itself is a rail's.
 */
import type { UmaCounterparty, UmaReceiver } from './port.ts'

/** A world, as other providers know it. */
export interface UmaIdentity {
  domain: string
  /** secp256k1, 32 bytes. */
  signingKey: Uint8Array
  /** Sandbox worlds may speak with loopback addresses where webhooks may. */
  allowLocal: boolean
}

interface UmaPayer {
  address: string
  verified: boolean
  /** By the specification's names of user information. */
  data: Readonly<Record<string, string>>
}

export interface UmaPayment {
  counterparty: UmaCounterparty
  payer: UmaPayer
  receiverAddress: string
  currency: string
  /** Smallest unit of `currency`. */
  amount: bigint
  /** At most this for one smallest unit: what it was when the payment was quoted. An exact decimal. */
  millisatoshis: string
  description: string | undefined
  /** What the platform must know of the receiver. */
  wanted: readonly { name: string; mandatory: boolean }[]
}

/** What its provider says to a pay request. */
export type UmaAnswer =
  | { kind: 'accepted'; invoice: string; millisatoshis: bigint; settlementUrl: string; payee: Readonly<Record<string, string>> }
  /** The platform or the customer there does not want it. */
  | { kind: 'refused' }
  /** It lacks what the platform must know of the receiver. */
  | { kind: 'incomplete' }
  /** No answer, or none that can be believed. `reason` is for the log. */
  | { kind: 'failed'; reason: string }

export interface UmaNetwork {
  /**
   * Undefined when there is no such address. Refuses LNURLP_REQUEST_FAILED, PARSE_LNURLP_RESPONSE_ERROR, COUNTERPARTY_PUBKEY_FETCH_ERROR,
   * UNSUPPORTED_UMA_VERSION, USER_NOT_READY.
   */
  lookUp(as: UmaIdentity, umaAddress: string): Promise<UmaReceiver | undefined>
  requestPayment(as: UmaIdentity, payment: UmaPayment): Promise<UmaAnswer>
  /** Tells whoever receives that it was paid. Undefined: no answer, so tell it again. */
  tellPaid(
    as: UmaIdentity,
    paid: { settlementUrl: string; invoice: string; millisatoshis: bigint },
  ): Promise<'taken' | 'refused' | undefined>
}
