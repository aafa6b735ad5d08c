/** An invitation: a customer asks somebody to get a UMA address; with an amount, the platform pays it once it is claimed (pay by link). */
import { z } from 'zod'
import { currencyOf } from '../../base/currency.ts'
import { toId } from '../../base/ids.ts'
import { DomainError } from '../../base/refusal.ts'
import type { Queryable } from '../../database/port.ts'
import { byIdsInWorld, type InvitationRow, selectList } from '../../database/tables.ts'
import type { EventDraft } from '../commit.ts'
import { money } from '../input.ts'
import type { Core, Environment } from '../operation.ts'

export const Invitation = z.object({
  code: z.string(),
  url: z.string(),
  status: z.enum(['PENDING', 'CLAIMED', 'EXPIRED', 'CANCELLED']),
  inviterUma: z.string(),
  inviteeUma: z.string().optional(),
  firstName: z.string().optional(),
  amountToSend: money.optional(),
  expiresAt: z.string().optional(),
  claimedAt: z.string().optional(),
  createdAt: z.string(),
})

export type Invitation = z.output<typeof Invitation>

/** Where it stands at an instant: nobody writes down that it has expired. */
export function toInvitation(row: InvitationRow, baseUrl: string, now: Date): Invitation {
  const { code, amountToSend, currency } = row
  const expired = row.status === 'PENDING' && row.expiresAt !== null && row.expiresAt <= now
  return {
    code,
    url: `${baseUrl}/i/${code}`,
    status: expired ? 'EXPIRED' : row.status,
    inviterUma: row.inviterUma,
    ...(row.inviteeUma === null ? {} : { inviteeUma: row.inviteeUma }),
    ...(row.firstName === null ? {} : { firstName: row.firstName }),
    ...(amountToSend === null ? {} : { amountToSend: { amount: amountToSend, currency: currencyOf(currency!) } }),
    ...(row.expiresAt === null ? {} : { expiresAt: row.expiresAt.toISOString() }),
    ...(row.claimedAt === null ? {} : { claimedAt: row.claimedAt.toISOString() }),
    createdAt: row.createdAt.toISOString(),
  }
}

/** By its code, whichever platform's of this environment it is: whoever has the link may look at it. Refuses INVITATION_NOT_FOUND. */
export async function requireInvitation(database: Queryable, environment: Environment, code: string): Promise<InvitationRow> {
  const [row] = await database.query<InvitationRow>(
    `select ${selectList('invitation', 'i')} from invitation i join world w on w.id = i.world_id
     where i.code = $1 and w.environment = $2::text::"Environment"`,
    [code, environment],
  )
  if (!row) throw invitationNotFound(code)
  return row
}

export async function invitationById(database: Queryable, worldId: string, id: string): Promise<InvitationRow | undefined> {
  const [row] = await database.query<InvitationRow>(
    `select ${selectList('invitation', 'i')} from invitation i where ${byIdsInWorld('i')}`,
    [worldId, [id]],
  )
  return row
}

/** What the page behind its url shows. */
export interface InvitationShown {
  invitation: Invitation
  /** Of the inviter. */
  platformName: string
  umaDomain: string
}

/** Refuses INVITATION_NOT_FOUND. */
export async function showInvitation({ database, settings, clock }: Core, code: string): Promise<InvitationShown> {
  // Whatever stands in an address may come here.
  if (!/^[0-9a-f]{8}$/.test(code)) throw invitationNotFound(code)
  const [row] = await database.query<InvitationRow & { platformName: string; umaDomain: string }>(
    `select ${selectList('invitation', 'i')}, p.name as "platformName", w.uma_domain as "umaDomain"
     from invitation i join world w on w.id = i.world_id join platform p on p.id = w.platform_id where i.code = $1`,
    [code],
  )
  if (!row) throw invitationNotFound(code)
  const { platformName, umaDomain, ...invitation } = row
  return { invitation: toInvitation(invitation, settings.baseUrl, clock.now()), platformName, umaDomain }
}

function invitationNotFound(code: string): DomainError {
  return new DomainError('INVITATION_NOT_FOUND', 'There is no such invitation', { field: 'invitationCode', value: code })
}

/** INVITATION_CLAIMED, to the inviter's platform. */
export function invitationClaimed(row: InvitationRow, baseUrl: string, now: Date): EventDraft {
  return invitationEvent('INVITATION_CLAIMED', row, baseUrl, now)
}

/** INVITATION_EXPIRED, to whoever listens there. */
export function invitationExpired(row: InvitationRow, baseUrl: string, now: Date): EventDraft {
  return invitationEvent('INVITATION_EXPIRED', row, baseUrl, now)
}

function invitationEvent(type: string, row: InvitationRow, baseUrl: string, now: Date): EventDraft {
  return {
    worldId: row.worldId,
    type,
    resourceId: toId('Invitation', row.id),
    customerId: row.inviterCustomerId,
    payload: { invitation: toInvitation(row, baseUrl, now) },
  }
}
