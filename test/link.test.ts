/** The sandbox's page for linking a bank account: from the token to the account. */
import { chromium } from 'playwright-core'
import { expect, test } from 'vitest'
import { minute } from '../src/base/clock.ts'
import { executablePath } from './browser.ts'
import { newCustomer } from './people.ts'
import { useWorld } from './world.ts'

const world = useWorld()

async function newPage(): Promise<{ url: string; customerId: string }> {
  const { id: customerId } = await newCustomer(world)
  const { body } = await world.rest('POST', '/bank-link/link-tokens', { customerId })
  return { url: `${world.gateway.url}/link/${body['linkToken']}`, customerId }
}

async function accountsOf(customerId: string) {
  await world.drain()
  return (await world.rest('GET', `/customers/external-accounts?customerId=${customerId}`)).body['data']
}

const choose = (url: string, accountId: string) =>
  fetch(url, { method: 'POST', body: new URLSearchParams({ accountId }), redirect: 'manual' })

test('links the account that is chosen, once, however many choose at the same time', async () => {
  const { url, customerId } = await newPage()
  const replies = await Promise.all(Array.from({ length: 50 }, () => choose(url, 'sandbox-savings')))
  expect([...new Set(replies.map(({ status }) => status))]).toEqual([303])
  expect(await accountsOf(customerId)).toMatchObject([{ status: 'ACTIVE', platformAccountId: 'sandbox-savings' }])
  expect(await (await fetch(url)).text()).toContain('Thank you')
  await choose(url, 'sandbox-checking')
  expect(await accountsOf(customerId)).toHaveLength(1)
})

test('an account that nobody has is not linked, and the page can be tried again', async () => {
  const { url, customerId } = await newPage()
  for (const accountId of ['', 'other', '\u0000', '<script>']) expect((await choose(url, accountId)).status).toBe(303)
  expect(await accountsOf(customerId)).toEqual([])
  expect(await (await fetch(url)).text()).toContain('Which account?')
})

test('is over when its token is, and forged ones lead nowhere', async () => {
  const { url, customerId } = await newPage()
  world.clock.advance(4 * 60 * minute)
  expect((await fetch(url)).status).toBe(410)
  expect((await choose(url, 'sandbox-checking')).status).toBe(404)
  expect(await accountsOf(customerId)).toEqual([])
  for (const token of ['x', '%00', 'link-sandbox-00000000-0000-4000-8000-000000000000', '%F0%9F%92%A9']) {
    expect((await fetch(`${world.gateway.url}/link/${token}`)).status).toBe(404)
    expect((await choose(`${world.gateway.url}/link/${token}`, 'sandbox-checking')).status).toBe(404)
  }
})

test.runIf(executablePath)('is used with the keyboard alone', async () => {
  const { url, customerId } = await newPage()
  const browser = await chromium.launch({ executablePath: executablePath!, args: ['--no-sandbox'] })
  try {
    const page = await browser.newPage({ viewport: { width: 320, height: 640 } })
    await page.goto(url)
    for (const key of ['Tab', 'ArrowDown', 'Tab', 'Enter']) await page.keyboard.press(key)
    await page.getByRole('heading', { name: 'Thank you' }).waitFor()
    expect(await accountsOf(customerId)).toMatchObject([{ platformAccountId: 'sandbox-savings' }])
  } finally {
    await browser.close()
  }
})
