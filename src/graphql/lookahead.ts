/**
 * Which fields of the items of a list a document asks for, so that only their columns are read. Whatever is selected anywhere below counts,
 * skipped or not; what is not known here is read whole.
 */
import { type FieldNode, type GraphQLResolveInfo, Kind, type SelectionSetNode } from 'graphql'

/** Fields of the graph that are made of others of the resource than the one of their name. */
const madeOf: Readonly<Record<string, Readonly<Record<string, readonly string[]>>>> = {
  Customer: { internalAccounts: ['id'], externalAccounts: ['id'], quotes: ['id'], transactions: ['id'] },
  ExternalAccount: { customer: ['customerId'], quotes: ['id'], transactions: ['id'] },
  InternalAccount: {
    customer: ['customerId'],
    balanceAt: ['balance'],
    statement: ['id'],
    quotes: ['id'],
    outgoingTransactions: ['id'],
    incomingTransactions: ['id'],
  },
  Quote: {
    customer: ['source'],
    transaction: ['transactionId'],
    totalSendingAmount: ['totalSendingAmount', 'sendingCurrency'],
    totalReceivingAmount: ['totalReceivingAmount', 'receivingCurrency'],
    feesIncluded: ['feesIncluded', 'sendingCurrency'],
  },
  WebhookDelivery: { event: ['id'], attempts: ['id'], attemptCount: ['attempts'] },
  Transaction: {
    customer: ['customerId'],
    quote: ['quoteId'],
    fees: ['fees', 'sentAmount'],
    reference: ['reconciliationInstructions'],
    approval: ['id'],
    timeline: ['id'],
    direction: ['type'],
  },
}

const known = new WeakMap<FieldNode, readonly string[]>()

/** The resource's fields that the items of this list are asked for. */
export function fieldsOf({ fieldNodes, fragments, returnType }: GraphQLResolveInfo): readonly string[] {
  const [node] = fieldNodes
  // One node is always part of the same document; several that were merged may be merged with others elsewhere.
  const before = fieldNodes.length === 1 ? known.get(node!) : undefined
  if (before) return before
  const table = tableOf(String(returnType).replace(/Connection!?$/, ''))
  const names = new Set<string>()
  for (const { selectionSet } of fieldNodes) {
    for (const edge of below(selectionSet, 'edges', fragments)) {
      for (const item of below(edge.selectionSet, 'node', fragments)) {
        for (const { name } of fieldsIn(item.selectionSet, fragments)) {
          for (const field of table(name.value)) names.add(field)
        }
      }
    }
  }
  const fields = ['id', 'createdAt', ...names]
  if (fieldNodes.length === 1) known.set(node!, fields)
  return fields
}

/** The fields of a resource, of type `type`, that a single thing, or the single thing at a path below it, is asked for; none where it is not. */
export function fieldsAt({ fieldNodes, fragments }: GraphQLResolveInfo, type: string, path: readonly string[]): string[] {
  let nodes: readonly FieldNode[] = fieldNodes
  for (const step of path) nodes = nodes.flatMap(({ selectionSet }) => below(selectionSet, step, fragments))
  const table = tableOf(type)
  return [
    ...new Set(nodes.flatMap(({ selectionSet }) => fieldsIn(selectionSet, fragments)).flatMap(({ name }) => table(name.value))),
  ]
}

/** Which fields of the resource a field of the graph is made of. */
function tableOf(type: string): (name: string) => readonly string[] {
  const table = madeOf[type] ?? {}
  return (name) => (name.startsWith('__') ? [] : (table[name] ?? [name]))
}

type Fragments = GraphQLResolveInfo['fragments']

function below(selectionSet: SelectionSetNode | undefined, name: string, fragments: Fragments): FieldNode[] {
  return fieldsIn(selectionSet, fragments).filter((field) => field.name.value === name)
}

function fieldsIn(selectionSet: SelectionSetNode | undefined, fragments: Fragments): FieldNode[] {
  return (selectionSet?.selections ?? []).flatMap((selection) => {
    if (selection.kind === Kind.FIELD) return [selection]
    const fragment = selection.kind === Kind.FRAGMENT_SPREAD ? fragments[selection.name.value] : selection
    return fieldsIn(fragment?.selectionSet, fragments)
  })
}
