/**
 * The keys that personal data is sealed with. The database remembers which ones its data may be sealed with, never the keys themselves; so a
 * gateway that lacks one says so when it starts. When another key takes over, what the earlier ones sealed is sealed anew, portion by
 * portion, while everything goes on; then they are forgotten.
 */
import { randomBytes } from 'node:crypto'
import { parseJson, stringifyJson } from '../base/json.ts'
import type { Logger } from '../base/logger.ts'
import { type DataKey, dataKey, sealWith, unsealWith } from '../base/vault.ts'
import { hasPersonal, isSealedWithin, sealPersonal } from '../database/personal.ts'
import type { Database, Queryable } from '../database/port.ts'
import type { AccountInfo } from './accounts/account-info.ts'
import { fingerprint } from './accounts/external.ts'

const lockNumber = 7_100_406_225_116_002n
/** Stands for what was written before there were keys. */
const clear = 'clear'

export class UnknownDataKey extends Error {
  override readonly name = 'UnknownDataKey'
}

interface Registered {
  id: string
  secret: string | null
  indexKey: string | null
}

export interface Keys {
  /** Of keys that something may still be sealed with, besides the one that seals now. */
  earlier: readonly string[]
  /** Whether the key that seals now lies in the database itself. */
  unprotected: boolean
}

/** Before anything personal is read or written. Throws UnknownDataKey. */
export async function prepareDataKeys(database: Database, configured: readonly DataKey[], now: Date): Promise<Keys> {
  return database.transaction(async (tx) => {
    await tx.query('select pg_advisory_xact_lock($1)', [lockNumber])
    // As it is kept: under its own name a vault that knows the key would have opened it.
    const registered = await tx.query<Registered>(
      `select id, secret, '=' || index_key as "indexKey" from data_key order by created_at, id`,
    )
    const kept = registered.flatMap(({ secret }) => (secret === null ? [] : [dataKey(Buffer.from(secret, 'base64'))]))
    const keys = configured.length + kept.length > 0 ? [...configured, ...kept] : [dataKey(randomBytes(32))]
    const unknown = registered.find(({ id }) => id !== clear && !keys.some((key) => key.id === id))
    if (unknown) {
      throw new UnknownDataKey(`Personal data here is sealed with the key ${unknown.id}, which DATA_KEYS does not name.`)
    }
    const [current] = keys as [DataKey]
    const indexKey = indexKeyIn(registered, keys) ?? randomBytes(32)
    if (!registered.some(({ id }) => id === current.id)) {
      const secret = configured.length > 0 ? null : current.secret.toString('base64')
      await tx.query('insert into data_key (id, secret, index_key, created_at) values ($1, $2, $3, $4)', [
        current.id,
        secret,
        sealWith(current, indexKey.toString('base64')),
        now,
      ])
    }
    database.vault.unlock(keys, indexKey)
    return { earlier: registered.map(({ id }) => id).filter((id) => id !== current.id), unprotected: configured.length === 0 }
  })
}

function indexKeyIn(registered: readonly Registered[], keys: readonly DataKey[]): Buffer | undefined {
  for (const { id, indexKey } of registered) {
    const key = keys.find((one) => one.id === id)
    const opened = key && indexKey !== null ? unsealWith(key, textOf(indexKey)!) : undefined
    if (typeof opened === 'string') return Buffer.from(opened, 'base64')
    if (key) throw new UnknownDataKey(`The register of data keys was altered: the entry of ${id} does not open.`)
  }
  return undefined
}

// ── Another key takes over ───────────────────────────────────────────────────────────────────────────────────────────────────────

const rowsAtOnce = 500

interface SealedTable {
  table: string
  /** The columns of its primary key, with their types: so that its index is walked. */
  key: Readonly<Record<string, string>>
  /** Columns by type: `whole` ones are sealed as they are, of `parts` what is personal in them. */
  columns: Readonly<Record<string, SealedColumn>>
}

interface SealedColumn {
  type: 'text' | 'jsonb'
  sealed: 'whole' | 'parts' | 'whole if personal'
}

const wholeText = { type: 'text', sealed: 'whole' } as const
const wholeJson = { type: 'jsonb', sealed: 'whole' } as const
const parts = { type: 'jsonb', sealed: 'parts' } as const

/** Everywhere that something may be sealed. */
const sealedTables: readonly SealedTable[] = [
  { table: 'signing_key', key: { id: 'uuid' }, columns: { private_key: wholeText } },
  { table: 'uma_key', key: { id: 'uuid' }, columns: { signing_private_key: wholeText, encryption_private_key: wholeText } },
  { table: 'pay_request', key: { id: 'uuid' }, columns: { payer_data: wholeJson } },
  { table: 'approval', key: { id: 'uuid' }, columns: { receiver_user_info: wholeJson } },
  {
    table: 'customer',
    key: { id: 'uuid' },
    columns: { birth_date: wholeText, business_info: wholeJson, beneficial_owners: wholeJson },
  },
  { table: 'external_account', key: { id: 'uuid' }, columns: { account_info: wholeJson, primary_identifier: wholeText } },
  { table: 'transaction', key: { id: 'uuid' }, columns: { counterparty_information: wholeJson } },
  { table: 'quote', key: { id: 'uuid' }, columns: { payment_instructions: wholeJson } },
  { table: 'bulk_row', key: { id: 'uuid' }, columns: { fields: wholeJson } },
  { table: 'event', key: { id: 'bigint' }, columns: { payload: parts } },
  { table: 'webhook_delivery', key: { id: 'uuid' }, columns: { body: { type: 'text', sealed: 'whole if personal' } } },
  { table: 'webhook_attempt', key: { id: 'bigint' }, columns: { response_body: wholeText } },
  { table: 'idempotency_key', key: { world_id: 'uuid', operation: 'text', key: 'text' }, columns: { reply: parts } },
]

/**
 * Seals anew whatever is not sealed with the key that seals now. The earlier keys are forgotten by the first start that finds nothing left: until
 * then another process may still have sealed with them. Cut off, it begins again at the next start; several processes may do it at once.
 */
export async function sealAnew(
  database: Database,
  { earlier }: Keys,
  { logger, stopped = () => false }: { logger: Pick<Logger, 'info'>; stopped?: () => boolean },
): Promise<void> {
  if (earlier.length === 0) return
  let sealed = 0
  for (const table of sealedTables) {
    for (let after: readonly string[] | undefined = []; after; ) {
      if (stopped()) return
      const done: Portion = await sealPortion(database, table, after)
      sealed += done.sealed
      after = done.last
    }
  }
  if (earlier.includes(clear)) await digestAnew(database)
  if (sealed > 0) {
    logger.info({ sealed, keys: earlier }, 'personal data is sealed anew; the next start looks whether that was all')
    return
  }
  await database.query('delete from data_key where id = any($1::text[])', [earlier])
  logger.info({ keys: earlier }, 'nothing is sealed with the earlier keys any more: they are not needed')
}

interface Portion {
  sealed: number
  /** The key of its last row; undefined when there are no more. */
  last: readonly string[] | undefined
}

async function sealPortion(
  database: Queryable,
  { table, key: keyTypes, columns }: SealedTable,
  after: readonly string[],
): Promise<Portion> {
  const names = Object.keys(columns)
  const key = Object.keys(keyTypes)
  const place = key.map((column, index) => `$${index + 1}::text::${keyTypes[column]}`).join(', ')
  // Under its own name a column would come back opened.
  const asKept = [...key, ...names].map((column) => `'=' || ${column}::text as "${column}"`)
  const rows = await database.query<Record<string, string | null>>(
    `select ${asKept.join(', ')} from ${table} ${after.length > 0 ? `where (${key.join(', ')}) > (${place})` : ''}
     order by ${key.join(', ')} limit ${rowsAtOnce}`,
    after,
  )
  const changed = rows.flatMap((row) => {
    const next = names.map((name) => [name, sealedAnew(database, columns[name]!, textOf(row[name]))] as const)
    if (next.every(([, value]) => value === undefined)) return []
    const before = Object.fromEntries(names.map((name) => [`old_${name}`, textOf(row[name])]))
    const keys = Object.fromEntries(key.map((column) => [column, textOf(row[column])]))
    return [{ ...keys, ...before, ...Object.fromEntries(next.map(([name, value]) => [name, value ?? textOf(row[name])])) }]
  })
  if (changed.length > 0) {
    const texts = [...names, ...names.map((name) => `old_${name}`)].map((name) => `${name} text`)
    const record = [...key.map((column) => `${column} ${keyTypes[column]}`), ...texts].join(', ')
    await database.query(
      `update ${table} t set ${names.map((name) => `${name} = r.${name}::${columns[name]!.type}`).join(', ')}
       from json_to_recordset($1::text::json) as r(${record})
       where ${key.map((column) => `t.${column} = r.${column}`).join(' and ')}
         and ${names.map((name) => `t.${name}::text is not distinct from r.old_${name}`).join(' and ')}`,
      [stringifyJson(changed)],
    )
  }
  const last = rows.length < rowsAtOnce ? undefined : key.map((column) => textOf(rows.at(-1)![column])!)
  return { sealed: changed.length, last }
}

function textOf(marked: string | null | undefined): string | null {
  return marked === null || marked === undefined ? null : marked.slice(1)
}

/** Undefined: it is as it should be. */
function sealedAnew({ vault }: Queryable, { type, sealed }: SealedColumn, text: string | null): string | undefined {
  if (text === null || text === '' || text === 'null') return undefined
  const stored = type === 'text' ? text : parseJson(text)
  if (sealed === 'parts') {
    return isSealedWithin(vault, stored) ? undefined : stringifyJson(sealPersonal(vault, vault.parseJson(text)))
  }
  if (typeof stored === 'string' && vault.isCurrent(stored)) return undefined
  const value = typeof stored === 'string' ? vault.open(stored) : stored
  if (sealed === 'whole if personal' && value === stored && !hasPersonal(parseJson(text))) return undefined
  return type === 'text' ? vault.seal(value) : stringifyJson(vault.seal(value))
}

/** The digests that were made before there was a key for them. */
async function digestAnew(database: Queryable): Promise<void> {
  type Row = { id: string; customerId: string | null; currency: string; accountInfo: AccountInfo }
  for (let after: string | undefined = '00000000-0000-0000-0000-000000000000'; after; ) {
    const rows: Row[] = await database.query<Row>(
      `select id, customer_id as "customerId", currency, account_info as "accountInfo" from external_account
       where id > $1::uuid and not is_deleted order by id limit ${rowsAtOnce}`,
      [after],
    )
    const digests = rows.map((row) => ({ id: row.id, fingerprint: fingerprint(database.vault, row.customerId, row) }))
    await database.query(
      `update external_account t set fingerprint = r.fingerprint
       from json_to_recordset($1::text::json) as r(id uuid, fingerprint text) where t.id = r.id`,
      [stringifyJson(digests)],
    )
    after = rows.length < rowsAtOnce ? undefined : rows.at(-1)!.id
  }
}
