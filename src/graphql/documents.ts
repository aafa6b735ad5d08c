/**
 * Documents that are asked again and again: parsed and validated once, and from their second use on compiled, where they only read. What
 * cannot be run is not kept: whoever asks for it is told why by the slower path.
 */
import {
  type DocumentNode,
  type ExecutionArgs,
  type ExecutionResult,
  execute,
  GraphQLError,
  getOperationAST,
  OperationTypeNode,
  parse,
  validate,
} from 'graphql'
import { compileQuery, isCompiledQuery } from 'graphql-jit'
import type { Context } from './context.ts'
import { type Judge, judgeOf } from './cost.ts'
import { mostTokens } from './limits.ts'
import { schema } from './schema.ts'

/** Characters of documents that are kept, all together: what is made of them takes some hundred times as many bytes. */
const mostKept = 500_000
const longestKept = 16 * 1024

type Result = ReturnType<typeof execute>
type Run = (context: Context, variables: Readonly<Record<string, unknown>> | null | undefined) => Result

interface Prepared {
  kind: OperationTypeNode
  document: DocumentNode
  judge: Judge
  /** Of queries and mutations. */
  run: Run
}

export interface Documents {
  /** The errors of what cannot be run. */
  prepare(text: string, operationName: string | null | undefined): Prepared | readonly GraphQLError[]
}

export function createDocuments(): Documents {
  const kept = new Map<string, Prepared>()
  let length = 0
  return {
    prepare(text, operationName) {
      const key = operationName ? `${operationName}\u0000${text}` : text
      const known = kept.get(key)
      if (known) {
        // The one that was not asked for the longest goes first.
        kept.delete(key)
        kept.set(key, known)
        return known
      }
      const prepared = read(text, operationName)
      if (!('run' in prepared) || text.length > longestKept) return prepared
      kept.set(key, prepared)
      length += key.length
      for (const oldest of kept.keys()) {
        if (length <= mostKept) break
        kept.delete(oldest)
        length -= oldest.length
      }
      return prepared
    },
  }
}

function read(text: string, operationName: string | null | undefined): Prepared | readonly GraphQLError[] {
  let document: DocumentNode
  try {
    document = parse(text, { maxTokens: mostTokens })
  } catch (error) {
    if (error instanceof GraphQLError) return [error]
    throw error
  }
  const errors = validate(schema, document)
  if (errors.length > 0) return errors
  const operation = getOperationAST(document, operationName)
  if (!operation) return [undetermined(operationName)]
  const { operation: kind } = operation
  const judge = judgeOf(document, operationName)
  const plainly: Run = (contextValue, variableValues) =>
    execute({ schema, document, contextValue, variableValues, operationName } as ExecutionArgs)
  // Writes cost so much more than being executed that they go the way of the reference implementation.
  if (kind !== OperationTypeNode.QUERY) return { kind, document, judge, run: plainly }
  const prepared: Prepared = {
    kind,
    document,
    judge,
    run(context, variables) {
      prepared.run = compiled(document, operationName, plainly) ?? plainly
      return plainly(context, variables)
    },
  }
  return prepared
}

function undetermined(operationName: string | null | undefined): GraphQLError {
  const message = operationName
    ? `There is no operation named ${operationName} in the document`
    : 'The document has several operations: say which by operationName'
  return new GraphQLError(message, { extensions: { code: 'OPERATION_RESOLUTION_FAILURE' } })
}

/** Undefined for what the compiler does not know. */
function compiled(document: DocumentNode, operationName: string | null | undefined, plainly: Run): Run | undefined {
  const query = compileQuery(schema, document, operationName ?? undefined, { disablingCapturingStackErrors: true })
  if (!isCompiledQuery(query)) return undefined
  return async (context, variables) => {
    const result = (await query.query(undefined, context, variables)) as ExecutionResult
    if (!result.errors) return result
    // Nothing was executed: the reference implementation says it as everybody knows it.
    if (result.data === undefined) return plainly(context, variables)
    return { ...result, errors: result.errors.map(genuine) }
  }
}

/** The compiler's errors are of a class of its own, which knows places but no nodes. */
function genuine({ message, path, locations, originalError, extensions }: GraphQLError): GraphQLError {
  return Object.assign(new GraphQLError(message, { path, originalError, extensions }), { locations })
}
