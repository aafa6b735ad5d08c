/** How GraphQL answers what goes wrong: refusals in the payload of a mutation, everything else as a top-level error with a code. */
import type { InputRef, ObjectRef } from '@pothos/core'
import { GraphQLError, type GraphQLSchema } from 'graphql'
import type { Json } from '../base/json.ts'
import { stringifyJson } from '../base/json.ts'
import { DomainError, refusalCodes, refusals } from '../base/refusal.ts'
import { type Action, ask, type Operation, perform } from '../core/operation.ts'
import { builder, type SchemaTypesOf } from './builder.ts'
import { edgeOf } from './connection.ts'
import { type Context, withoutNulls } from './context.ts'

const ErrorCode = builder.enumType('PaymentErrorCode', {
  description: 'Why something was refused: the same codes as over REST.',
  values: Object.fromEntries(refusalCodes.map((code) => [code, { description: refusals[code] }])),
})

const FieldErrorRef = builder.objectRef<{ field: string | undefined; message: string }>('FieldError').implement({
  description: 'One field of the input that cannot be taken as it is.',
  fields: (t) => ({
    field: t.exposeString('field', { nullable: true, description: 'Path of the field.' }),
    message: t.exposeString('message', { description: 'What is wrong with it.' }),
  }),
})

const PaymentErrorRef = builder.objectRef<Refusal>('PaymentError').implement({
  description: 'Why a mutation was refused. Nothing was written.',
  fields: (t) => ({
    code: t.field({ type: ErrorCode, description: 'For programs.', resolve: ({ code }) => code }),
    message: t.exposeString('message', {
      description: 'For people: what is wrong and, where it can be said, what would be right.',
    }),
    field: t.string({
      nullable: true,
      description: 'Path of the input field it is about.',
      resolve: ({ details }) => (typeof details?.['field'] === 'string' ? details['field'] : null),
    }),
    errors: t.field({
      type: [FieldErrorRef],
      description: 'Every field of the input that is wrong, where it is the input.',
      resolve: ({ details }) => (Array.isArray(details?.['errors']) ? (details['errors'] as unknown as FieldFault[]) : []),
    }),
    details: t.string({
      nullable: true,
      description: 'Whatever else is known, as JSON text.',
      resolve: ({ details }) => (details ? stringifyJson(details) : null),
    }),
  }),
})

/** A DomainError as a value: the executor takes an Error that it meets in a list for a failure. */
type Refusal = Pick<DomainError, 'code' | 'message' | 'details'>

function toRefusal({ code, message, details }: DomainError): Refusal {
  return { code, message, details }
}

type FieldFault = { field: string | undefined; message: string }

interface Mutation<Input, View, Output> {
  description: string
  // biome-ignore lint/suspicious/noExplicitAny: an operation of any input and loaded state, which the input type stands for here
  operation: Operation<any, any, any> | Action<any, any>
  /** Absent: there is nothing to say. */
  input?: InputRef<Input>
  /** From GraphQL's shape of the input to the operation's. */
  toInput?: (input: Input, schema: GraphQLSchema) => object
  /** The payload's field for what was made, and its type. */
  result: {
    field: string
    type: ObjectRef<SchemaTypesOf, View>
    description: string
    of: (reply: Output) => View
    /** Of what is new in a list: its edge there, so that stores can put it where it belongs. */
    // biome-ignore lint/suspicious/noExplicitAny: the edge of any list
    edge?: ObjectRef<SchemaTypesOf, any>
    /** It is in no list any more: stores can forget it by its id. */
    deletes?: true
  }
}

/** A mutation: one input, and a payload of what it made or of why it was refused. */
export function addMutation<Input extends object, View, Output>(name: string, mutation: Mutation<Input, View, Output>): void {
  const { operation, result } = mutation
  interface Payload {
    made: View | null
    errors: Refusal[]
  }
  const payload = builder.objectRef<Payload>(`${name.charAt(0).toUpperCase()}${name.slice(1)}Payload`).implement({
    description: `What ${name} answers.`,
    fields: (t) => ({
      [result.field]: t.field({
        // biome-ignore lint/suspicious/noExplicitAny: the builder cannot follow a type that is a parameter here
        type: result.type as any,
        nullable: true,
        description: `${result.description} Null when it was refused.`,
        resolve: ({ made }) => made as never,
      }),
      ...(result.edge
        ? {
            [`${result.field}Edge`]: t.field({
              type: result.edge,
              nullable: true,
              description: 'It in its list, for stores that keep one.',
              resolve: ({ made }) => made && (edgeOf(made as never) as never),
            }),
          }
        : {}),
      ...(result.deletes
        ? {
            deletedId: t.id({
              nullable: true,
              description: 'Its id, for stores that keep it. Null when it was refused.',
              resolve: ({ made }) => (made as { id: string } | null)?.id ?? null,
            }),
          }
        : {}),
      errors: t.field({
        type: [PaymentErrorRef],
        description: 'Why it was refused; empty when it was not.',
        resolve: ({ errors }) => errors,
      }),
    }),
  })
  builder.mutationField(name, (t) =>
    t.field({
      type: payload,
      description: mutation.description,
      args: mutation.input ? { input: t.arg({ type: mutation.input, required: true, description: 'What to do.' }) } : {},
      async resolve(_root, args, context: Context, { schema }): Promise<Payload> {
        const { input = {} as Input } = args as unknown as { input?: { idempotencyKey?: string | null } & Input }
        const { idempotencyKey, ...rest } = input as { idempotencyKey?: string | null } & Input
        try {
          const raw = mutation.toInput ? mutation.toInput(rest as unknown as Input, schema) : rest
          const call = { caller: context.caller, idempotencyKey: idempotencyKey ?? undefined }
          const given = withoutNulls(raw)
          const reply = (await (operation.kind === 'action'
            ? ask(context.core, operation, call, given)
            : perform(context.core, operation, call, given))) as Output
          return { made: result.of(reply), errors: [] }
        } catch (error) {
          if (error instanceof DomainError && error.code !== 'UNAUTHORIZED') return { made: null, errors: [toRefusal(error)] }
          throw error
        }
      },
    }),
  )
}

export const idempotencyKeyDescription =
  'Any text of 1 to 255 visible ASCII characters. A repeat with the same key answers what the first was answered, here and over REST.'

/** What the status line and the headers say of it too. */
function httpOf(code: DomainError['code'], details: DomainError['details']): object {
  if (code === 'UNAUTHORIZED') {
    return { http: { status: 401, headers: { 'www-authenticate': 'Basic realm="payments gateway"' } } }
  }
  if (code !== 'RATE_LIMITED') return {}
  return { http: { status: 429, headers: { 'retry-after': String(details?.['retryAfterSeconds'] ?? 1) } } }
}

/** A refusal outside a payload, as a top-level error; undefined for what is a bug. */
export function toGraphqlError(error: DomainError): GraphQLError {
  const { code, message, details } = error
  const http = httpOf(code, details)
  return new GraphQLError(message, {
    extensions: { code, ...(details ? { details: JSON.parse(stringifyJson(details)) as Json } : {}), ...http },
  })
}
