import type { z } from 'zod'
import { completeBankLink, createLinkToken } from '../core/bank-link/bank-link.ts'
import type { Invitation } from '../core/invitations/invitation.ts'
import { cancelInvitation, claimInvitation, createInvitation, getInvitation } from '../core/invitations/invitations.ts'
import { builder } from './builder.ts'
import { askCore } from './context.ts'
import { addMutation, idempotencyKeyDescription } from './error.ts'
import { MoneyRef } from './money.ts'
import { InvitationRef } from './refs.ts'

const InvitationStatus = builder.enumType('InvitationStatus', {
  description: 'How far an invitation has come.',
  values: {
    PENDING: { description: 'It can be claimed.' },
    CLAIMED: { description: 'Somebody got an address by it.' },
    EXPIRED: { description: 'Its time is over.' },
    CANCELLED: { description: 'The inviter took it back.' },
  } as const,
})

InvitationRef.implement({
  description: 'A customer asks somebody to get a UMA address.',
  fields: (t) => ({
    code: t.exposeString('code', { description: 'What it is known by.' }),
    url: t.exposeString('url', { description: 'Where the invitee claims it.' }),
    status: t.expose('status', { type: InvitationStatus, description: 'How far it has come.' }),
    inviterUma: t.exposeString('inviterUma', { description: 'Who invites.' }),
    inviteeUma: t.exposeString('inviteeUma', { nullable: true, description: 'Who claimed it.' }),
    firstName: t.exposeString('firstName', { nullable: true, description: "The inviter's name for the invitee." }),
    amountToSend: t.expose('amountToSend', {
      type: MoneyRef,
      nullable: true,
      description: 'Pay by link: what the platform pays the invitee once it is claimed.',
    }),
    expiresAt: t.expose('expiresAt', {
      type: 'DateTime',
      nullable: true,
      description: 'Until when it can be claimed; null: for ever.',
    }),
    claimedAt: t.expose('claimedAt', { type: 'DateTime', nullable: true, description: 'When it was claimed.' }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When it was made.' }),
  }),
})

builder.queryField('invitation', (t) =>
  t.field({
    type: InvitationRef,
    description: 'An invitation of any platform in this environment: whoever has its code may look at it.',
    args: { code: t.arg.string({ required: true, description: 'Its code.' }) },
    resolve: (_root, { code }, context) => askCore(context, getInvitation, { invitationCode: code }),
  }),
)

const invitation = {
  field: 'invitation',
  type: InvitationRef,
  description: 'The invitation as it now is.',
  of: (made: Invitation) => made,
}

addMutation('createInvitation', {
  description: 'Invites somebody to get a UMA address.',
  operation: createInvitation,
  input: builder.inputType('CreateInvitationInput', {
    description: 'Who invites, and what for.',
    fields: (t) => ({
      inviterUma: t.string({ required: true, description: 'The address of one of your customers.' }),
      firstName: t.string({ description: "The inviter's name for the invitee." }),
      amountToSend: t.field({ type: 'Int64', description: 'Pay by link: in the smallest unit of your first currency.' }),
      expiresAt: t.field({ type: 'DateTime', description: 'Until when it can be claimed.' }),
      idempotencyKey: t.string({ description: idempotencyKeyDescription }),
    }),
  }),
  result: invitation,
})

addMutation('claimInvitation', {
  description: 'Claims an invitation, of any platform, for an address. The platform of the inviter is told.',
  operation: claimInvitation,
  input: builder.inputType('ClaimInvitationInput', {
    description: 'Which one, and for whom.',
    fields: (t) => ({
      invitationCode: t.string({ required: true, description: 'Its code.' }),
      inviteeUma: t.string({ required: true, description: 'The address that was made because of it.' }),
      idempotencyKey: t.string({ description: idempotencyKeyDescription }),
    }),
  }),
  result: invitation,
})

addMutation('cancelInvitation', {
  description: 'Takes an invitation back.',
  operation: cancelInvitation,
  input: builder.inputType('CancelInvitationInput', {
    description: 'Which one.',
    fields: (t) => ({
      invitationCode: t.string({ required: true, description: 'Its code.' }),
      idempotencyKey: t.string({ description: idempotencyKeyDescription }),
    }),
  }),
  result: invitation,
})

type LinkToken = z.output<typeof createLinkToken.output>

const LinkTokenRef = builder.objectRef<LinkToken>('LinkToken').implement({
  description: 'What opens the page of the bank-link provider, once.',
  fields: (t) => ({
    linkToken: t.exposeString('linkToken', { description: 'The token.' }),
    expiration: t.expose('expiration', { type: 'DateTime', description: 'Until when it can be used.' }),
    callbackUrl: t.exposeString('callbackUrl', { description: 'Where the public token is posted afterwards.' }),
    requestId: t.exposeString('requestId', { description: 'For support.' }),
  }),
})

addMutation('createLinkToken', {
  description: 'Begins to link a bank account of a customer.',
  operation: createLinkToken,
  input: builder.inputType('CreateLinkTokenInput', {
    description: 'Whose account.',
    fields: (t) => ({
      customerId: t.id({ required: true, description: '`Customer:<uuid>`' }),
      idempotencyKey: t.string({ description: idempotencyKeyDescription }),
    }),
  }),
  result: { field: 'token', type: LinkTokenRef, description: 'The token.', of: (token: LinkToken) => token },
})

type Linking = z.output<typeof completeBankLink.output>

const LinkingRef = builder.objectRef<Linking>('BankLinking').implement({
  description: 'An account that is being linked: an ACCOUNT_STATUS event says when it is there.',
  fields: (t) => ({
    message: t.exposeString('message', { description: 'For people.' }),
    requestId: t.exposeString('requestId', { description: 'For support.' }),
  }),
})

addMutation('completeBankLink', {
  description: 'The customer is done at the provider: the account is linked.',
  operation: completeBankLink,
  input: builder.inputType('CompleteBankLinkInput', {
    description: 'What the provider answered.',
    fields: (t) => ({
      linkToken: t.string({ required: true, description: 'The token it began with.' }),
      publicToken: t.string({ required: true, description: 'What the provider gave.' }),
      accountId: t.string({ description: "Which of the customer's accounts there; absent: their default." }),
      idempotencyKey: t.string({ description: idempotencyKeyDescription }),
    }),
  }),
  result: { field: 'linking', type: LinkingRef, description: 'That it has begun.', of: (linking: Linking) => linking },
})
