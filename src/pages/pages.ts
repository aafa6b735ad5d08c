/** The hosted pages: what people open in a browser. Server-rendered, without scripts; the secret in the address is what lets them in. */
import type { FastifyInstance } from 'fastify'
import type { Logger } from '../base/logger.ts'
import { DomainError } from '../base/refusal.ts'
import type { Core } from '../core/operation.ts'
import { addInvitations } from './invite.ts'
import { addBankLink } from './link.ts'
import { addOnboarding } from './onboard.ts'
import { headersOf, html, pageOf } from './page.ts'

export function addPages(app: FastifyInstance, core: Core, logger: Logger): void {
  app.register(async (pages) => {
    pages.addContentTypeParser(
      'application/x-www-form-urlencoded',
      { parseAs: 'string' },
      async (_request: unknown, body: string) => Object.fromEntries(new URLSearchParams(body)),
    )
    pages.setErrorHandler((error, request, reply) => {
      const missing = error instanceof DomainError && error.code.endsWith('NOT_FOUND')
      // Somebody was quicker: the page that is shown next says so.
      if (error instanceof DomainError && error.code === 'CONFLICT') return reply.redirect(request.url, 303)
      const status = missing ? 404 : ((error as { statusCode?: number }).statusCode ?? 500)
      if (status >= 500) logger.error({ err: error, requestId: request.id }, 'a page could not be shown')
      const [title, text] = missing
        ? ['There is nothing here', 'The link may be mistyped, used up or too old. Ask for a new one where you got it.']
        : status >= 500
          ? ['Something went wrong here', 'Nothing was changed. Please try again in a moment.']
          : ['That did not work', 'Please go back and try again.']
      return reply
        .code(status)
        .headers(headersOf())
        .send(pageOf(title, html`<h1>${title}</h1><p>${text}</p>`))
    })
    addOnboarding(pages, core)
    addInvitations(pages, core)
    addBankLink(pages, core)
  })
}
