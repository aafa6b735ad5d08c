/**
 * The chart of accounts. Every world has, per currency: the internal accounts of its customers and of the platform, which keep a running
 * balance that never goes below zero; and one system account of each other kind, which keep none (they would be hot rows), so their
 * balance is the sum of their postings.
 */
import { derivedUuid } from '../base/ids.ts'

export const systemKinds = ['IN_FLIGHT', 'FEES', 'COUNTERPARTY_FEES', 'FX_POSITION', 'CLEARING'] as const

export type SystemKind = (typeof systemKinds)[number]

export const accountKinds = {
  INTERNAL: "A customer's or the platform's balance.",
  IN_FLIGHT: 'Money that has left where it was and has not arrived yet.',
  FEES: 'What the service earned.',
  COUNTERPARTY_FEES: 'What counterparties charged and was passed on.',
  FX_POSITION: "The service's own position in a currency: what exchange goes through.",
  CLEARING: 'The rails: money that came from outside or went there.',
} as const satisfies Record<'INTERNAL' | SystemKind, string>

export type AccountKind = keyof typeof accountKinds

/** An account as a posting needs it. */
export interface Account {
  id: string
  /** Whether it has a running balance that a debit may not overdraw. */
  keepsBalance: boolean
}

export function internalAccount(id: string): Account {
  return { id, keepsBalance: true }
}

export function systemAccount(worldId: string, kind: SystemKind, currency: string): Account {
  return { id: derivedUuid('ledger-account', worldId, kind, currency), keepsBalance: false }
}
