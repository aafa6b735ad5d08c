/** The graph: every room's types together. `schema.graphql` is printed from it. */
import { lexicographicSortSchema, printSchema } from 'graphql'
import './scalars.ts'
import './money.ts'
import './platform.ts'
import './tokens.ts'
import './viewer.ts'
import './persisted-operations.ts'
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
import { isObjectType } from 'graphql'
import { builder } from './builder.ts'

export const schema = builder.toSchema()

export function printedSchema(): string {
  return `${printSchema(lexicographicSortSchema(schema))}\n`
}

// The plugin answers every id through a promise, in case it has to be encoded. Ours are what they are.
for (const type of Object.values(schema.getTypeMap())) {
  if (!isObjectType(type) || !type.getInterfaces().some(({ name }) => name === 'Node')) continue
  type.getFields()['id']!.resolve = ({ id }: { id: string }) => id
}
