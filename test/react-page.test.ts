/** A page of React and Relay in a real browser: what a customer does with a viewer token, in a world that runs registered operations only. */
import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import { createRequire } from 'node:module'
import type { AddressInfo } from 'node:net'
import { chromium } from 'playwright-core'
import { afterAll, beforeAll, expect, inject, test } from 'vitest'
import { executablePath } from './browser.ts'
import { fund, newPayer, type Payer } from './people.ts'
import { type Body, useWorld } from './world.ts'

const folder = new URL('./react-page/', import.meta.url)
const installed = existsSync(new URL('node_modules/react-relay', folder))
// What is compiled lies in one place: one engine at a time.
const runs = installed && executablePath !== undefined && inject('engine') === 'embedded'
const world = useWorld({ background: true, environment: { CORS_ORIGINS: '*' } })
let site: Server
let payer: Payer
/** The page's operations, by the hashes that it knows them by. */
let operations: Record<string, string>

beforeAll(async () => {
  if (!runs) return
  const script = await built()
  site = createServer((_request, response) => {
    response.setHeader('content-type', 'text/html; charset=utf-8')
    response.end(`<!doctype html><title>Payments</title><div id="root"></div><script type="module">${script}</script>`)
  })
  await new Promise<void>((resolve) => site.listen(0, '127.0.0.1', resolve))
  payer = await newPayer(world)
  for (const amount of [101, 102, 103]) await fund(world, payer.dollars['id'], amount)
  await newPayer(world)
})

afterAll(() => site?.close())

/** Compiled by relay-compiler, and bundled as a page's author would. */
async function built(): Promise<string> {
  const compiler = createRequire(import.meta.url).resolve('relay-compiler/cli.js')
  mkdirSync(new URL('__generated__/', folder), { recursive: true })
  writeFileSync(new URL('__generated__/persisted.json', folder), '{}')
  execFileSync(process.execPath, [compiler], { cwd: folder, stdio: ['ignore', 'pipe', 'pipe'] })
  operations = JSON.parse(readFileSync(new URL('__generated__/persisted.json', folder), 'utf8'))
  const { build } = createRequire(folder)('esbuild') as { build: (options: object) => Promise<Body> }
  const artifacts = {
    name: 'relay',
    setup({ onLoad }: Body) {
      onLoad({ filter: /Page\.tsx$/ }, ({ path }: { path: string }) => {
        const names: string[] = []
        const contents = readFileSync(path, 'utf8').replace(
          /graphql`\s*(?:query|mutation|subscription|fragment) (\w+)[^`]*`/g,
          (_text, name) => {
            names.push(name)
            return `artifact${name}`
          },
        )
        const imports = names.map((name) => `import artifact${name} from './__generated__/${name}.graphql.ts'`)
        return { contents: `${imports.join('\n')}\n${contents}`, loader: 'tsx' }
      })
    },
  }
  const { outputFiles } = await build({
    entryPoints: [new URL('Page.tsx', folder).pathname],
    bundle: true,
    write: false,
    minify: true,
    format: 'esm',
    jsx: 'automatic',
    define: { 'process.env.NODE_ENV': '"production"', global: 'globalThis' },
    plugins: [artifacts],
    logLevel: 'silent',
  })
  return outputFiles[0].text.replaceAll('</script', '<\\/script')
}

test.runIf(runs)('a page whose operations are registered lists, pages, pays and sees the payment complete', async () => {
  for (const [hash, document] of Object.entries(operations)) {
    const { body } = await world.graphql(
      'mutation ($input: RegisterOperationInput!) { registerOperation(input: $input) { operation { hash } errors { message } } }',
      { input: { document } },
    )
    expect(body['data'].registerOperation).toEqual({ operation: { hash }, errors: [] })
  }
  expect(Object.keys(operations)).toHaveLength(5)
  await world.rest('PATCH', '/config', { graphqlDocuments: 'REGISTERED' })
  const permissions = ['VIEW', 'TRANSACT']
  const { body: viewer } = await world.rest('POST', '/viewer-tokens', { customerId: payer.customer['id'], permissions })

  const browser = await chromium.launch({ executablePath: executablePath!, args: ['--no-sandbox'] })
  try {
    const page = await browser.newPage()
    const faults: string[] = []
    page.on('pageerror', (error) => faults.push(String(error)))
    const settings = JSON.stringify({ gateway: world.gateway.url, authorization: `Bearer ${viewer['token']}` })
    await page.goto(`http://127.0.0.1:${(site.address() as AddressInfo).port}/#${encodeURIComponent(settings)}`)

    // There are two customers; the token's is all there is for it.
    await page.getByRole('heading', { name: '1 customers' }).waitFor()
    const customer = page.getByRole('region', { name: 'Ada Lovelace' })
    await customer.getByText('Balance: 10003.06 USD').waitFor()

    const listed = () => customer.getByRole('listitem').allTextContents()
    expect(await listed()).toEqual(['1.03 COMPLETED', '1.02 COMPLETED'])
    await customer.getByRole('button', { name: 'More' }).click()
    await expect.poll(listed).toEqual(['1.03 COMPLETED', '1.02 COMPLETED', '1.01 COMPLETED', '10000.00 COMPLETED'])
    await customer.getByRole('button', { name: 'More' }).waitFor({ state: 'detached' })

    await customer.getByRole('button', { name: 'Quote' }).click()
    await customer.getByText('They get').waitFor()
    // Paid once the subscription is there to hear of it.
    await customer.locator('button[data-ready=true]').click()
    await expect.poll(() => customer.locator('output').textContent(), { timeout: 15_000 }).toBe('COMPLETED')
    if (process.env['SCREENSHOTS']) await page.screenshot({ path: `${process.env['SCREENSHOTS']}/react-page.png` })
    expect(faults).toEqual([])
  } finally {
    await browser.close()
  }
})

test.skipIf(runs)('the React page is not tried: it needs chromium, and `npm ci --prefix test/react-page`', () => {})
