/** The endpoints as openapi.json has them, and the reference's examples with the ids that are real in a world. */
import { readFileSync } from 'node:fs'
import { type Example, examples } from '../src/rest/examples.ts'
import type { Body } from './world.ts'

export interface Endpoint {
  /** The operation's. */
  id: string
  method: string
  path: string
  /** Its description. */
  operation: Body
  statuses: number[]
  /** The first of its examples. */
  example: Example
}

const { paths } = JSON.parse(readFileSync(new URL('../openapi.json', import.meta.url), 'utf8')) as {
  paths: Record<string, Record<string, Body>>
}

export const endpoints: readonly Endpoint[] = Object.entries(paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, operation]) => ({
    id: operation['operationId'],
    method: method.toUpperCase(),
    path,
    operation,
    statuses: Object.keys(operation['responses']).map(Number),
    example: examples.find(({ of }) => of === operation['operationId'])!,
  })),
)

export function endpointOf(id: string): Endpoint {
  return endpoints.find((endpoint) => endpoint.id === id)!
}

/** An example's path with its query. */
export function urlOf({ path }: Endpoint, { path: params = {}, query = {} }: Omit<Example, 'of'>): string {
  const filled = path.replace(/\{(\w+)\}/g, (_all, name: string) => encodeURIComponent(params[name] ?? 'x'))
  const search = new URLSearchParams(Object.entries(query).map(([name, value]) => [name, String(value)])).toString()
  return search ? `${filled}?${search}` : filled
}

/** `ids`: what the ids of the examples really are. */
export function withIds<Value>(value: Value, ids: ReadonlyMap<string, string>): Value {
  let text = JSON.stringify(value)
  for (const [example, id] of ids) text = text.replaceAll(new RegExp(`(?<![A-Za-z])${RegExp.escape(example)}`, 'g'), () => id)
  return JSON.parse(text)
}
