/** A REST path, as the route tables of the rooms list them. */
import type { Action, Caller, Core, Operation, Query } from '../core/operation.ts'

export interface Route {
  method: 'GET' | 'POST' | 'PATCH' | 'DELETE'
  /** Under the version segment; `:name` parts become fields of the input, beside those of the query or the body. */
  path: string
  asks: Query | Action | AnyOperation
  /** Fields of the input that the path itself says. */
  with?: Readonly<Record<string, string>>
  /** In a few words, for the reference. */
  says: string
  /** Of success. */
  status: 200 | 201 | 202 | 204
  /** Where what was created is found from now on: a path under the version segment. */
  // biome-ignore lint/suspicious/noExplicitAny: each operation's own answer
  location?: (answer: any) => string
  /** Field of a multipart form that is a file: its stream becomes this field of the input. */
  upload?: string
  /** Who asks, where it is not whoever the credentials belong to. */
  caller?: (core: Core, params: Record<string, string>) => Promise<Caller>
}

// An operation of any input, output and loaded state: what each of them is, is known where it is defined.
// biome-ignore lint/suspicious/noExplicitAny: variance makes `unknown` refuse every operation
type AnyOperation = Operation<any, any, any>
