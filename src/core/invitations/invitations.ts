/** Inviting, claiming, cancelling. Until when is the commit's to judge. */
import { randomBytes } from 'node:crypto'
import { z } from 'zod'
import { DomainError } from '../../base/refusal.ts'
import type { InvitationRow } from '../../database/tables.ts'
import { newTask } from '../../log/tasks.ts'
import { customerByUmaAddress } from '../customers/customer.ts'
import { requireUmaAddress } from '../customers/uma-address.ts'
import { amountUpTo, instant, name, text } from '../input.ts'
import { type Moment, operation, query } from '../operation.ts'
import {
  Invitation,
  invitationById,
  invitationClaimed,
  invitationExpired,
  requireInvitation,
  toInvitation,
} from './invitation.ts'

/**
 * Spec silent: the amount of a pay-by-link invitation is in the first currency that the platform supports. Without `expiresAt` it never
 * expires. Refuses INVALID_UMA_ADDRESS, UMA_NOT_FOUND for an inviter who is no customer of the platform.
 */
export const createInvitation = operation({
  name: 'createInvitation',
  permission: 'MANAGE',
  refuses: ['INVALID_UMA_ADDRESS', 'UMA_NOT_FOUND', 'INVALID_AMOUNT'],
  input: z.object({
    inviterUma: text(300),
    firstName: name.optional(),
    amountToSend: amountUpTo().optional(),
    expiresAt: instant.optional(),
  }),
  output: Invitation,
  load: async ({ database, worlds }, caller, { inviterUma }) => {
    const address = requireUmaAddress(inviterUma, 'inviterUma')
    const [world, inviter] = await Promise.all([worlds.get(caller.worldId), customerByUmaAddress(database, caller, address)])
    if (!inviter || inviter.isDeleted) {
      throw new DomainError('UMA_NOT_FOUND', 'inviterUma: none of your customers has this address', {
        field: 'inviterUma',
        value: address,
      })
    }
    return { world: world!, inviter }
  },
  decide({ firstName, amountToSend, expiresAt }, { world, inviter }, { now, newId, settings }) {
    if (expiresAt && expiresAt <= now) {
      throw new DomainError('INVALID_INPUT', 'expiresAt: expected an instant to come', { field: 'expiresAt' })
    }
    const row: InvitationRow = {
      id: newId(),
      worldId: world.id,
      code: randomBytes(4).toString('hex'),
      inviterCustomerId: inviter.id,
      inviterUma: inviter.umaAddress,
      inviteeUma: null,
      firstName: firstName ?? null,
      amountToSend: amountToSend ?? null,
      currency: amountToSend === undefined ? null : world.supportedCurrencies[0]!.currencyCode,
      status: 'PENDING',
      expiresAt: expiresAt ?? null,
      claimedAt: null,
      createdAt: now,
      updatedAt: now,
      version: 1,
    }
    const task = row.expiresAt ? [newTask('expire-invitation', world.id, row.id, row.expiresAt)] : []
    return {
      reply: toInvitation(row, settings.baseUrl, now),
      guard: { customer: [inviter] },
      insert: { invitation: [row], task },
    }
  },
})

const one = { invitationCode: text(60) }

export const getInvitation = query({
  name: 'getInvitation',
  permission: 'VIEW',
  forViewers: true,
  refuses: ['INVITATION_NOT_FOUND'],
  input: z.object(one),
  output: Invitation,
  answer: async ({ database, settings, clock }, { environment }, { invitationCode }) =>
    toInvitation(await requireInvitation(database, environment, invitationCode), settings.baseUrl, clock.now()),
})

/**
 * Any platform may claim for its customer; the inviter's platform is told. Refuses INVITATION_NOT_FOUND, invitation_already_claimed,
 * INVITATION_CANCELLED, invitation_expired, INVALID_UMA_ADDRESS.
 */
export const claimInvitation = operation({
  name: 'claimInvitation',
  permission: 'MANAGE',
  refuses: [
    'INVITATION_NOT_FOUND',
    'INVALID_UMA_ADDRESS',
    'INVITATION_CANCELLED',
    'invitation_already_claimed',
    'invitation_expired',
  ],
  input: z.object({ ...one, inviteeUma: text(300) }),
  output: Invitation,
  load: ({ database }, { environment }, { invitationCode }) => requireInvitation(database, environment, invitationCode),
  decide({ inviteeUma }, row, moment) {
    const { now, settings } = moment
    requireOpen(row, moment)
    const claimed: InvitationRow = {
      ...row,
      status: 'CLAIMED',
      inviteeUma: requireUmaAddress(inviteeUma, 'inviteeUma'),
      claimedAt: now,
      updatedAt: now,
    }
    return {
      reply: toInvitation(claimed, settings.baseUrl, now),
      ...(row.expiresAt ? { before: row.expiresAt } : {}),
      update: { invitation: [claimed] },
      remove: { task: [row.id] },
      events: [invitationClaimed(claimed, settings.baseUrl, now)],
    }
  },
})

/** By the inviter's platform only. Refuses as claimInvitation does, and FORBIDDEN for another platform's invitation. */
export const cancelInvitation = operation({
  name: 'cancelInvitation',
  permission: 'MANAGE',
  refuses: ['INVITATION_NOT_FOUND', 'INVITATION_CANCELLED', 'invitation_already_claimed', 'invitation_expired'],
  input: z.object(one),
  output: Invitation,
  load: ({ database }, { environment }, { invitationCode }) => requireInvitation(database, environment, invitationCode),
  decide(_input, row, moment) {
    const { now, settings, caller } = moment
    if (row.worldId !== caller.worldId) {
      throw new DomainError('FORBIDDEN', 'Only the platform of the inviter can cancel an invitation', { field: 'invitationCode' })
    }
    requireOpen(row, moment)
    const cancelled: InvitationRow = { ...row, status: 'CANCELLED', updatedAt: now }
    return {
      reply: toInvitation(cancelled, settings.baseUrl, now),
      ...(row.expiresAt ? { before: row.expiresAt } : {}),
      update: { invitation: [cancelled] },
      remove: { task: [row.id] },
    }
  },
})

/** Nobody has claimed it in time: whoever listens is told. It is the instant that counts, so nothing of it changes. Run by its task. */
export const expireInvitation = operation({
  name: 'expireInvitation',
  permission: 'MANAGE',
  input: z.object({ invitationId: z.uuid() }),
  output: z.object({ early: z.boolean() }),
  load: ({ database }, { worldId }, { invitationId }) => invitationById(database, worldId, invitationId),
  decide(_input, row, { now, settings, timing }) {
    if (row?.status !== 'PENDING' || row.expiresAt === null) return { reply: { early: false } }
    if (timing === 'early') return { reply: { early: true } }
    const told = invitationExpired(row, settings.baseUrl, now)
    return {
      reply: { early: false },
      notBefore: row.expiresAt,
      guard: { invitation: [row] },
      remove: { task: [row.id] },
      events: [told],
    }
  },
})

function requireOpen({ status, expiresAt, inviteeUma }: InvitationRow, { timing }: Moment): void {
  if (status === 'CLAIMED') {
    throw new DomainError('invitation_already_claimed', 'The invitation has been claimed', { status, inviteeUma })
  }
  if (status === 'CANCELLED') throw new DomainError('INVITATION_CANCELLED', 'The invitation has been cancelled', { status })
  if (timing === 'late') {
    throw new DomainError('invitation_expired', 'The invitation has expired', { expirationTime: expiresAt!.toISOString() })
  }
}
