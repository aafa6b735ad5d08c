/** An event of the log, as its readers get it. */
import { encodePosition } from '../base/cursor.ts'
import { toId } from '../base/ids.ts'
import { stringifyJson } from '../base/json.ts'
import type { Queryable } from '../database/port.ts'
import type { Sight } from '../database/sight.ts'
import type { WorldRow } from '../database/tables.ts'

export const eventTypes = [
  'TEST',
  'INCOMING_PAYMENT',
  'OUTGOING_PAYMENT',
  'ACCOUNT_STATUS',
  'KYC_STATUS',
  'INVITATION_CLAIMED',
  'BULK_UPLOAD',
] as const

/** Told to whoever listens just now, and kept in the log, but sent to nobody: the specification knows no webhooks of them. */
export const quietEventTypes = ['INVITATION_EXPIRED', 'BULK_UPLOAD_PROGRESS'] as const

export interface LoggedEvent {
  position: bigint
  /** Which of the events about its resource it is: 1, 2, 3 … */
  sequence: number
  uuid: string
  worldId: string
  type: string
  resourceId: string
  customerId: string | null
  payload: Record<string, unknown>
  createdAt: Date
}

export const eventColumns = `e.position, e.sequence, e.uuid, e.world_id as "worldId", e.type, e.resource_id as "resourceId",
  e.customer_id as "customerId", e.payload, e.created_at as "createdAt"`

export function cursorOf({ position }: Pick<LoggedEvent, 'position'>): string {
  return encodePosition(position)
}

/** The envelope every door shows: type, id and time, and the payload beside them. */
export function envelope({ type, uuid, createdAt, payload }: LoggedEvent): Record<string, unknown> {
  return { type, webhookId: toId('Webhook', uuid), timestamp: createdAt.toISOString(), ...payload }
}

/** The other form, for platforms that chose it: what happened is in the type, what it happened to is under `data`. */
function nestedEnvelope({ type, uuid, createdAt, payload }: LoggedEvent): Record<string, unknown> {
  const [object, data] = subjectOf(type, payload)
  return { id: toId('Webhook', uuid), type: object, timestamp: createdAt.toISOString(), data }
}

function subjectOf(type: string, payload: Record<string, unknown>): [type: string, data: unknown] {
  const { transaction, account, invitation, bulkCustomerImportJob: job, ...rest } = payload as Record<string, Status | undefined>
  if (transaction) return [`${type}.${transaction.status}`, { ...transaction, ...rest }]
  if (account) return [`EXTERNAL_ACCOUNT.${account.status}`, { ...rest, ...account }]
  if (invitation) return [`INVITATION.${invitation.status}`, invitation]
  if (job) return [`BULK_UPLOAD.${job.status}`, job]
  if (type === 'ACCOUNT_STATUS') return ['INTERNAL_ACCOUNT.BALANCE_UPDATED', payload]
  return type === 'KYC_STATUS' ? [`CUSTOMER.KYC_${payload['kycStatus']}`, payload] : [type, payload]
}

interface Status {
  status: string
}

/** The same as text: the bytes that are signed, sent and kept. */
export function bodyOf(event: LoggedEvent, form: WorldRow['webhookEnvelope']): string {
  return stringifyJson(form === 'FLAT' ? envelope(event) : nestedEnvelope(event))
}

export async function lastPosition(database: Queryable): Promise<bigint> {
  const [row] = await database.query<{ position: bigint }>('select coalesce(max(position), 0) as position from event')
  return row!.position
}

/** Which events somebody wants to hear of. */
export interface Interest {
  worldId: string
  /** Absent: every type. */
  types?: readonly string[] | undefined
  /** Bare uuid. */
  customerId?: string | undefined
  /** `<Type>:<uuid>` of one resource. */
  resourceId?: string | undefined
  /** About resources of this type only. */
  resourceType?: string | undefined
}

/** What somebody wants to hear of, as far as they may see it. */
export function interestOf({ worldId, customerId }: Sight, wanted: Omit<Interest, 'worldId'>): Interest {
  if (customerId === undefined) return { ...wanted, worldId }
  const ofSomebodyElse = wanted.customerId !== undefined && wanted.customerId !== customerId
  return { ...wanted, worldId, customerId, ...(ofSomebodyElse ? { types: [] } : {}) }
}

export function concerns(event: LoggedEvent, { worldId, types, customerId, resourceId, resourceType }: Interest): boolean {
  return (
    event.worldId === worldId &&
    (types === undefined || types.includes(event.type)) &&
    (customerId === undefined || event.customerId === customerId) &&
    (resourceId === undefined || event.resourceId === resourceId) &&
    (resourceType === undefined || event.resourceId.startsWith(`${resourceType}:`))
  )
}

/** How many events of a world one statement looks through, whether they are wanted or not. */
const scannedAtOnce = 1000

/**
 * The events of interest after a position, in order, `limit` at most; and how far that has looked, which is `upTo` when there are no more.
 * Each statement looks at a bounded number of events, however few of them are wanted.
 */
export async function readEvents(
  database: Queryable,
  interest: Interest,
  { after, upTo, limit }: { after: bigint; upTo: bigint; limit: number },
): Promise<{ events: LoggedEvent[]; readTo: bigint }> {
  const { worldId, types, customerId, resourceId, resourceType } = interest
  // Of a customer, or of one thing, they are found by an index of their own, however much else has happened: said so that a plan which
  // is made once knows which.
  const ofCustomer = customerId === undefined ? '$4::uuid is null' : 'customer_id = $4'
  const ofResource = resourceId === undefined ? '$6::text is null' : 'resource_id = $6 and sequence is not null'
  const events: LoggedEvent[] = []
  let from = after
  while (from < upTo) {
    const rows = await database.query<LoggedEvent & { last: bigint | null; scanned: bigint }>(
      `with scanned as materialized (
         select position, type, resource_id from event where world_id = $1 and position > $2 and position <= $3
           and ${ofResource} and ${ofCustomer}
         order by position limit ${scannedAtOnce}
       )
       select s.last, s.scanned, ${eventColumns} from (select max(position) as last, count(*) as scanned from scanned) s
       left join event e on e.position = any(array(
         select position from scanned where ($5::text[] is null or type = any($5))
           and ($8::text is null or resource_id like $8 || ':%')
         order by position limit $7
       )) order by e.position`,
      [worldId, from, upTo, customerId ?? null, types ?? null, resourceId ?? null, limit - events.length, resourceType ?? null],
    )
    const { last, scanned } = rows[0]!
    for (const { last: _last, scanned: _scanned, ...event } of rows) if (event.position !== null) events.push(event)
    if (events.length >= limit) return { events, readTo: events.at(-1)!.position }
    if (scanned < scannedAtOnce) break
    from = last!
  }
  return { events, readTo: upTo }
}
