/**
 * The short way for what most requests are: a JSON POST of a query or mutation that can be run. The same schema, credentials, limits and
 * masking as everywhere; whatever is out of the ordinary is handed on, with the body that was read, to whoever knows all of the protocol.
 */
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { ExecutionResult, GraphQLError } from 'graphql'
import { parseJson, stringifyJson } from '../base/json.ts'
import type { Caller, Core } from '../core/operation.ts'
import type { Feed } from '../log/feed.ts'
import { createContext } from './context.ts'
import type { Documents } from './documents.ts'
import { largestBody } from './limits.ts'
import type { Masked, OperationRequest } from './operation.ts'

/** A request whose body has been read is read from here. */
type ReadRequest = IncomingMessage & { body?: string }

interface Parts {
  core: Core
  feed: Feed
  documents: Documents
  masked: Masked
  /** The long way, for a caller who is known already. */
  handOn(request: IncomingMessage, response: ServerResponse, caller: Caller): void
}

export function createDirect({ core, feed, documents, masked, handOn }: Parts) {
  async function serve(request: ReadRequest, response: ServerResponse, text: string): Promise<void> {
    let result: ExecutionResult
    try {
      // First: what strangers send is not even read.
      const caller = await core.admission.admit(request, response)
      const asked = readRequest(text)
      const prepared = asked && documents.prepare(asked.query, asked.operationName)
      if (!prepared) {
        request.body = text
        handOn(request, response, caller)
        return
      }
      const refusal = prepared.judge(asked.variables)
      result = refusal
        ? { errors: [refusal] }
        : ((await prepared.run(createContext(core, feed, caller), asked.variables)) as ExecutionResult)
    } catch (error) {
      result = { errors: [masked(error)] }
    }
    answer(request, response, result.errors ? { ...result, errors: result.errors.map(masked) } : result)
  }

  /** Whatever goes wrong on the way to an answer is a fault of ours, and its request still has an end. */
  function fail(response: ServerResponse, error: unknown): void {
    const { message, extensions } = masked(error)
    if (response.headersSent) response.destroy()
    else refuse(response, 500, message, String(extensions['code']))
  }

  return (request: IncomingMessage, response: ServerResponse): void => {
    const chunks: Buffer[] = []
    let length = 0
    const take = (chunk: Buffer) => {
      length += chunk.length
      if (length <= largestBody) {
        chunks.push(chunk)
        return
      }
      // Whatever else comes is let go by, and the connection with it.
      request.off('data', take).off('end', end).resume()
      response.setHeader('connection', 'close')
      refuse(response, 413, `The body is larger than ${largestBody} bytes`)
    }
    const end = () => {
      serve(request, response, Buffer.concat(chunks).toString('utf8')).catch((error) => fail(response, error))
    }
    request.on('data', take).once('end', end)
  }
}

function readRequest(text: string): OperationRequest | undefined {
  let raw: unknown
  try {
    raw = parseJson(text)
  } catch {
    return undefined
  }
  if (typeof raw !== 'object' || raw === null) return undefined
  const { query, operationName, variables, ...others } = raw as Record<string, unknown>
  const ordinary =
    typeof query === 'string' &&
    (operationName === undefined || operationName === null || typeof operationName === 'string') &&
    (variables === undefined || variables === null || (typeof variables === 'object' && !Array.isArray(variables))) &&
    Object.keys(others).length === 0
  return ordinary ? (raw as OperationRequest) : undefined
}

function answer(request: IncomingMessage, response: ServerResponse, { data, errors }: ExecutionResult): void {
  const http = errors?.map(({ extensions }) => extensions['http'] as Http | undefined).find((one) => one !== undefined)
  const shown = errors?.map((error) => withoutHttp(error))
  const modern = request.headers.accept?.includes('application/graphql-response+json') ?? false
  const text = stringifyJson({ ...(data === undefined ? {} : { data }), ...(shown ? { errors: shown } : {}) })
  // Before anything was executed it is the request's fault, which the younger media type says in the status too.
  const status = http?.status ?? (data === undefined && modern ? 400 : 200)
  response.writeHead(status, {
    ...http?.headers,
    'content-type': `application/${modern ? 'graphql-response+json' : 'json'}; charset=utf-8`,
    'content-length': Buffer.byteLength(text),
  })
  response.end(text)
}

interface Http {
  status: number
  headers?: Record<string, string>
}

function withoutHttp(error: GraphQLError): object {
  const { extensions, ...rest } = error.toJSON()
  const { http: _http, ...others } = extensions ?? {}
  return { ...rest, ...(Object.keys(others).length > 0 ? { extensions: others } : {}) }
}

/** In the form of an answer, before there is an operation. */
export function refuse(response: ServerResponse, status: number, message: string, code = 'INVALID_REQUEST_FORMAT'): void {
  response.writeHead(status, { 'content-type': 'application/json; charset=utf-8' })
  response.end(stringifyJson({ errors: [{ message, extensions: { code } }] }))
}
