/** Registering the operations of a client before it is shipped: it then names them by their hash. */
import { type DocumentNode, type GraphQLSchema, Kind, parse, validate } from 'graphql'
import { DomainError } from '../base/refusal.ts'
import {
  listPersistedOperations,
  type PersistedOperation,
  registerOperation,
  unregisterOperation,
} from '../core/platform/persisted-operations.ts'
import { builder } from './builder.ts'
import { bothWayArgs, listOf, pageComplexity } from './connection.ts'
import { addMutation, idempotencyKeyDescription } from './error.ts'
import { mostTokens } from './limits.ts'

const PersistedOperationRef = builder.objectRef<PersistedOperation>('PersistedOperation').implement({
  description:
    'A registered document. Clients send `documentId: "sha256:<hash>"` instead of `query` (or `extensions.persistedQuery.sha256Hash`); over GET its answer carries caching headers.',
  fields: (t) => ({
    id: t.exposeID('id', { description: '`PersistedOperation:<uuid>`' }),
    hash: t.exposeString('hash', { description: 'SHA-256 of the document, 64 hexadecimal digits.' }),
    document: t.exposeString('document', { description: 'The document.' }),
    maxAgeSeconds: t.exposeInt('maxAgeSeconds', {
      description: 'How long browsers may keep what it was answered over GET; 0: they ask each time whether it has changed.',
    }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When it was registered.' }),
  }),
})

const PersistedOperationEdge = builder.edgeObject({
  type: PersistedOperationRef,
  name: 'PersistedOperationEdge',
  description: 'A registered document in a list.',
})

const PersistedOperationConnection = builder.connectionObject(
  { type: PersistedOperationRef, name: 'PersistedOperationConnection', description: 'A page of registered documents.' },
  PersistedOperationEdge,
)

builder.queryField('persistedOperations', (t) =>
  t.field({
    type: PersistedOperationConnection,
    description: 'The documents that are registered in this world, newest first.',
    args: bothWayArgs,
    complexity: pageComplexity,
    resolve: (_root, args, context, info) => listOf(context, listPersistedOperations, args, info),
  }),
)

interface RegisterInput {
  document: string
}

/** Refuses what could not be run: better now than in a browser. */
function requireRunnable<Input extends RegisterInput>(input: Input, schema: GraphQLSchema): Input {
  const [fault] = faultsOf(input.document, schema)
  if (fault === undefined) return input
  throw new DomainError('INVALID_INPUT', `document: ${fault}`, { field: 'document' })
}

function faultsOf(text: string, schema: GraphQLSchema): string[] {
  let document: DocumentNode
  try {
    document = parse(text, { maxTokens: mostTokens })
  } catch (error) {
    return [(error as Error).message]
  }
  const operations = document.definitions.filter(({ kind }) => kind === Kind.OPERATION_DEFINITION)
  if (operations.length !== 1) return [`expected one operation, not ${operations.length}`]
  return validate(schema, document).map(({ message }) => message)
}

const operation = {
  field: 'operation',
  type: PersistedOperationRef,
  description: 'The operation.',
  of: (made: PersistedOperation) => made,
}

addMutation('registerOperation', {
  description: 'Registers a document with one operation in it. The same document again is the same operation.',
  operation: registerOperation,
  input: builder.inputType('RegisterOperationInput', {
    description: 'What to register.',
    fields: (t) => ({
      document: t.string({ required: true, description: 'The document, byte for byte as its hash was made from it.' }),
      maxAgeSeconds: t.int({ description: 'How long browsers may keep an answer over GET: 0, unless said, to 86400.' }),
      idempotencyKey: t.string({ description: idempotencyKeyDescription }),
    }),
  }),
  toInput: requireRunnable,
  result: { ...operation, edge: PersistedOperationEdge },
})

addMutation('unregisterOperation', {
  description: 'Takes a registered document away: within a second nobody runs it by its hash any more.',
  operation: unregisterOperation,
  input: builder.inputType('UnregisterOperationInput', {
    description: 'Which one.',
    fields: (t) => ({
      hash: t.string({ required: true, description: 'SHA-256 of the document, 64 hexadecimal digits.' }),
      idempotencyKey: t.string({ description: idempotencyKeyDescription }),
    }),
  }),
  result: { ...operation, deletes: true },
})
