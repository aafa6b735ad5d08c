/**
 * What the rest of the gateway knows of its database: PostgreSQL, whether a server or the embedded engine. The two differ in speed and
 * in how many things they do at once, never in SQL.
 */
import type { Vault } from '../base/vault.ts'
import type { PrismaClient } from './generated/client.ts'

export interface Queryable {
  /** What personal data is sealed with before it is written; it comes back opened, through `query`. */
  readonly vault: Vault
  /**
   * Runs one statement, prepared once per connection. Parameters may be strings, numbers, booleans, bigints, Dates, null and arrays of
   * strings; JSON is passed as its text. Columns come back as bigint (int8), Date (timestamptz), parsed JSON, number, boolean, string.
   */
  query<Row>(text: string, parameters?: readonly Parameter[], reading?: Reading): Promise<Row[]>
  /** Runs several statements without parameters, as a migration has them. */
  script(sql: string): Promise<void>
}

/** `shown`: int8 and timestamptz come back as the text that answers have, digits and ISO 8601, for rows that nobody calculates with. */
export type Reading = 'values' | 'shown'

export type Parameter = string | number | boolean | bigint | Date | null | readonly string[]

export interface Database extends Queryable {
  readonly engine: 'server' | 'embedded'
  /** For cold reads and writes of single rows. Interactive transactions go through `transaction`, which works on both engines. */
  readonly prisma: PrismaClient
  /** Commits when `work` resolves, rolls back when it throws. On the embedded engine everyone else waits meanwhile: keep it short. */
  transaction<Result>(work: (tx: Queryable) => Promise<Result>): Promise<Result>
  /** Between the processes on one database; absent on the embedded engine, which has one. */
  readonly signals?: Signals
  close(): Promise<void>
}

/** A word without content: there is something new. It may be lost; who waits for it also looks by itself now and then. */
export interface Signals {
  /** To every process, this one too. Several at once are one. */
  send(): void
  listen(heard: () => void): void
}

/** The SQLSTATE of a failed statement, whichever engine reported it. */
export function sqlState(error: unknown): string | undefined {
  return property(error, 'code')
}

/** The constraint that a failed statement broke. */
export function constraintOf(error: unknown): string | undefined {
  return property(error, 'constraint')
}

function property(error: unknown, name: 'code' | 'constraint'): string | undefined {
  if (!(error instanceof Error)) return undefined
  const value: unknown = Reflect.get(error, name)
  return typeof value === 'string' ? value : undefined
}
