/**
 * What a document may make the gateway read: a field costs 1, a list as many times what is below it as it may have items. Judged before
 * anything is executed, on every transport.
 */
import { complexityFromQuery } from '@pothos/plugin-complexity'
import { type DocumentNode, GraphQLError, getOperationAST, Kind, type TypeNode } from 'graphql'
import { limits } from './limits.ts'
import { schema } from './schema.ts'

type Variables = Readonly<Record<string, unknown>> | null | undefined

interface Cost {
  complexity: number
  depth: number
  breadth: number
}

/** The refusal of an operation that is too much; undefined for one that is not. */
export type Judge = (variables: Variables) => GraphQLError | undefined

/** Of one operation of a document that is valid. Where only numbers among its variables say how much it is, and it has none, it is judged once. */
export function judgeOf(document: DocumentNode, operationName: string | null | undefined): Judge {
  const operation = getOperationAST(document, operationName)
  if (!operation) return () => undefined
  const fragments = document.definitions.filter(({ kind }) => kind === Kind.FRAGMENT_DEFINITION)
  const alone: DocumentNode = { kind: Kind.DOCUMENT, definitions: [operation, ...fragments] }
  const varies = (operation.variableDefinitions ?? []).some(({ type }) => nameOf(type) === 'Int')
  let once: { refusal: GraphQLError | undefined } | undefined
  return (variables) => {
    if (once) return once.refusal
    let cost: Cost
    try {
      cost = complexityFromQuery(alone, { schema, variables: { ...variables } })
    } catch {
      // Variables that cannot be read: executing it says which.
      return undefined
    }
    const refusal = refusalOf(cost)
    if (!varies) once = { refusal }
    return refusal
  }
}

function nameOf(type: TypeNode): string {
  return type.kind === Kind.NAMED_TYPE ? type.name.value : nameOf(type.type)
}

function refusalOf(cost: Cost): GraphQLError | undefined {
  for (const measure of ['depth', 'breadth', 'complexity'] as const) {
    if (cost[measure] <= limits[measure]) continue
    return new GraphQLError(`The ${measure} of the document is ${cost[measure]}; at most ${limits[measure]} is executed`, {
      extensions: { code: 'DOCUMENT_TOO_COMPLEX', [measure]: cost[measure], limit: limits[measure] },
    })
  }
  return undefined
}
