/** The page behind a KYC link: asks a customer for what is missing, and leads them back to where they came from. */
import type { FastifyInstance, FastifyReply } from 'fastify'
import { DomainError } from '../base/refusal.ts'
import { type KycSession, missingOf, openKycSession, submitKyc } from '../core/customers/kyc-session.ts'
import { type Core, perform } from '../core/operation.ts'
import { headersOf, html, type Markup, pageOf } from './page.ts'

interface Field {
  /** Of the form, and of the details that are said. */
  name: string
  label: string
  hint?: string
  kind?: 'text' | 'date' | 'country'
  autocomplete?: string
  optional?: true
}

interface Section {
  legend: string
  fields: readonly Field[]
}

const sections: Readonly<Record<ReturnType<typeof missingOf>[number], Section>> = {
  fullName: {
    legend: 'You',
    fields: [{ name: 'fullName', label: 'Full name', hint: 'As it stands in your identity document.', autocomplete: 'name' }],
  },
  birthDate: { legend: '', fields: [{ name: 'birthDate', label: 'Date of birth', kind: 'date', autocomplete: 'bday' }] },
  nationality: { legend: '', fields: [{ name: 'nationality', label: 'Nationality', kind: 'country' }] },
  businessInfo: {
    legend: 'Your company',
    fields: [
      { name: 'businessInfo.legalName', label: 'Registered name', autocomplete: 'organization' },
      { name: 'businessInfo.registrationNumber', label: 'Registration number' },
      { name: 'businessInfo.taxId', label: 'Tax number', optional: true },
    ],
  },
  address: {
    legend: 'Address',
    fields: [
      { name: 'address.line1', label: 'Street and number', autocomplete: 'address-line1' },
      { name: 'address.line2', label: 'Apartment, floor', autocomplete: 'address-line2', optional: true },
      { name: 'address.postalCode', label: 'Postal code', autocomplete: 'postal-code' },
      { name: 'address.city', label: 'City', autocomplete: 'address-level2', optional: true },
      { name: 'address.country', label: 'Country', kind: 'country', autocomplete: 'country' },
    ],
  },
}

/** Codes by what people call the countries. */
const countries = (() => {
  const names = new Intl.DisplayNames(['en'], { type: 'region', fallback: 'none' })
  const letters = Array.from({ length: 26 }, (_, index) => String.fromCharCode(65 + index))
  const others = new Set(['EU', 'EZ', 'QO', 'UN', 'XA', 'XB', 'XK', 'ZZ', 'AC', 'CP', 'CQ', 'DG', 'EA', 'IC', 'TA'])
  return letters
    .flatMap((first) => letters.map((second) => first + second))
    .filter((code) => !others.has(code))
    .flatMap((code) => {
      const name = names.of(code)
      return name === undefined ? [] : [{ code, name }]
    })
    .sort((left, right) => left.name.localeCompare(right.name))
})()

type Said = Readonly<Record<string, string>>

export function addOnboarding(app: FastifyInstance, core: Core): void {
  app.get<{ Params: { code: string } }>('/onboard/:code', async ({ params }, reply) => {
    const session = await openKycSession(core, params.code)
    return session.state === 'OPEN' ? showForm(reply, session, knownOf(session), new Map(), 200) : showEnd(reply, session)
  })

  app.post<{ Params: { code: string }; Body: Said | undefined }>('/onboard/:code', async ({ params, body = {} }, reply) => {
    const session = await openKycSession(core, params.code)
    if (session.state !== 'OPEN') return showEnd(reply, session)
    try {
      await perform(core, submitKyc, { caller: session.caller }, { code: params.code, details: detailsOf(session, body) })
    } catch (error) {
      if (!(error instanceof DomainError) || error.code !== 'INVALID_INPUT') throw error
      return showForm(reply, session, body, faultsOf(session, body, error), 422)
    }
    return reply.redirect(session.redirectUri ?? `/onboard/${params.code}`, 303)
  })
}

function fieldsOf({ customer }: KycSession): readonly Field[] {
  return missingOf(customer).flatMap((part) => sections[part].fields)
}

/** Of a company some may be known already: it is shown, to be corrected. */
function knownOf({ customer }: KycSession): Said {
  const known = Object.entries((customer.businessInfo ?? {}) as Record<string, string>)
  return Object.fromEntries(known.map(([name, value]) => [`businessInfo.${name}`, value]))
}

/** What was said, in the shape of the details; what was left empty was not said. */
function detailsOf(session: KycSession, said: Said): object {
  const details: Record<string, unknown> = {}
  for (const { name } of fieldsOf(session)) {
    const value = said[name]?.trim()
    const [part, field] = name.split('.') as [string, string?]
    if (field === undefined) {
      if (value) details[part] = value
      continue
    }
    const whole = (details[part] ?? {}) as Record<string, string>
    if (value) whole[field] = value
    details[part] = whole
  }
  return details
}

/** What is missing or wrong, by the form's field, in words for the customer. */
function faultsOf(session: KycSession, said: Said, { details }: DomainError): Map<string, string> {
  const refused = ((details?.['errors'] ?? []) as { field?: string }[]).map(({ field }) => field?.replace(/^details\./, ''))
  const faults = new Map<string, string>()
  for (const { name, label, optional } of fieldsOf(session)) {
    const missing = !optional && !said[name]?.trim()
    if (!missing && !refused.includes(name)) continue
    faults.set(name, `Please ${missing ? 'give' : 'check'} your ${label.toLowerCase()}.`)
  }
  return faults
}

function showForm(
  reply: FastifyReply,
  session: KycSession,
  said: Said,
  faults: ReadonlyMap<string, string>,
  status: number,
): FastifyReply {
  const labels = new Map(fieldsOf(session).map(({ name, label }) => [name, label]))
  const content = html`<h1>Confirm who you are</h1>
<p>To move money for you we have to know a little more. It takes a minute; fields are required unless they say otherwise.</p>
${
  faults.size > 0 &&
  html`<div class="errors" role="alert" id="errors"><p>Something is missing or not right:</p><ul>
${[...faults].map(([name, fault]) => html`<li><a href="#${name}">${labels.get(name)}</a>: ${fault}</li>`)}</ul></div>`
}
<form method="post" action="${reply.request.url}" novalidate>
${missingOf(session.customer).map((part) => sectionOf(sections[part], said, faults))}
<button type="submit">Send</button>
</form>`
  const title = faults.size > 0 ? 'Error: Confirm who you are' : 'Confirm who you are'
  return reply.code(status).headers(headersOf(session.redirectUri)).send(pageOf(title, content))
}

function sectionOf({ legend, fields }: Section, said: Said, faults: ReadonlyMap<string, string>): Markup {
  const inputs = fields.map((field) => inputOf(field, said[field.name] ?? '', faults.get(field.name)))
  return legend === '' ? html`${inputs}` : html`<fieldset><legend>${legend}</legend>${inputs}</fieldset>`
}

function inputOf({ name, label, hint, kind = 'text', autocomplete, optional }: Field, value: string, fault?: string): Markup {
  const described = [hint && `${name}-hint`, fault && `${name}-error`].filter(Boolean).join(' ')
  const attributes = html`id="${name}" name="${name}"${autocomplete && html` autocomplete="${autocomplete}"`}${!optional && html` required`}${
    described !== '' && html` aria-describedby="${described}"`
  }${fault && html` aria-invalid="true"`}`
  const input =
    kind === 'country'
      ? html`<select ${attributes}><option value="">Choose</option>${countries.map(
          ({ code, name: country }) => html`<option value="${code}"${code === value && html` selected`}>${country}</option>`,
        )}</select>`
      : html`<input type="${kind}" ${attributes} value="${value}" maxlength="200">`
  return html`<label for="${name}">${label}${optional && ' (optional)'}</label>
${hint && html`<p class="hint" id="${name}-hint">${hint}</p>`}${fault && html`<p class="error" id="${name}-error">${fault}</p>`}${input}`
}

function showEnd(reply: FastifyReply, { state, redirectUri, customer }: KycSession): FastifyReply {
  const [title, text] =
    state === 'EXPIRED'
      ? ['This link is over', 'Ask for a new one where you got it.']
      : customer.kycStatus === 'REJECTED'
        ? ['We could not confirm who you are', 'Ask for help where you got this link.']
        : ['Thank you', 'We have what we need. There is nothing more to do here.']
  const content = html`<h1>${title}</h1>
<p>${text}</p>
${redirectUri && html`<p><a href="${redirectUri}">Go back</a></p>`}`
  return reply
    .code(state === 'EXPIRED' ? 410 : 200)
    .headers(headersOf())
    .send(pageOf(title, content))
}
