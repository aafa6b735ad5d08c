/** GraphiQL in a real browser, where there is one (Debian's chromium). */
import { chromium } from 'playwright-core'
import { expect, test } from 'vitest'
import { executablePath } from './browser.ts'
import { fund, newPayer } from './people.ts'
import { basic, useWorld } from './world.ts'

const world = useWorld({ background: true })

test.runIf(executablePath)(
  'where there is a browser, it asks and follows with the credentials filled in, and loads nothing from elsewhere',
  async () => {
    const payer = await newPayer(world)
    const browser = await chromium.launch({ executablePath: executablePath!, args: ['--no-sandbox'] })
    try {
      const page = await browser.newPage()
      const asked: string[] = []
      page.on('request', (request) => asked.push(request.url()))
      await page.goto(`${world.gateway.url}/graphql`)
      await page.getByRole('button', { name: /execute query/i }).click()
      await page.getByText('"totalCount"').waitFor()
      if (process.env['SCREENSHOTS']) await page.screenshot({ path: `${process.env['SCREENSHOTS']}/graphiql.png` })

      const subscription = 'subscription { events(types: [ACCOUNT_STATUS]) { type sequence } }'
      await page.goto(`${world.gateway.url}/graphql?query=${encodeURIComponent(subscription)}`)
      await page.getByRole('button', { name: /execute query/i }).click()
      await page.getByRole('button', { name: /stop query/i }).waitFor()
      await expect
        .poll(
          async () => {
            await fund(world, payer.dollars['id'], 100)
            return page.getByText('"ACCOUNT_STATUS"').count()
          },
          { timeout: 10_000 },
        )
        .toBeGreaterThan(0)
      const elsewhere = asked.filter((url) => !url.startsWith(world.gateway.url) && !/^(data|blob):/.test(url))
      expect(elsewhere).toEqual([])
    } finally {
      await browser.close()
    }
  },
)

test('its credentials are shown to whoever sits at the machine, and to no page that only points its name here', async () => {
  const html = async (host?: string) => {
    const { request } = await import('node:http')
    const url = new URL(`${world.gateway.url}/graphql`)
    return new Promise<string>((resolve) =>
      request(
        { host: url.hostname, port: url.port, path: '/graphql', headers: { accept: 'text/html', ...(host ? { host } : {}) } },
        (response) => {
          let text = ''
          response.setEncoding('utf8').on('data', (chunk) => {
            text += chunk
          })
          response.on('end', () => resolve(text))
        },
      ).end(),
    )
  }
  const secret = basic(world.sandbox)
  expect((await html()).includes(secret)).toBe(true)
  expect((await html('rebound.example')).includes(secret)).toBe(false)
})
