/** A world: one platform's sandbox or production, with its configuration. */
import { type Cached, cached } from '../../base/cached.ts'
import type { Database } from '../../database/port.ts'
import type { WorldRow } from '../../database/tables.ts'

/** One entry of a platform's supportedCurrencies, as it is stored. */
export interface SupportedCurrency {
  currencyCode: string
  /** Smallest unit. */
  minAmount: bigint | number
  /** Smallest unit. */
  maxAmount: bigint | number
  enabledTransactionTypes: readonly ('INCOMING' | 'OUTGOING')[]
  requiredCounterpartyFields: readonly { name: string; mandatory: boolean }[]
  providerRequiredCustomerFields: readonly string[]
}

export type World = Omit<WorldRow, 'supportedCurrencies'> & { supportedCurrencies: readonly SupportedCurrency[] }

export type Worlds = Cached<World>

export function createWorlds(database: Database): Worlds {
  return cached((id) => readWorld(database, id))
}

export async function readWorld({ prisma }: Database, id: string): Promise<World | undefined> {
  const row = await prisma.world.findUnique({ where: { id } })
  return row ? { ...row, supportedCurrencies: row.supportedCurrencies as unknown as SupportedCurrency[] } : undefined
}

export function supportOf(world: World, currency: string): SupportedCurrency | undefined {
  return world.supportedCurrencies.find(({ currencyCode }) => currencyCode === currency)
}

/** The row as the database keeps it. */
export function worldRow(world: World): WorldRow {
  return { ...world, supportedCurrencies: world.supportedCurrencies as unknown as WorldRow['supportedCurrencies'] }
}
