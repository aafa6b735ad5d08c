/** One operation of a socket or a stream, from its text to what is to be done with it. */
import type { IncomingMessage, ServerResponse } from 'node:http'
import {
  createSourceEventStream,
  type DocumentNode,
  type ExecutionArgs,
  executeSubscriptionEvent,
  GraphQLError,
  getOperationAST,
  Kind,
  OperationTypeNode,
  validateSubscriptionArgs,
  visit,
} from 'graphql'
import type { createYoga } from 'graphql-yoga'
import { canonicalJson, stringifyJson } from '../base/json.ts'
import type { Caller, Core } from '../core/operation.ts'
import { cursorOf, type LoggedEvent } from '../log/event.ts'
import { type Context, createContext } from './context.ts'
import { judgeOf } from './cost.ts'
import type { Subscription } from './fanout.ts'
import { Following } from './following.ts'
import { schema } from './schema.ts'

export interface ServerContext {
  /** Of a socket or stream, authenticated when it was opened. */
  caller?: Caller
  /** Of a call over HTTP. */
  req?: IncomingMessage
  res?: ServerResponse
}

export type Yoga = ReturnType<typeof createYoga<ServerContext>>

/** What clients send, as far as it has been looked at. */
export interface OperationRequest {
  query: string
  operationName?: string | null | undefined
  variables?: Readonly<Record<string, unknown>> | null | undefined
}

export interface ReadOperation {
  args: ExecutionArgs
  isSubscription: boolean
  execute: (args: ExecutionArgs) => unknown
}

export type Masked = (error: unknown) => GraphQLError

/** Parsed and checked against the schema and the limits; or the errors that say why not. */
export async function readOperation(
  yoga: Yoga,
  caller: Caller,
  request: OperationRequest,
): Promise<ReadOperation | readonly GraphQLError[]> {
  const { parse, validate, contextFactory, execute } = yoga.getEnveloped({ caller, params: request })
  let document: DocumentNode
  try {
    document = parse(request.query)
  } catch (error) {
    if (error instanceof GraphQLError) return [error]
    throw error
  }
  const errors = validate(schema, document)
  if (errors.length > 0) return errors
  const operation = getOperationAST(document, request.operationName)
  const isSubscription = operation?.operation === OperationTypeNode.SUBSCRIPTION
  // What is executed is judged when it is.
  const refusal = isSubscription ? judgeOf(document, request.operationName)(request.variables) : undefined
  if (refusal) return [refusal]
  return {
    args: {
      schema,
      document,
      operationName: request.operationName,
      variableValues: request.variables,
      contextValue: await contextFactory(),
    },
    isSubscription,
    execute,
  }
}

/** What a subscription follows and how its events are shown; or the errors that say why not. */
export async function readSubscription(
  core: Core,
  args: ExecutionArgs,
  request: OperationRequest,
  masked: Masked,
): Promise<Subscription | readonly GraphQLError[]> {
  const checked = validateSubscriptionArgs(args)
  if (!('schema' in checked)) return checked
  const source = await createSourceEventStream(checked)
  if (!(source instanceof Following)) return ((source as { errors?: readonly GraphQLError[] }).errors ?? []).map(masked)
  const { caller, feed } = args.contextValue as Context
  return {
    key: shareKey(args.document, request, caller),
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
  { query, operationName, variables }: OperationRequest,
  { worldId, customerId, permissions }: Caller,
): string {
  const { [cursorVariableOf(document) ?? '']: _after, ...shared } = variables ?? {}
  return canonicalJson([query, operationName ?? null, shared, worldId, customerId ?? null, [...permissions].sort()])
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
