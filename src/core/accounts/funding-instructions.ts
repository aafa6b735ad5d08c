/**
 * Where to push money so that it is credited to an internal account. Emitted nested (`accountOrWalletInfo`) with `accountType` and
 * `reference` repeated beside it, since the specification shows both forms.
 */
import { createHash } from 'node:crypto'
import { z } from 'zod'

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
  accountHolderName: z.string().optional(),
  bankName: z.string().optional(),
  reference: z.string().optional(),
})

type AccountOrWalletInfo = z.output<typeof AccountOrWalletInfo>

export const PaymentInstruction = z.object({
  accountType: z.string(),
  reference: z.string(),
  instructionsNotes: z.string(),
  accountOrWalletInfo: AccountOrWalletInfo,
})

export type PaymentInstruction = z.output<typeof PaymentInstruction>

/** Spec silent: which rails an account of each currency can be funded by. Sandbox details are derived from the reference. */
export function accountFundingInstructions(currency: string, reference: string): PaymentInstruction[] {
  return railsOf(currency, reference).map((info) => ({
    accountType: info.accountType,
    reference,
    instructionsNotes: `Include the reference ${reference} with the payment; deposits are credited in ${currency}.`,
    accountOrWalletInfo: { ...info, reference },
  }))
}

const holder = { accountHolderName: 'Payments Service FBO', bankName: 'Sandbox Bank' }

function railsOf(currency: string, reference: string): AccountOrWalletInfo[] {
  const number = (length: number) => digits(reference, length)
  switch (currency) {
    case 'USD':
      return [
        { accountType: 'US_ACCOUNT', accountNumber: number(10), routingNumber: '021000021', ...holder },
        { accountType: 'SOLANA_WALLET', address: wallet(reference), assetType: 'USDC' },
      ]
    case 'EUR':
    case 'GBP':
    case 'DKK':
      return [{ accountType: 'IBAN', iban: `DE89${number(18)}`, swiftBic: 'SANDDEFFXXX', ...holder }]
    case 'MXN':
      return [{ accountType: 'CLABE', clabeNumber: number(18), ...holder }]
    case 'BRL':
      return [{ accountType: 'PIX', pixKey: `${reference.toLowerCase()}@pix.example`, pixKeyType: 'EMAIL', ...holder }]
    case 'INR':
      return [{ accountType: 'UPI', vpa: `${reference.toLowerCase()}@sandbox`, ...holder }]
    case 'BTC':
    case 'USDB':
      return [{ accountType: 'SPARK_WALLET', address: `spark1${wallet(reference).toLowerCase()}`, assetType: currency }]
    case 'USDC':
      return ['SOLANA_WALLET', 'BASE_WALLET', 'POLYGON_WALLET'].map((accountType) => ({
        accountType,
        address: wallet(reference),
        assetType: currency,
      }))
    case 'USDT':
      return [{ accountType: 'TRON_WALLET', address: wallet(reference), assetType: currency }]
    default:
      return [{ accountType: `${currency}_ACCOUNT`, accountNumber: number(12), ...holder }]
  }
}

function digits(seed: string, length: number): string {
  const value = BigInt(`0x${createHash('sha256').update(seed).digest('hex')}`)
  return value.toString().slice(-length)
}

function wallet(seed: string): string {
  return createHash('sha256').update(`wallet ${seed}`).digest('base64url').replace(/[-_]/g, 'x').slice(0, 40)
}
