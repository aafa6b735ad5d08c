/** `npm run bench -- <name>`: what we claim about speed, for anyone to run. See README.md beside this file. */
import { benchFanout } from './fanout.ts'
import { benchGraphql } from './graphql.ts'
import { benchImport } from './import.ts'
import { benchRest } from './rest.ts'
import { benchStart } from './start.ts'
import { benchMemory, benchTransfers } from './transfers.ts'
import { benchUma } from './uma.ts'
import { benchWebhooks } from './webhooks.ts'

const benches: Record<string, () => Promise<void>> = {
  start: benchStart,
  transfers: benchTransfers,
  memory: benchMemory,
  fanout: benchFanout,
  webhooks: benchWebhooks,
  rest: benchRest,
  import: benchImport,
  uma: benchUma,
  graphql: benchGraphql,
}

const name = process.argv[2]
const chosen = name === undefined ? Object.values(benches) : [benches[name]]
for (const bench of chosen) {
  if (!bench) {
    console.error(`npm run bench -- [${Object.keys(benches).join(' | ')}]`)
    process.exit(1)
  }
  await bench()
}
