/** The reference page, in a real browser where there is one (Debian's chromium). */
import { chromium } from 'playwright-core'
import { expect, test } from 'vitest'
import { executablePath } from './browser.ts'
import { useWorld } from './world.ts'

const world = useWorld()

test.runIf(executablePath)(
  'where there is a browser, it shows every endpoint and webhook, and loads nothing from elsewhere',
  async () => {
    const browser = await chromium.launch({ executablePath: executablePath!, args: ['--no-sandbox'] })
    try {
      const page = await browser.newPage()
      const asked: string[] = []
      const faults: string[] = []
      page.on('request', (request) => asked.push(request.url()))
      page.on('pageerror', ({ message }) => faults.push(message))
      page.on('console', (message) => message.type() === 'error' && faults.push(message.text()))
      await page.goto(`${world.gateway.url}/reference`)
      await page.getByRole('heading', { name: /Payments gateway/ }).waitFor()
      const { paths } = (await (await fetch(`${world.gateway.url}/openapi.json`)).json()) as { paths: Record<string, object> }
      const endpoints = Object.values(paths).flatMap((methods) => Object.keys(methods)).length
      await page.locator('.opblock-tag').first().waitFor()
      for (const tag of await page.locator('.opblock-tag').all()) await tag.click()
      await expect.poll(() => page.locator('.opblock').count()).toBeGreaterThanOrEqual(endpoints)
      await page.locator('#operations-quotes-createQuote').getByRole('button').first().click()
      await page.getByText('INSUFFICIENT_BALANCE').first().waitFor()
      if (process.env['SCREENSHOTS'])
        await page.screenshot({ path: `${process.env['SCREENSHOTS']}/reference.png`, fullPage: false })
      expect(asked.filter((url) => !url.startsWith(world.gateway.url) && !url.startsWith('data:'))).toEqual([])
      expect(faults).toEqual([])
    } finally {
      await browser.close()
    }
  },
)

test('the page forbids whatever comes from elsewhere', async () => {
  const reply = await fetch(`${world.gateway.url}/reference`)
  expect(reply.headers.get('content-security-policy')).toContain("default-src 'self'")
  const text = await reply.text()
  expect(text.match(/(src|href)="(?!\/|data:)/g)).toBeNull()
})
