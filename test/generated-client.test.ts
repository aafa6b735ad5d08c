/** openapi.json in the hands of others: a linter, and a generator whose client plays the demo's payment. `npm ci --prefix test/generated-client` */
import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, inject, test } from 'vitest'
import { basic, useWorld } from './world.ts'

const world = useWorld({ background: true })
const run = promisify(execFile)
const folder = new URL('./generated-client/', import.meta.url).pathname
const root = new URL('../', import.meta.url).pathname
// Once, though the suite runs on several engines: they write files.
const installed = inject('engine') === 'embedded' && existsSync(join(folder, 'node_modules'))

const tool = (path: string, ...args: string[]) =>
  run(process.execPath, [join(folder, 'node_modules', path), ...args], {
    cwd: root,
    env: { ...process.env, REDOCLY_TELEMETRY: 'off', REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true' },
  }).catch((error: { stdout: string; stderr: string }) => {
    throw new Error(`${error.stdout}\n${error.stderr}`)
  })

test.runIf(installed)('where the tools are installed, redocly finds nothing wrong with openapi.json', async () => {
  const { stderr } = await tool('@redocly/cli/bin/cli.js', 'lint', 'openapi.json')
  expect(stderr).toContain('Your API description is valid')
  expect(stderr).not.toMatch(/warning/i)
})

test.runIf(installed)('where the tools are installed, a client generated from openapi.json compiles, and pays', async () => {
  await tool('openapi-typescript/bin/cli.js', 'openapi.json', '-o', join(folder, 'openapi.d.ts'))
  await tool('typescript/bin/tsc', '-p', folder)
  const url = `${world.gateway.url}/2025-10-13`
  const { stdout } = await run(process.execPath, [join(folder, 'payment.ts'), url, basic(world.sandbox)])
  expect(JSON.parse(stdout)).toEqual({
    status: 'COMPLETED',
    received: { amount: expect.any(Number), currency: expect.objectContaining({ code: 'EUR' }) },
    executedTwice: 'QUOTE_ALREADY_EXECUTED',
  })
})
