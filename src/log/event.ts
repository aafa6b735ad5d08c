/** An event of the log, as its readers get it. */
import { encodePosition } from '../base/cursor.ts'
import { toId } from '../base/ids.ts'
import type { Queryable } from '../database/port.ts'

export interface LoggedEvent {
  position: bigint
  uuid: string
  worldId: string
  type: string
  resourceId: string
  customerId: string | null
  payload: Record<string, unknown>
  createdAt: Date
}

export const eventColumns = `e.position, e.uuid, e.world_id as "worldId", e.type, e.resource_id as "resourceId",
  e.customer_id as "customerId", e.payload, e.created_at as "createdAt"`

export function cursorOf({ position }: LoggedEvent): string {
  return encodePosition(position)
}

/** The envelope every door shows: type, id and time, and the payload beside them. */
export function envelope({ type, uuid, createdAt, payload }: LoggedEvent): Record<string, unknown> {
  return { type, webhookId: toId('Webhook', uuid), timestamp: createdAt.toISOString(), ...payload }
}

export async function lastPosition(database: Queryable): Promise<bigint> {
  const [row] = await database.query<{ position: bigint }>('select coalesce(max(position), 0) as position from event')
  return row!.position
}
