/** The database that the configuration names. */
import { openEmbeddedDatabase } from './embedded.ts'
import type { Database } from './port.ts'
import { openServerDatabase, type ServerOptions } from './server.ts'

export interface DatabaseConfig extends ServerOptions {
  /** A server's connection string; absent, the embedded engine is used. */
  databaseUrl?: string | undefined
  /** Folder of the embedded engine; `memory` keeps nothing. */
  dataDir: string
}

export function openDatabase({ databaseUrl, dataDir, ...options }: DatabaseConfig): Promise<Database> {
  if (databaseUrl !== undefined) return openServerDatabase(databaseUrl, options)
  return openEmbeddedDatabase(dataDir === 'memory' ? {} : { folder: dataDir })
}
