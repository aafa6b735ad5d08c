/**
 * `npm run audit`: proves that books and payments agree, from the database alone. Exits 0 if they do, 1 with the offending rows if they do
 * not, 2 if it could not look.
 */
import { readConfig, UnreadableConfig } from '../src/config.ts'
import { audit } from '../src/core/audit.ts'
import { FolderInUse } from '../src/database/folder-lock.ts'
import { openDatabase } from '../src/database/open.ts'

try {
  const config = readConfig(process.env)
  const database = await openDatabase({ ...config, connections: 2, onConnectionError: () => {} })
  const findings = await audit(database).finally(() => database.close())
  for (const { rule, id, detail } of findings) console.log(`${rule}: ${id} (${detail})`)
  console.log(findings.length === 0 ? 'The books are in order.' : `${findings.length} findings.`)
  process.exitCode = findings.length === 0 ? 0 : 1
} catch (error) {
  const known = error instanceof FolderInUse || error instanceof UnreadableConfig
  console.error(known ? error.message : error)
  process.exitCode = 2
}
