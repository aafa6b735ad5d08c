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

// The relay plugin's resolvers of ids and of the steps of lists answer what is there under their name, ids even through a promise. Without a
// resolver it is simply read, which is most of what a nested list costs.
const steps = /Connection\.(edges|pageInfo)$|Edge\.node$/
for (const type of Object.values(schema.getTypeMap())) {
  if (!isObjectType(type)) continue
  const isNode = type.getInterfaces().some(({ name }) => name === 'Node')
  for (const field of Object.values(type.getFields())) {
    if ((isNode && field.name === 'id') || steps.test(`${type.name}.${field.name}`)) delete field.resolve
  }
}
