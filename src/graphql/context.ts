/** What resolvers get with every request. */
import type { z } from 'zod'
import { DomainError } from '../base/refusal.ts'
import { ask, type Call, type Caller, type Core, type Query } from '../core/operation.ts'
import type { Feed } from '../log/feed.ts'
import { createLoaders, type Loaders } from './loaders.ts'

export interface Context {
  core: Core
  feed: Feed
  caller: Caller
  /** Read once per request, or per event of a subscription. */
  readonly loaders: Loaders
}

export function createContext(core: Core, feed: Feed, caller: Caller): Context {
  let loaders: Loaders | undefined
  return {
    core,
    feed,
    caller,
    get loaders() {
      loaders ??= createLoaders(core, caller)
      return loaders
    },
  }
}

/** Asks the core, with GraphQL's nulls read as absent. */
export function askCore<Input extends z.ZodType, Output extends z.ZodType>(
  { core, caller }: Context,
  query: Query<Input, Output>,
  input: object,
): Promise<z.output<Output>> {
  const call: Call = { caller }
  return ask(core, query, call, withoutNulls(input))
}

/** Asks for one thing: null where the core says that there is none with this id, or that this is no id. */
export async function findInCore<Input extends z.ZodType, Output extends z.ZodType>(
  context: Context,
  query: Query<Input, Output>,
  input: object,
): Promise<z.output<Output> | null> {
  try {
    return await askCore(context, query, input)
  } catch (error) {
    if (error instanceof DomainError && (error.code.endsWith('_NOT_FOUND') || error.code === 'INVALID_INPUT')) return null
    throw error
  }
}

export function withoutNulls(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutNulls)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value)
      .filter(([, item]) => item !== null && item !== undefined)
      .map(([key, item]) => [key, withoutNulls(item)]),
  )
}
