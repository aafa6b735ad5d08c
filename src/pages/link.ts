/** The sandbox's stand-in for the page of a bank-link provider: the customer chooses an account, and it is linked. */
import { randomUUID } from 'node:crypto'
import type { FastifyInstance } from 'fastify'
import { completeBankLink, linkTokenOf, tokenNotFound } from '../core/bank-link/bank-link.ts'
import { type Core, perform, serviceCaller } from '../core/operation.ts'
import { headersOf, html, pageOf } from './page.ts'

/** What the customer has at the Sandbox Bank. */
const accounts = [
  { id: 'sandbox-checking', name: 'Checking account' },
  { id: 'sandbox-savings', name: 'Savings account' },
]

export function addBankLink(app: FastifyInstance, core: Core): void {
  app.get<{ Params: { token: string } }>('/link/:token', async ({ params: { token }, url }, reply) => {
    const row = await linkTokenOf(core.database, token)
    if (!row) throw tokenNotFound()
    if (row.usedAt)
      return reply.headers(headersOf()).send(endOf('Thank you', 'Your account is being linked. You can close this page.'))
    if (row.expiresAt <= core.clock.now()) {
      return reply.code(410).headers(headersOf()).send(endOf('This link is over', 'Ask for a new one where you got it.'))
    }
    const content = html`<h1>Link an account</h1>
<p>This is the Sandbox Bank: it has no money, and nobody has to sign in.</p>
<form method="post" action="${url}">
<fieldset><legend>Which account?</legend>
${accounts.map(
  ({ id, name }, index) =>
    html`<label class="choice"><input type="radio" name="accountId" value="${id}"${index === 0 && html` checked`}> ${name}</label>`,
)}</fieldset>
<button type="submit">Link it</button>
</form>`
    return reply.headers(headersOf()).send(pageOf('Link an account', content))
  })

  app.post<{ Params: { token: string }; Body: Record<string, string> | undefined }>(
    '/link/:token',
    async ({ params: { token: linkToken }, body = {}, url }, reply) => {
      const row = await linkTokenOf(core.database, linkToken)
      if (!row) throw tokenNotFound()
      const chosen = accounts.find(({ id }) => id === body['accountId'])
      if (!row.usedAt && chosen) {
        const given = { linkToken, publicToken: `public-sandbox-${randomUUID()}`, accountId: chosen.id }
        await perform(core, completeBankLink, { caller: await serviceCaller(core, row.worldId) }, given)
      }
      return reply.redirect(url, 303)
    },
  )
}

function endOf(title: string, text: string): string {
  return pageOf(title, html`<h1>${title}</h1><p>${text}</p>`)
}
