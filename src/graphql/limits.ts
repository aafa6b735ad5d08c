/** What a document may be, on every transport, before anything is made of it. */

/** Of the document, counted while it is read. */
export const mostTokens = 2000
/** Bytes of a request's body. */
export const largestBody = 256 * 1024
/** Of an operation, judged with its variables: see `cost.ts`. */
export const limits = { depth: 16, breadth: 400, complexity: 20_000 }
