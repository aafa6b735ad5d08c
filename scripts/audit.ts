/** `npm run audit`: proves that books and payments agree, from the database alone. Prints the offending rows and exits 1 if they do not. */
import { readConfig } from '../src/config.ts'
import { audit } from '../src/core/audit.ts'
import { openDatabase } from '../src/database/open.ts'

const config = readConfig(process.env)
const database = await openDatabase({ ...config, connections: 2, onConnectionError: () => {} })
try {
  const findings = await audit(database)
  for (const { rule, id, detail } of findings) console.log(`${rule}: ${id} (${detail})`)
  console.log(findings.length === 0 ? 'The books are in order.' : `${findings.length} findings.`)
  process.exitCode = findings.length === 0 ? 0 : 1
} finally {
  await database.close()
}
