/**
 * Where to push money so that it reaches an internal account or funds a quote. Emitted nested (`accountOrWalletInfo`) with `accountType`
 * and `reference` repeated beside it, since the specification shows both forms.
 */
import { z } from 'zod'
import type { Rails } from '../../rails/port.ts'

const AccountOrWalletInfo = z.object({
  accountType: z.string(),
  accountNumber: z.string().optional(),
  routingNumber: z.string().optional(),
  iban: z.string().optional(),
  swiftBic: z.string().optional(),
  clabeNumber: z.string().optional(),
  pixKey: z.string().optional(),
  pixKeyType: z.string().optional(),
  vpa: z.string().optional(),
  address: z.string().optional(),
  assetType: z.string().optional(),
  invoice: z.string().optional(),
  accountHolderName: z.string().optional(),
  bankName: z.string().optional(),
  reference: z.string().optional(),
})

export const PaymentInstruction = z.object({
  accountType: z.string(),
  reference: z.string(),
  instructionsNotes: z.string(),
  accountOrWalletInfo: AccountOrWalletInfo,
})

export type PaymentInstruction = z.output<typeof PaymentInstruction>

/** One for each rail that takes the money; none where nobody does. */
export function paymentInstructions(
  rails: Rails | undefined,
  deposit: { worldId: string; currency: string; reference: string; funds: 'account' | 'quote' },
): PaymentInstruction[] {
  const { currency, reference, funds } = deposit
  const effect =
    funds === 'account' ? `deposits are credited in ${currency}` : `exactly the quoted amount in ${currency} starts it`
  return (rails?.instructions(deposit) ?? []).map((info) => ({
    accountType: info.accountType,
    reference,
    instructionsNotes: `Include the reference ${reference} with the payment; ${effect}.`,
    accountOrWalletInfo: { ...info, reference },
  }))
}
