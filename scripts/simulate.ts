/** `npm run simulate -- [lives] [first seed]`: plays so many lives of a platform and stops at the first that does not end well. */
import { openEmbeddedDatabase } from '../src/database/embedded.ts'
import { openServerDatabase } from '../src/database/server.ts'
import { openSimulator } from '../test/simulation/simulate.ts'

const [lives, first] = [Number(process.argv[2] ?? 1000), Number(process.argv[3] ?? 1)]
const url = process.env['DATABASE_URL']
const simulator = await openSimulator(url ? await openServerDatabase(url) : await openEmbeddedDatabase({}))
const startedAt = performance.now()
let well = 0
for (let seed = first; seed < first + lives; seed += 1) {
  const { faults, trace, digest } = await simulator.run(seed)
  if (faults.length > 0 || lives === 1) console.log([...trace, `seed ${seed}, digest ${digest}`, ...faults].join('\n'))
  if (faults.length > 0) {
    process.exitCode = 1
    break
  }
  well += 1
  if (well % 100 === 0) console.log(`seed ${seed}: well (${Math.round(performance.now() - startedAt)} ms)`)
}
console.log(`${well} of ${lives} lives went well, from seed ${first} on (${Math.round(performance.now() - startedAt)} ms)`)
await simulator.close()
