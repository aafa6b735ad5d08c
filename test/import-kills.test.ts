/** An import of customers that is killed again and again. */
import { afterEach, beforeEach, expect, inject, test } from 'vitest'
import { openDatabase } from '../src/database/open.ts'
import { newOwnData, startProcess, until } from './process.ts'
import { type Body, basic } from './world.ts'

let environment: Record<string, string>
let cleanUp: () => Promise<void>

beforeEach(async () => {
  ;({ environment, cleanUp } = await newOwnData())
})

afterEach(() => cleanUp())

/** What a process that died had begun is taken up again after ten seconds; here it is at once. */
async function endLeases(): Promise<void> {
  const { DATABASE_URL: databaseUrl, DATA_DIR: dataDir = 'memory' } = environment
  const database = await openDatabase({ databaseUrl, dataDir })
  await database.query('update task set due_at = now()')
  await database.close()
}

// The embedded engine takes seconds to start: it is killed less often.
const kills = inject('engine') === 'server' ? 20 : 5

test(`an import that is killed ${kills} times makes every customer of the file, and none twice`, async () => {
  const rows = 6_000
  const header =
    'platformCustomerId,customerType,fullName,birthDate,addressLine1,city,state,postalCode,country,accountType,clabeNumber'
  const lines = Array.from({ length: rows }, (_, index) => {
    const clabe = String(index).padStart(18, '0')
    return `p-${index},INDIVIDUAL,Grace Hopper,${index % 100 === 7 ? 'never' : '1980-01-01'},1 Main,Town,CA,90001,US,CLABE,${clabe}`
  })
  const form = new FormData()
  form.append('file', new Blob([[header, ...lines].join('\n')]), 'customers.csv')
  let gateway = await startProcess(environment)
  const authorization = basic({ clientId: 'sandbox', clientSecret: 'sandbox-secret' })
  const uploaded = await fetch(`${gateway.url}/2025-10-13/customers/bulk/csv`, {
    method: 'POST',
    headers: { authorization },
    body: form,
  })
  const { jobId } = (await uploaded.json()) as Body
  const jobOf = async (): Promise<Body> => (await gateway.call('GET', `/customers/bulk/jobs/${jobId}`)).body
  let processed = 0
  for (let kill = 1; kill <= kills; kill += 1) {
    const enough = Math.min(processed + Math.floor(rows / (kills + 5)), rows - 1)
    await until(async () => (await jobOf())['progress'].processed >= enough)
    await gateway.stop('SIGKILL')
    await endLeases()
    gateway = await startProcess(environment)
    processed = (await jobOf())['progress'].processed
  }
  expect(processed).toBeLessThan(rows)
  await until(async () => (await jobOf())['status'] === 'COMPLETED')
  const failed = rows / 100
  expect((await jobOf())['progress']).toEqual({ total: rows, processed: rows, successful: rows - failed, failed })
  const seen = new Set<string>()
  for (let cursor = ''; ; ) {
    const { body } = await gateway.call('GET', `/customers?limit=100${cursor}`)
    for (const { platformCustomerId } of body['data']) {
      expect(seen, platformCustomerId).not.toContain(platformCustomerId)
      seen.add(platformCustomerId)
    }
    if (!body['hasMore']) break
    cursor = `&cursor=${body['nextCursor']}`
  }
  expect(seen.size).toBe(rows - failed)
  await until(async () => (await gateway.call('GET', `/events?resourceId=${jobId}`)).body['data'].length === 1)
  await gateway.stop('SIGTERM')
}, 180_000)
