/** The graph: every room's types together. `schema.graphql` is printed from it. */
import { lexicographicSortSchema, printSchema } from 'graphql'
import './scalars.ts'
import './money.ts'
import './platform.ts'
import './tokens.ts'
import './customers.ts'
import './accounts/internal.ts'
import './accounts/external.ts'
import './lookups.ts'
import './rates.ts'
import './quotes.ts'
import './transactions.ts'
import './timeline.ts'
import './invitations.ts'
import './bulk-import.ts'
import './events.ts'
import './subscriptions.ts'
import './webhooks.ts'
import { builder } from './builder.ts'

export const schema = builder.toSchema()

export function printedSchema(): string {
  return `${printSchema(lexicographicSortSchema(schema))}\n`
}
