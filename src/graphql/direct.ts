/**
 * The short way for what most requests are: a JSON POST, or a GET, of an operation. The same schema, credentials, limits and masking as
 * everywhere; whatever is out of the ordinary is handed on, with the body that was read, to whoever knows all of the protocol.
 */
import type { IncomingMessage, ServerResponse } from 'node:http'
import { type ExecutionResult, GraphQLError, OperationTypeNode } from 'graphql'
import { etagOf, isKnown } from '../base/etag.ts'
import { parseJson, stringifyJson } from '../base/json.ts'
import type { Caller, Core } from '../core/operation.ts'
import { largestBody } from './limits.ts'
import type { Masked, ReadRequest } from './operation.ts'
import { fromSearch, toRequest } from './request.ts'

/** A request whose body has been read is read from here. */
type BufferedRequest = IncomingMessage & { body?: string }

interface Parts {
  core: Core
  readOperation: ReadRequest
  masked: Masked
  /** The long way, for a caller who is known already. */
  handOn(request: IncomingMessage, response: ServerResponse, caller: Caller): void
}

export function createDirect({ core, readOperation, masked, handOn }: Parts) {
  /** `text`: the body of a POST. */
  async function serve(request: BufferedRequest, response: ServerResponse, text?: string): Promise<void> {
    let result: ExecutionResult
    let maxAgeSeconds: number | undefined
    try {
      // First: what strangers send is not even read.
      const caller = await core.admission.admit(request, response)
      const asked = toRequest(read(request, text))
      const operation = asked && (await readOperation(caller, asked))
      const kind = operation && 'run' in operation ? operation.kind : undefined
      if (!operation) {
        if (text !== undefined) request.body = text
        handOn(request, response, caller)
        return
      }
      if (kind === OperationTypeNode.SUBSCRIPTION) throw elsewhere()
      if (kind === OperationTypeNode.MUTATION && text === undefined) {
        response.setHeader('allow', 'POST')
        refuse(response, 405, 'Mutations are sent by POST')
        return
      }
      if ('run' in operation) {
        result = await operation.run()
        if (text === undefined) maxAgeSeconds = operation.maxAgeSeconds
      } else result = { errors: operation }
    } catch (error) {
      result = { errors: [masked(error)] }
    }
    answer(request, response, result, maxAgeSeconds)
  }

  /** Whatever goes wrong on the way to an answer is a fault of ours, and its request still has an end. */
  function fail(response: ServerResponse, error: unknown): void {
    const { message, extensions } = masked(error)
    if (response.headersSent) response.destroy()
    else refuse(response, 500, message, String(extensions['code']))
  }

  return (request: IncomingMessage, response: ServerResponse): void => {
    if (request.method === 'GET') {
      serve(request, response).catch((error) => fail(response, error))
      return
    }
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

/** Sockets and streams do not come this way. */
function elsewhere(): GraphQLError {
  const message = 'Subscriptions are followed over a WebSocket, or with Accept: text/event-stream'
  return new GraphQLError(message, { extensions: { code: 'INVALID_REQUEST_FORMAT' } })
}

function read({ url }: IncomingMessage, text: string | undefined): unknown {
  if (text === undefined) return fromSearch(url!)
  try {
    return parseJson(text)
  } catch {
    return undefined
  }
}

/** `maxAgeSeconds`: of a registered query over GET, which browsers may keep for so long, and ask for again only if it has changed. */
function answer(
  request: IncomingMessage,
  response: ServerResponse,
  { data, errors, extensions }: ExecutionResult,
  maxAgeSeconds: number | undefined,
): void {
  const http = errors?.map((error) => error.extensions['http'] as Http | undefined).find((one) => one !== undefined)
  const shown = errors?.map((error) => withoutHttp(error))
  const modern = request.headers.accept?.includes('application/graphql-response+json') ?? false
  const text = stringifyJson({
    ...(data === undefined ? {} : { data }),
    ...(shown ? { errors: shown } : {}),
    ...(extensions ? { extensions } : {}),
  })
  const headers: Record<string, string | number> = { ...http?.headers }
  if (maxAgeSeconds !== undefined && !errors) {
    headers['etag'] = etagOf(text)
    headers['cache-control'] = maxAgeSeconds === 0 ? 'private, no-cache' : `private, max-age=${maxAgeSeconds}`
    headers['vary'] = [response.getHeader('vary'), 'authorization, accept'].filter(Boolean).join(', ')
    if (isKnown(request.headers['if-none-match'], headers['etag'])) {
      response.writeHead(304, headers)
      response.end()
      return
    }
  }
  // Before anything was executed it is the request's fault, which the younger media type says in the status too.
  const status = http?.status ?? (data === undefined && modern ? 400 : 200)
  headers['content-type'] = `application/${modern ? 'graphql-response+json' : 'json'}; charset=utf-8`
  headers['content-length'] = Buffer.byteLength(text)
  response.writeHead(status, headers)
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
