/** The schema builder that every room adds its types to. */
import SchemaBuilder from '@pothos/core'
import ComplexityPlugin from '@pothos/plugin-complexity'
import RelayPlugin from '@pothos/plugin-relay'
import ZodPlugin from '@pothos/plugin-zod'
import { GraphQLError } from 'graphql'
import { DomainError } from '../base/refusal.ts'
import type { Context } from './context.ts'

export const builder = new SchemaBuilder<{
  Context: Context
  DefaultFieldNullability: false
  DefaultEdgesNullability: { list: false; items: false }
  DefaultNodeNullability: false
  Scalars: {
    ID: { Input: string; Output: string }
    Int64: { Input: bigint; Output: bigint | number }
    DateTime: { Input: string; Output: string }
    Date: { Input: string; Output: string }
  }
  /** What a connection resolves to, besides its edges and page info. */
  Connection: { countTotal: () => Promise<number> }
}>({
  plugins: [ComplexityPlugin, RelayPlugin, ZodPlugin],
  defaultFieldNullability: false,
  // Fields say here what they cost; operations are judged before they are executed (`cost.ts`).
  complexity: { disabled: true, defaultListMultiplier: 1 },
  zod: {
    validationError: (error) => {
      const [issue] = error.issues
      const field = issue?.path.map(String).join('.') ?? ''
      return new GraphQLError(`${field}: ${issue?.message}`, { extensions: { code: 'INVALID_INPUT', field } })
    },
  },
  relay: {
    // The specification's ids are the global ids: resolvers return them whole, and loaders get them whole.
    encodeGlobalID: (_typename, id) => String(id),
    decodeGlobalID: (id) => ({ typename: nodeTypeOf(id), id }),
    cursorType: 'String',
    edgesFieldOptions: { nullable: { list: false, items: false }, description: 'The items of this page, in order.' },
    nodeFieldOptions: { nullable: false, description: 'The item.' },
    cursorFieldOptions: { description: 'Where the item stands in the list: pass it as `after`.' },
    pageInfoFieldOptions: { description: 'Whether and where the list goes on.' },
    nodeTypeOptions: { description: 'Something with an id of its own, the same id in REST, GraphQL and webhooks.' },
    idFieldOptions: { description: "The specification's id: `<Type>:<uuid>`." },
    nodeQueryOptions: {
      description: 'Whatever has this id in your world; null when nothing has.',
      args: { id: { description: '`<Type>:<uuid>`' } },
    },
    nodesQueryOptions: {
      description: 'Several at once, in the order of the ids; null where there is none. At most 100.',
      args: { ids: { description: '`<Type>:<uuid>`, at most 100.' } },
      resolve: (_root, { ids }, _context, _info, resolveNodes) => {
        if (ids.length > 100) throw new DomainError('INVALID_INPUT', 'ids: expected at most 100', { field: 'ids' })
        return resolveNodes(ids)
      },
    },
    pageInfoTypeOptions: { description: 'Whether and where a list goes on.' },
    hasNextPageFieldOptions: { description: 'There is more after this page.' },
    hasPreviousPageFieldOptions: { description: 'There is something before this page.' },
    startCursorFieldOptions: { description: 'Cursor of the first item of this page.' },
    endCursorFieldOptions: { description: 'Cursor of the last item of this page: pass it as `after`.' },
  },
})

/** The graph's types by the prefixes of their ids. */
const nodeTypes = new Map([
  ...['Customer', 'InternalAccount', 'ExternalAccount', 'Quote', 'Transaction', 'PlatformConfig'].map(
    (type) => [type, type] as const,
  ),
  ['Token', 'ApiToken'],
  ['Job', 'BulkImportJob'],
])

/** An id of no type of ours is looked for among the customers: there is none with it, which is the answer. */
function nodeTypeOf(id: string): string {
  return nodeTypes.get(id.slice(0, Math.max(0, id.indexOf(':')))) ?? 'Customer'
}

builder.queryType({ description: 'What can be read. Everything is of the world that the credentials belong to.' })
builder.mutationType({ description: 'What can be done. Each mutation answers what it made, or why it was refused.' })
builder.subscriptionType({ description: 'What can be followed as it happens.' })

builder.globalConnectionField('totalCount', (t) =>
  t.int({
    description: 'How many items the whole list has. Counted only when asked for.',
    resolve: (connection) => connection.countTotal(),
  }),
)

/** The builder's types, for helpers that take references to its objects. */
export type SchemaTypesOf = typeof builder extends PothosSchemaTypes.SchemaBuilder<infer Types> ? Types : never
