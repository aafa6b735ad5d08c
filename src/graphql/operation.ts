/** One operation, over whatever transport it came: from what was sent to what is to be done with it. */
import {
  createSourceEventStream,
  type DocumentNode,
  type ExecutionArgs,
  type ExecutionResult,
  executeSubscriptionEvent,
  GraphQLError,
  Kind,
  type OperationTypeNode,
  validateSubscriptionArgs,
  visit,
} from 'graphql'
import { canonicalJson, stringifyJson } from '../base/json.ts'
import type { Caller, Core } from '../core/operation.ts'
import { cursorOf, type LoggedEvent } from '../log/event.ts'
import type { Feed } from '../log/feed.ts'
import { createContext } from './context.ts'
import { costShown } from './cost.ts'
import type { Documents } from './documents.ts'
import type { Subscription } from './fanout.ts'
import { Following } from './following.ts'
import { documentOf, type Meant, type OperationRequest } from './request.ts'
import { schema } from './schema.ts'

export interface ReadOperation extends Meant {
  kind: OperationTypeNode
  document: DocumentNode
  /** Executes a query or mutation. */
  run(): Promise<ExecutionResult>
  /** Of a subscription: what it follows and how its events are shown; or the errors that say why not. */
  follow(): Promise<Subscription | readonly GraphQLError[]>
}

export type Masked = (error: unknown) => GraphQLError

/** Parsed and checked against the schema, the limits and the world's policy; or the errors that say why not. */
export type ReadRequest = (caller: Caller, request: OperationRequest) => Promise<ReadOperation | readonly GraphQLError[]>

interface Parts {
  core: Core
  feed: Feed
  documents: Documents
  masked: Masked
}

export function createReader({ core, feed, documents, masked }: Parts): ReadRequest {
  return async (caller, request) => {
    const { operationName, variables } = request
    const meant = await documentOf(core, caller, request)
    if (meant instanceof GraphQLError) return [meant]
    const prepared = documents.prepare(meant.text, operationName)
    if (!('run' in prepared)) return prepared.map(masked)
    const { cost, refusal } = prepared.judge(variables)
    if (refusal) return [refusal]
    return {
      ...meant,
      kind: prepared.kind,
      document: prepared.document,
      async run() {
        const { data, errors } = (await prepared.run(createContext(core, feed, caller), variables)) as ExecutionResult
        return {
          ...(data === undefined ? {} : { data }),
          ...(errors ? { errors: errors.map(masked) } : {}),
          ...(cost ? { extensions: costShown(cost) } : {}),
        }
      },
      follow: () => follow({ core, feed, masked }, caller, prepared.document, meant.text, request),
    }
  }
}

async function follow(
  { core, feed, masked }: Omit<Parts, 'documents'>,
  caller: Caller,
  document: DocumentNode,
  text: string,
  { operationName, variables }: OperationRequest,
): Promise<Subscription | readonly GraphQLError[]> {
  const args: ExecutionArgs = {
    schema,
    document,
    operationName,
    variableValues: variables,
    contextValue: createContext(core, feed, caller),
  }
  const checked = validateSubscriptionArgs(args)
  if (!('schema' in checked)) return checked.map(masked)
  const source = await createSourceEventStream(checked)
  if (!(source instanceof Following)) return ((source as { errors?: readonly GraphQLError[] }).errors ?? []).map(masked)
  return {
    key: shareKey(document, [text, operationName ?? null], variables, caller),
    interest: source.interest,
    after: source.after,
    async render(event: LoggedEvent) {
      // Loaders of its own: an event shows things as they are by then.
      const contextValue = createContext(core, feed, caller)
      const extensions = { cursor: cursorOf(event) }
      try {
        const { data, errors } = await executeSubscriptionEvent({ ...checked, rootValue: event, contextValue })
        return stringifyJson({ data, ...(errors ? { errors: errors.map(masked) } : {}), extensions })
      } catch (error) {
        return stringifyJson({ data: null, errors: [masked(error)], extensions })
      }
    },
  }
}

/** Sharing is for those who ask the same with the same rights; where they begin is their own. */
function shareKey(
  document: DocumentNode,
  asked: readonly (string | null)[],
  variables: OperationRequest['variables'],
  { worldId, customerId, permissions }: Caller,
): string {
  const { [cursorVariableOf(document) ?? '']: _after, ...shared } = variables ?? {}
  return canonicalJson([...asked, shared, worldId, customerId ?? null, [...permissions].sort()])
}

/** The variable that is the root field's `after`, and nothing else. */
function cursorVariableOf(document: DocumentNode): string | undefined {
  const used = new Map<string, number>()
  let cursor: string | undefined
  visit(document, {
    VariableDefinition: () => false,
    Variable({ name }) {
      used.set(name.value, (used.get(name.value) ?? 0) + 1)
    },
    Argument({ name, value }) {
      if (name.value === 'after' && value.kind === Kind.VARIABLE) cursor = value.name.value
    },
  })
  return cursor !== undefined && used.get(cursor) === 1 ? cursor : undefined
}
