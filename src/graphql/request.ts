/**
 * What clients send, over any transport, and the document it means: the one it carries, or a registered one that it names by its hash
 * (`documentId`, or `extensions.persistedQuery` as Apollo's clients do). A world may run registered ones only.
 */
import { GraphQLError } from 'graphql'
import { parseJson } from '../base/json.ts'
import { DomainError } from '../base/refusal.ts'
import type { Caller, Core } from '../core/operation.ts'
import { hashOf, keyOf } from '../core/platform/persisted-operations.ts'

/** As far as it has been looked at. */
export interface OperationRequest {
  query?: string | null | undefined
  documentId?: string | null | undefined
  operationName?: string | null | undefined
  variables?: Readonly<Record<string, unknown>> | null | undefined
  extensions?: Readonly<Record<string, unknown>> | null | undefined
}

const isText = (value: unknown) => value === undefined || value === null || typeof value === 'string'
const isObject = (value: unknown) => value === undefined || value === null || (typeof value === 'object' && !Array.isArray(value))

/** Undefined for what is out of the ordinary, whatever is wrong with it. */
export function toRequest(raw: unknown): OperationRequest | undefined {
  if (typeof raw !== 'object' || raw === null || Array.isArray(raw)) return undefined
  const { query, documentId, operationName, variables, extensions } = raw as Record<string, unknown>
  const ordinary = [query, documentId, operationName].every(isText) && isObject(variables) && isObject(extensions)
  const request = raw as OperationRequest
  return ordinary && (typeof query === 'string' || hashIn(request) !== undefined) ? request : undefined
}

/** The parameters of a GET. Refuses INVALID_REQUEST_FORMAT for what is not JSON where it should be. */
export function fromSearch(url: string): Record<string, unknown> {
  const { query, documentId, operationName, variables, extensions } = Object.fromEntries(
    new URL(url, 'http://localhost').searchParams,
  )
  return {
    query,
    documentId,
    operationName,
    variables: parsed('variables', variables),
    extensions: parsed('extensions', extensions),
  }
}

function parsed(field: string, text: string | undefined): unknown {
  if (!text) return undefined
  try {
    return parseJson(text)
  } catch {
    throw new DomainError('INVALID_REQUEST_FORMAT', `${field}: that is not valid JSON`, { field })
  }
}

export interface Meant {
  text: string
  /** Of a registered one that was named: how long its answer may be kept. */
  maxAgeSeconds?: number
}

/** PERSISTED_QUERY_NOT_FOUND for a hash that is not registered, DOCUMENT_NOT_REGISTERED where only registered ones are run. */
export async function documentOf(core: Core, caller: Caller, request: OperationRequest): Promise<Meant | GraphQLError> {
  const { query } = request
  const named = hashIn(request)
  // Over sockets there has to be a text, which is empty then.
  if (typeof query !== 'string' || (query === '' && named !== undefined)) {
    const operation = isHash.test(named ?? '') ? await core.persisted.get(keyOf(caller.worldId, named!)) : undefined
    if (operation) return { text: operation.document, maxAgeSeconds: operation.maxAgeSeconds }
    return new GraphQLError('PersistedQueryNotFound', { extensions: { code: 'PERSISTED_QUERY_NOT_FOUND' } })
  }
  if (caller.permissions.includes('MANAGE')) return { text: query }
  const world = await core.worlds.get(caller.worldId)
  if (world?.graphqlDocuments === 'REGISTERED' && !(await core.persisted.get(keyOf(caller.worldId, hashOf(query))))) {
    return new GraphQLError('Only registered operations are run here', { extensions: { code: 'DOCUMENT_NOT_REGISTERED' } })
  }
  return { text: query }
}

const isHash = /^[0-9a-f]{64}$/

function hashIn({ documentId, extensions }: OperationRequest): string | undefined {
  const persisted = (extensions?.['persistedQuery'] ?? {}) as { sha256Hash?: unknown }
  const named = documentId ?? persisted.sha256Hash
  return typeof named === 'string' ? named.replace(/^sha256:/, '').toLowerCase() : undefined
}
