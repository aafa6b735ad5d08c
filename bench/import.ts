/** A file of a hundred thousand customers: how quick it is, what it needs of memory, and what everybody else notices of it meanwhile. */
import {
  authorizationOf,
  call,
  cpuMs,
  credentials,
  postgresCpuMs,
  type Running,
  residentMiB,
  startGateway,
  withDatabase,
} from './gateway.ts'

const rows = Number(process.env['BENCH_ROWS'] ?? 100_000)
const quietMs = 8_000
/** Requests of others at a time. */
const others = 4

export async function benchImport(): Promise<void> {
  console.log(`\nA CSV of ${rows} customers; others pay and read meanwhile, ${others} requests at a time\n`)
  console.log(
    '| | rows/s | upload s | all s | memory over base, MiB | p99 of others before, ms | while it runs | ÷ | CPU a row, µs | of PostgreSQL |\n|-|-|-|-|-|-|-|-|-|-|',
  )
  await withDatabase('gateway_bench_import', async (url) => {
    const gateway = await startGateway({ DATABASE_URL: url }, ['--inspect=0'])
    try {
      await measure(gateway)
    } finally {
      await gateway.stop()
    }
  })
}

async function measure(gateway: Running): Promise<void> {
  const { accountId, destination } = await prepare(gateway)
  const meanwhile = async (until: () => boolean) => {
    const times: number[] = []
    await Promise.all(
      Array.from({ length: others }, async (_, index) => {
        for (let turn = index; !until(); turn += 1) {
          const at = performance.now()
          if (turn % 2 === 0)
            await call(gateway, 'POST', '/transfer-out', {
              source: { accountId },
              destination: { accountId: destination },
              amount: 100,
            })
          else await call(gateway, 'GET', '/transactions?limit=20')
          times.push(performance.now() - at)
          await new Promise((resolve) => setTimeout(resolve, 10))
        }
      }),
    )
    return times.sort((left, right) => left - right)[Math.floor(times.length * 0.99)]!
  }
  const quietUntil = performance.now() + quietMs
  await meanwhile(() => performance.now() > quietUntil - quietMs / 2)
  const before = await meanwhile(() => performance.now() > quietUntil)
  await gateway.collectGarbage()
  const base = residentMiB(gateway.pid)

  const startedAt = performance.now()
  const [cpu, postgresCpu] = [cpuMs(gateway.pid), postgresCpuMs()]
  let over = false
  let peak = 0
  const watching = setInterval(() => {
    peak = Math.max(peak, residentMiB(gateway.pid))
  }, 50)
  const during = meanwhile(() => over)
  const jobId = await upload(gateway)
  const uploadedMs = performance.now() - startedAt
  for (;;) {
    const job = await call(gateway, 'GET', `/customers/bulk/jobs/${jobId}`)
    if (job.status === 'COMPLETED') {
      if (job.progress.successful !== rows) throw new Error(JSON.stringify(job).slice(0, 500))
      break
    }
    await new Promise((resolve) => setTimeout(resolve, 200))
  }
  const tookMs = performance.now() - startedAt
  over = true
  const p99 = await during
  clearInterval(watching)
  const each = (ms: number) => Math.round((ms * 1000) / rows)
  const seconds = (ms: number) => (ms / 1000).toFixed(1)
  console.log(
    `| server | ${Math.round((rows / tookMs) * 1000)} | ${seconds(uploadedMs)} | ${seconds(tookMs)} | ${Math.round(peak - base)} | ${before.toFixed(1)} | ${p99.toFixed(1)} | ${(p99 / before).toFixed(2)} | ${each(cpuMs(gateway.pid) - cpu)} | ${each(postgresCpuMs() - postgresCpu)} |`,
  )
}

async function prepare(gateway: Running): Promise<{ accountId: string; destination: string }> {
  const customer = await call(gateway, 'POST', '/customers', {
    platformCustomerId: 'payer',
    customerType: 'INDIVIDUAL',
    fullName: 'Ada',
  })
  const { data } = await call(gateway, 'GET', `/customers/internal-accounts?customerId=${customer.id}&currency=USD`)
  const accountId = data[0].id
  await call(gateway, 'POST', `/sandbox/internal-accounts/${accountId}/fund`, { amount: 100_000_000 })
  const { id: destination } = await call(gateway, 'POST', '/customers/external-accounts', {
    customerId: customer.id,
    currency: 'USD',
    accountInfo: {
      accountType: 'US_ACCOUNT',
      accountNumber: '123456789100',
      routingNumber: '021000021',
      accountCategory: 'CHECKING',
      bankName: 'Bank',
      beneficiary: { beneficiaryType: 'INDIVIDUAL', fullName: 'Ada' },
    },
  })
  return { accountId, destination }
}

async function upload(gateway: Running): Promise<string> {
  const header = 'platformCustomerId,customerType,fullName,birthDate,addressLine1,city,state,postalCode,country,email'
  const lines = Array.from(
    { length: rows },
    (_, index) =>
      `p-${index},INDIVIDUAL,Grace Hopper,1980-01-01,"${index} Main Street, Apt ""B""",Los Angeles,CA,90001,US,p${index}@example.com`,
  )
  const form = new FormData()
  form.append('file', new Blob([[header, ...lines].join('\n')]), 'customers.csv')
  const response = await fetch(`${gateway.url}/2025-10-13/customers/bulk/csv`, {
    method: 'POST',
    headers: { authorization: authorizationOf(credentials) },
    body: form,
  })
  if (!response.ok) throw new Error(await response.text())
  return ((await response.json()) as { jobId: string }).jobId
}
