/** The page behind an invitation's url, in each of its states. */
import { chromium } from 'playwright-core'
import { expect, test } from 'vitest'
import { minute } from '../src/base/clock.ts'
import { executablePath } from './browser.ts'
import { newCustomer } from './people.ts'
import { type Body, useWorld } from './world.ts'

const world = useWorld()

async function invite(fields: Body = {}): Promise<Body> {
  const { umaAddress } = await newCustomer(world)
  const { body, status } = await world.rest('POST', '/invitations', { inviterUma: umaAddress, ...fields })
  expect([status, body]).toEqual([201, body])
  return body
}

async function shown(url: string): Promise<{ status: number; text: string; headers: Headers }> {
  const response = await fetch(url)
  return { status: response.status, text: await response.text(), headers: response.headers }
}

test('says who invites, to what, how much there is to get, until when, and what to do', async () => {
  const expiresAt = new Date(world.clock.now().getTime() + minute).toISOString()
  const made = await invite({ firstName: 'Bob', amountToSend: 1250, expiresAt })
  const { status, text, headers } = await shown(made['url'])
  expect([status, headers.get('cache-control')]).toEqual([200, 'no-store'])
  expect(headers.get('content-security-policy')).toContain("default-src 'none'")
  for (const words of ['Bob, you are invited', made['inviterUma'], '12.50 USD', made['code'], expiresAt.slice(0, 10), 'Demo']) {
    expect(text).toContain(words)
  }
})

test('says when it is claimed, taken back or over, and shows no code then', async () => {
  const claimed = await invite()
  await world.rest('POST', `/invitations/${claimed['code']}/claim`, { inviteeUma: '$bob@elsewhere.example' })
  expect((await shown(claimed['url'])).text).toContain('has been claimed')

  const cancelled = await invite()
  await world.rest('POST', `/invitations/${cancelled['code']}/cancel`)
  const over = await invite({ expiresAt: new Date(world.clock.now().getTime() + minute).toISOString() })
  world.clock.advance(minute)
  for (const [{ url, code }, words] of [
    [cancelled, 'has been taken back'],
    [over, 'is over'],
  ] as const) {
    const { text } = await shown(url)
    expect(text).toContain(words)
    expect(text).not.toContain(code)
  }
})

test.each(['/i/x', '/i/00000000', '/i/%00', '/i/<script>'])('there is no other: %s', async (path) => {
  const { status, text } = await shown(`${world.gateway.url}${path}`)
  expect([400, 404]).toContain(status)
  expect(text).not.toContain('<script>')
})

test.runIf(executablePath)('fits on a phone', async () => {
  const { url } = await invite({ firstName: 'Bob', amountToSend: 1250 })
  const browser = await chromium.launch({ executablePath: executablePath!, args: ['--no-sandbox'] })
  try {
    const page = await browser.newPage({ viewport: { width: 320, height: 640 } })
    await page.goto(url)
    await page.getByRole('heading', { name: 'Bob, you are invited' }).waitFor()
    if (process.env['SCREENSHOTS']) await page.screenshot({ path: `${process.env['SCREENSHOTS']}/invite.png`, fullPage: true })
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(320)
  } finally {
    await browser.close()
  }
})
