/** The page behind an invitation's url: who invites, to what, and where to claim it. */
import type { FastifyInstance } from 'fastify'
import { displayAmount } from '../base/money.ts'
import { type InvitationShown, showInvitation } from '../core/invitations/invitation.ts'
import type { Core } from '../core/operation.ts'
import { headersOf, html, type Markup, pageOf } from './page.ts'

export function addInvitations(app: FastifyInstance, core: Core): void {
  app.get<{ Params: { code: string } }>('/i/:code', async ({ params }, reply) => {
    const shown = await showInvitation(core, params.code)
    const { title, content } = wordsOf(shown)
    return reply.headers(headersOf()).send(pageOf(title, html`<h1>${title}</h1>${content}`))
  })
}

function wordsOf({ invitation, platformName, umaDomain }: InvitationShown): { title: string; content: Markup } {
  const { status, inviterUma, firstName, amountToSend, expiresAt, code } = invitation
  switch (status) {
    case 'CLAIMED':
      return {
        title: 'This invitation has been claimed',
        content: html`<p>${inviterUma} invited somebody, and they are there.</p>`,
      }
    case 'CANCELLED':
      return { title: 'This invitation has been taken back', content: html`<p>Ask ${inviterUma} for a new one.</p>` }
    case 'EXPIRED':
      return { title: 'This invitation is over', content: html`<p>Ask ${inviterUma} for a new one.</p>` }
    case 'PENDING':
  }
  const amount =
    amountToSend && `${displayAmount(BigInt(amountToSend.amount), amountToSend.currency.decimals)} ${amountToSend.currency.code}`
  return {
    title: firstName ? `${firstName}, you are invited` : 'You are invited',
    content: html`<p><strong>${inviterUma}</strong> invites you to get a UMA address: money can be sent to it from anywhere, as easily as a message.</p>
${amount && html`<p>Once you have one, you get <strong>${amount}</strong>.</p>`}
<h2>How to claim it</h2>
<ol><li>Get an account with ${platformName} (<strong>${umaDomain}</strong>), or with any other provider of UMA addresses.</li>
<li>Give them this code: <strong>${code}</strong></li></ol>
${expiresAt && html`<p>It can be claimed until <time datetime="${expiresAt}">${expiresAt.slice(0, 10)}</time>.</p>`}`,
  }
}
