/** How long a start takes and what a started gateway holds in memory, on both engines: the first start and the next one. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { median, residentMiB, startGateway, withDatabase } from './gateway.ts'

const rounds = 3

export async function benchStart(): Promise<void> {
  console.log('\nStart-up, median of three (ms from spawn to ready; resident memory then, MiB)\n')
  console.log('| engine | first start | next start | memory |\n|-|-|-|-|')
  const embedded = await measure(async (run) => {
    const folder = mkdtempSync(join(tmpdir(), 'gateway-bench-'))
    await run({ DATA_DIR: folder, DATABASE_URL: '' })
    rmSync(folder, { recursive: true })
  })
  console.log(`| embedded | ${embedded} |`)
  const server = await measure((run) => withDatabase('gateway_bench_start', (url) => run({ DATABASE_URL: url })))
  console.log(`| server | ${server} |`)
}

async function measure(round: (run: (environment: Record<string, string>) => Promise<void>) => Promise<void>): Promise<string> {
  const first: number[] = []
  const next: number[] = []
  const memory: number[] = []
  for (let index = 0; index < rounds; index += 1) {
    await round(async (environment) => {
      for (const times of [first, next]) {
        const gateway = await startGateway(environment)
        times.push(gateway.startMs)
        memory.push(residentMiB(gateway.pid))
        await gateway.stop()
      }
    })
  }
  return [median(first), median(next), median(memory)].map(Math.round).join(' | ')
}
