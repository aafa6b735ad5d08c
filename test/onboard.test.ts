/** The page behind a KYC link, as a browser sees it and as whoever means harm does. */
import { chromium } from 'playwright-core'
import { afterEach, describe, expect, test } from 'vitest'
import { day, second } from '../src/base/clock.ts'
import { executablePath } from './browser.ts'
import { type Body, useWorld } from './world.ts'

const world = useWorld()
const back = 'https://platform.example/done?from=kyc'
let count = 0

async function newLink(query: Record<string, string> = {}, as = world.sandbox): Promise<{ url: string; customerId: string }> {
  count += 1
  const search = new URLSearchParams({ platformCustomerId: `kyc-${count}`, redirectUri: back, ...query })
  const { body, status } = await world.rest('GET', `/customers/kyc-link?${search}`, undefined, { as })
  expect([status, body]).toEqual([200, body])
  return { url: body['kycUrl'], customerId: body['customerId'] }
}

const ada = {
  fullName: 'Ada Lovelace',
  birthDate: '1990-12-10',
  nationality: 'GB',
  'address.line1': '12 Analytical Way',
  'address.postalCode': 'W1 1AA',
  'address.country': 'GB',
}

async function send(url: string, form: Record<string, string>) {
  const response = await fetch(url, { method: 'POST', body: new URLSearchParams(form), redirect: 'manual' })
  return { status: response.status, text: await response.text(), location: response.headers.get('location') }
}

const customerOf = async (id: string): Promise<Body> => (await world.rest('GET', `/customers/${id}`)).body

async function toldOf(id: string): Promise<string[]> {
  await world.drain()
  const { body } = await world.rest('GET', `/events?types=KYC_STATUS&resourceId=${id}`)
  return body['data'].map(({ event }: Body) => event.kycStatus)
}

describe('a link', () => {
  test('asks a person for what is missing, verifies them, tells of it and leads back', async () => {
    const { url, customerId } = await newLink()
    const shown = await fetch(url)
    expect([shown.status, shown.headers.get('cache-control'), shown.headers.get('referrer-policy')]).toEqual([
      200,
      'no-store',
      'no-referrer',
    ])
    expect(shown.headers.get('content-security-policy')).toMatch(
      /^default-src 'none'; .*form-action 'self' https:\/\/platform\.example;/,
    )
    expect(await send(url, ada)).toMatchObject({ status: 303, location: back })
    expect(await customerOf(customerId)).toMatchObject({
      kycStatus: 'APPROVED',
      fullName: 'Ada Lovelace',
      birthDate: '1990-12-10',
      nationality: 'GB',
      address: { line1: '12 Analytical Way', postalCode: 'W1 1AA', country: 'GB' },
    })
    expect(await toldOf(customerId)).toEqual(['APPROVED'])
  })

  test('asks a company for other things', async () => {
    const { url, customerId } = await newLink({ customerType: 'BUSINESS' })
    expect(await (await fetch(url)).text()).not.toContain('birthDate')
    const { 'address.line1': line1, 'address.postalCode': postalCode, 'address.country': country } = ada
    const address = { 'address.line1': line1, 'address.postalCode': postalCode, 'address.country': country }
    const named = { 'businessInfo.legalName': 'Analytical Engines Ltd', 'businessInfo.registrationNumber': 'HRB 4711' }
    expect((await send(url, { ...named, ...address })).status).toBe(303)
    expect(await customerOf(customerId)).toMatchObject({
      kycStatus: 'APPROVED',
      businessInfo: { legalName: 'Analytical Engines Ltd', registrationNumber: 'HRB 4711' },
    })
  })

  test.each([
    ['001', 'PENDING_REVIEW', []],
    ['002', 'REJECTED', ['REJECTED']],
    ['003', 'NOT_STARTED', []],
  ])('ends in a sandbox as the end of the name says: %s, %s', async (ending, kycStatus, told) => {
    const { url, customerId } = await newLink()
    await send(url, { ...ada, fullName: `Ada ${ending}` })
    expect(await customerOf(customerId)).toMatchObject({ kycStatus })
    expect(await toldOf(customerId)).toEqual(told)
  })

  test('waits for a decision in production, where nobody is made up', async () => {
    const { url, customerId } = await newLink({}, world.production)
    expect((await send(url, ada)).status).toBe(303)
    const { body } = await world.rest('GET', `/customers/${customerId}`, undefined, { as: world.production })
    expect(body).toMatchObject({ kycStatus: 'PENDING_REVIEW', fullName: 'Ada Lovelace' })
  })

  test('is good once, however many try at the same time', async () => {
    const { url, customerId } = await newLink()
    const tries = Array.from({ length: 50 }, (_, index) => send(url, { ...ada, fullName: `Ada Number ${index}x` }))
    const statuses = (await Promise.all(tries)).map(({ status }) => status)
    expect(statuses.filter((status) => status === 303)).toHaveLength(1)
    expect(statuses.filter((status) => ![303, 200, 404].includes(status))).toEqual([])
    const { fullName } = await customerOf(customerId)
    await send(url, { ...ada, fullName: 'Somebody Else' })
    expect(await customerOf(customerId)).toMatchObject({ fullName })
    expect(await (await fetch(url)).text()).toContain('Thank you')
    expect(await toldOf(customerId)).toEqual(['APPROVED'])
  })

  test('changes nothing any more about somebody whose verification is decided, though it was never used', async () => {
    const [first, second] = [await newLink({ platformCustomerId: 'twice' }), await newLink({ platformCustomerId: 'twice' })]
    expect(second.customerId).toBe(first.customerId)
    await send(first.url, ada)
    expect(await toldOf(first.customerId)).toEqual(['APPROVED'])
    expect(await (await fetch(second.url)).text()).toContain('Thank you')
    expect((await send(second.url, { ...ada, fullName: 'Somebody Else' })).status).toBe(200)
    expect(await toldOf(first.customerId)).toEqual(['APPROVED'])
    expect(await customerOf(first.customerId)).toMatchObject({ kycStatus: 'APPROVED', fullName: 'Ada Lovelace' })
  })

  test('is over after a day', async () => {
    const { url, customerId } = await newLink()
    world.clock.advance(day - second)
    expect((await fetch(url)).status).toBe(200)
    world.clock.advance(second)
    const over = await fetch(url)
    expect([over.status, await over.text()]).toEqual([410, expect.stringContaining('This link is over')])
    expect((await send(url, ada)).status).toBe(410)
    expect(await customerOf(customerId)).toMatchObject({ kycStatus: 'NOT_STARTED' })
  })

  test.each(['/onboard/x', '/onboard/', '/onboard/%00', `/onboard/${'0'.repeat(12)}`, '/onboard/%F0%9F%92%A9'])(
    'that is forged leads nowhere: %s',
    async (path) => {
      const response = await fetch(`${world.gateway.url}${path}`)
      expect([400, 404]).toContain(response.status)
      expect((await send(`${world.gateway.url}${path}`, ada)).status).toBeGreaterThanOrEqual(400)
    },
  )

  test('does not ask again for what the platform has said', async () => {
    const { url, customerId } = await newLink()
    await world.rest('PATCH', `/customers/${customerId}`, { fullName: 'Ada King', nationality: 'FR' })
    const text = await (await fetch(url)).text()
    expect([text.includes('name="fullName"'), text.includes('name="birthDate"')]).toEqual([false, true])
    await send(url, ada)
    expect(await customerOf(customerId)).toMatchObject({ fullName: 'Ada King', nationality: 'FR', birthDate: '1990-12-10' })
  })
})

describe('what is wrong', () => {
  test.each([
    ['nothing', {}, ['fullName', 'birthDate', 'nationality', 'address.line1', 'address.postalCode', 'address.country']],
    ['a date that is none', { ...ada, birthDate: '1990-02-31' }, ['birthDate']],
    ['a day to come', { ...ada, birthDate: '2990-01-01' }, ['birthDate']],
    ['a country that is none', { ...ada, nationality: 'Atlantis' }, ['nationality']],
    ['a name of signs', { ...ada, fullName: '<script>alert(1)</script>' }, ['fullName']],
    ['blanks', { ...ada, 'address.line1': '   ' }, ['address.line1']],
    ['NUL', { ...ada, fullName: 'Ada\u0000' }, ['fullName']],
  ])('is said beside its field, and nothing is changed: %s', async (_what, form, fields) => {
    const { url, customerId } = await newLink()
    const { status, text } = await send(url, form as Record<string, string>)
    expect(status).toBe(422)
    const wrong = [...text.matchAll(/id="([\w.]+)-error"/g)].map(([, name]) => name)
    expect(wrong).toEqual(fields)
    expect(text).not.toContain('<script>')
    expect(await customerOf(customerId)).toMatchObject({ kycStatus: 'NOT_STARTED' })
    // The link is still good.
    expect((await send(url, ada)).status).toBe(303)
  })

  test('what is not a form is refused in words', async () => {
    const { url } = await newLink()
    const response = await fetch(url, { method: 'POST', headers: { 'content-type': 'text/plain' }, body: 'x' })
    expect([response.status, response.headers.get('content-type')]).toEqual([415, 'text/html; charset=utf-8'])
    const large = await fetch(url, { method: 'POST', body: new URLSearchParams({ fullName: 'x'.repeat(300_000) }) })
    expect(large.status).toBe(413)
  })
})

describe.runIf(executablePath)('in a browser, on a phone', () => {
  afterEach(async () => {
    for (const browser of browsers.splice(0)) await browser.close()
  })
  const browsers: Awaited<ReturnType<typeof chromium.launch>>[] = []

  test('it is filled in with the keyboard alone, told what is missing, and ends at the platform', async () => {
    const { url, customerId } = await newLink()
    const browser = await chromium.launch({ executablePath: executablePath!, args: ['--no-sandbox'] })
    browsers.push(browser)
    const page = await browser.newPage({ viewport: { width: 360, height: 740 } })
    await page.route('https://platform.example/**', (route) =>
      route.fulfill({ contentType: 'text/html', body: '<h1>Welcome back</h1>' }),
    )
    const faults: string[] = []
    page.on('console', (message) => message.type() === 'error' && faults.push(message.text()))
    await page.goto(url)
    await page.getByRole('heading', { name: 'Confirm who you are' }).waitFor()
    if (process.env['SCREENSHOTS']) await page.screenshot({ path: `${process.env['SCREENSHOTS']}/onboard.png`, fullPage: true })

    await page.getByRole('button', { name: 'Send' }).press('Enter')
    const alert = page.getByRole('alert')
    await alert.waitFor()
    expect(await page.title()).toBe('Error: Confirm who you are')
    await alert.getByRole('link', { name: 'Full name' }).press('Enter')
    if (process.env['SCREENSHOTS'])
      await page.screenshot({ path: `${process.env['SCREENSHOTS']}/onboard-errors.png`, fullPage: true })
    const name = page.getByLabel('Full name')
    expect(await name.getAttribute('aria-invalid')).toBe('true')
    // Nothing is wider than the phone.
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(360)

    await name.focus()
    await page.keyboard.type('Ada Lovelace')
    await page.getByLabel('Date of birth').fill('1990-12-10')
    await page.getByLabel('Nationality').selectOption({ label: 'United Kingdom' })
    await page.getByLabel('Street and number').fill('12 Analytical Way')
    await page.getByLabel('Postal code').fill('W1 1AA')
    await page.getByLabel('Country', { exact: true }).selectOption({ label: 'United Kingdom' })
    await page.keyboard.press('Tab')
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name: 'Welcome back' }).waitFor()
    expect(page.url()).toBe(back)
    expect(await customerOf(customerId)).toMatchObject({ kycStatus: 'APPROVED', nationality: 'GB' })
    // The form with faults is answered with 422, which the browser counts as one.
    expect(faults.filter((fault) => !fault.includes('422'))).toEqual([])
  })
})
