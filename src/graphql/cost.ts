/**
 * What a document may make the gateway read: a field costs 1, a list as many times what is below it as it may have items. Judged before
 * anything is executed, on every transport.
 */
import { complexityFromQuery } from '@pothos/plugin-complexity'
import { type DocumentNode, GraphQLError, getOperationAST, Kind, type TypeNode } from 'graphql'
import { limits } from './limits.ts'
import { schema } from './schema.ts'

type Variables = Readonly<Record<string, unknown>> | null | undefined

export interface Cost {
  complexity: number
  depth: number
  breadth: number
}

/** What an operation costs, where that can be said; and the refusal of one that is too much. */
interface Judgement {
  cost?: Cost
  refusal?: GraphQLError
}

export type Judge = (variables: Variables) => Judgement

/** Among the extensions of its answer. */
export function costShown({ complexity }: Cost): Record<string, unknown> {
  return { cost: { complexity, limit: limits.complexity } }
}

/** Of one operation of a document that is valid. Where only numbers among its variables say how much it is, and it has none, it is judged once. */
export function judgeOf(document: DocumentNode, operationName: string | null | undefined): Judge {
  const operation = getOperationAST(document, operationName)
  if (!operation) return () => ({})
  const fragments = document.definitions.filter(({ kind }) => kind === Kind.FRAGMENT_DEFINITION)
  const alone: DocumentNode = { kind: Kind.DOCUMENT, definitions: [operation, ...fragments] }
  const varies = (operation.variableDefinitions ?? []).some(({ type }) => nameOf(type) === 'Int')
  let once: Judgement | undefined
  return (variables) => {
    if (once) return once
    let cost: Cost
    try {
      cost = complexityFromQuery(alone, { schema, variables: { ...variables } })
    } catch {
      // Variables that cannot be read: executing it says which.
      return {}
    }
    const refusal = refusalOf(cost)
    const judgement = refusal ? { cost, refusal } : { cost }
    if (!varies) once = judgement
    return judgement
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
