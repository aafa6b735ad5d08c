/**
 * The sandbox's rails: no money moves. The last three characters of an account, or the name before the @ of a test address, choose how a
 * payment ends.
 */
import { createHash } from 'node:crypto'
import { type Clock, minute, second } from '../base/clock.ts'
import type { DepositInstruction, RailEnd, RailOutcome, RailPayment, Rails, UmaReceiver } from './port.ts'

const slowFailureMs = 30 * second
/** Spec silent: how long `$pending.long.usd` takes. */
const longPendingMs = 6 * minute

/** `umaDomains`: where the test addresses live. */
export function sandboxRails(clock: Clock, umaDomains: readonly string[]): Rails {
  const pendingUntil = (startedAt: Date, ms: number, then: RailOutcome): RailOutcome => {
    const remainingMs = startedAt.getTime() + ms - clock.now().getTime()
    return remainingMs > 0 ? { kind: 'pending', askAgainInMs: remainingMs } : then
  }

  /** 002 insufficient funds, 003 closed or invalid: failed. 004: rejected. 005: pending for thirty seconds, then failed. */
  function toAccount(primaryIdentifier: string, startedAt: Date): RailOutcome {
    switch (ending(primaryIdentifier)) {
      case '002':
      case '003':
        return { kind: 'failed' }
      case '004':
        return { kind: 'rejected' }
      case '005':
        return pendingUntil(startedAt, slowFailureMs, { kind: 'failed', reason: 'TIMEOUT' })
      default:
        return { kind: 'paid' }
    }
  }

  function toUma(umaAddress: string, startedAt: Date): RailOutcome {
    const name = umaAddress.slice(1, umaAddress.indexOf('@'))
    if (name.startsWith('fail.compliance')) return { kind: 'rejected' }
    if (name.startsWith('pending.long')) return pendingUntil(startedAt, longPendingMs, { kind: 'paid' })
    return { kind: 'paid' }
  }

  const carry = async ({ end, startedAt }: RailPayment) => outcomeAt(end, startedAt)
  const outcomeAt = (end: RailEnd, startedAt: Date) =>
    end.kind === 'uma' ? toUma(end.umaAddress, startedAt) : toAccount(end.primaryIdentifier, startedAt)

  return {
    sends: () => true,
    // Spec silent: which accounts can be pulled from. Bank-linked and debit ones are US accounts; wallets never.
    pulls: (_currency, accountType) => accountType === 'US_ACCOUNT',
    instructions: ({ currency, reference, funds }) => instructions(currency, reference, funds),
    async receiver(umaAddress) {
      const at = umaAddress.indexOf('@')
      return umaDomains.includes(umaAddress.slice(at + 1)) ? testReceivers[umaAddress.slice(1, at)] : undefined
    },
    providers: () =>
      umaDomains.map((domain) => ({
        name: 'Sandbox provider',
        domain,
        regions: ['DE', 'ES', 'FR', 'MX', 'US'],
        currencies: ['USD', 'EUR', 'MXN'],
      })),
    send: carry,
    pull: carry,
    giveBack: async () => ({ kind: 'paid' }),
  }
}

function receives(currency: string, min: bigint, max: bigint): UmaReceiver {
  return { currencies: [{ currency, min, max }], payerFields: [{ name: 'FULL_NAME', mandatory: false }] }
}

const testReceivers: Readonly<Record<string, UmaReceiver>> = {
  'success.usd': receives('USD', 100n, 10_000_000n),
  'success.eur': receives('EUR', 100n, 9_000_000n),
  'success.mxn': receives('MXN', 1_000n, 200_000_000n),
  'pending.long.usd': receives('USD', 100n, 10_000_000n),
  'fail.compliance.usd': receives('USD', 100n, 10_000_000n),
}

/** For addresses with an @ the part before it counts. */
function ending(identifier: string): string {
  const at = identifier.lastIndexOf('@')
  return (at > 0 ? identifier.slice(0, at) : identifier).slice(-3)
}

const holder = { accountHolderName: 'Payments Service FBO', bankName: 'Sandbox Bank' }

/** Spec silent: which rails each currency can be pushed over. Every detail is derived from the reference. */
function instructions(currency: string, reference: string, funds: 'account' | 'quote'): DepositInstruction[] {
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
    case 'BTC': {
      const invoice = `lnbcrt1${wallet(`invoice ${reference}`).toLowerCase()}`
      const spark = {
        accountType: 'SPARK_WALLET',
        address: `spark1${wallet(reference).toLowerCase()}`,
        assetType: 'BTC',
        invoice,
      }
      return funds === 'quote' ? [spark, { accountType: 'LIGHTNING', invoice }] : [spark]
    }
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
