/**
 * GraphQL over server-sent events: one operation per request, its results as `next` events and a `complete` at the end. Each result's `id` is
 * its cursor, so a browser's EventSource that comes back resumes by itself (`Last-Event-ID`).
 */
import type { IncomingMessage, ServerResponse } from 'node:http'
import { GraphQLError, OperationTypeNode } from 'graphql'
import { second } from '../base/clock.ts'
import { decodePosition } from '../base/cursor.ts'
import { parseJson, stringifyJson } from '../base/json.ts'
import { DomainError } from '../base/refusal.ts'
import type { Core } from '../core/operation.ts'
import type { Fanout, Sink } from './fanout.ts'
import type { Masked, ReadRequest } from './operation.ts'
import { fromSearch, type OperationRequest, toRequest } from './request.ts'
import type { Revocations } from './revocations.ts'

const keepAliveMs = 12 * second

export interface Streams {
  handle(request: IncomingMessage, response: ServerResponse): Promise<void>
  close(): void
}

interface Parts {
  core: Core
  readOperation: ReadRequest
  fanout: Fanout
  revocations: Revocations
  masked: Masked
  largestBody: number
}

export function wantsStream({ headers }: IncomingMessage): boolean {
  return headers.accept?.includes('text/event-stream') ?? false
}

export function createStreams({ core, readOperation, fanout, revocations, masked, largestBody }: Parts): Streams {
  const open = new Set<ServerResponse>()

  async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const caller = await core.admission.admit(request, response)
    const asked = await readRequest(request, largestBody)
    const operation = await readOperation(caller, asked)
    if (!('run' in operation)) return answer(response, { errors: operation })
    if (operation.kind !== OperationTypeNode.SUBSCRIPTION) {
      if (request.method === 'GET') throw new DomainError('INVALID_REQUEST_FORMAT', 'Over GET only subscriptions are streamed')
      return answer(response, await operation.run())
    }
    const subscription = await operation.follow()
    if (!('render' in subscription)) return answer(response, { errors: subscription })
    const lastSeen = request.headers['last-event-id']
    const after = typeof lastSeen === 'string' && lastSeen !== '' ? decodePosition(lastSeen, 'Last-Event-ID') : subscription.after

    begin(response)
    open.add(response)
    const keepAlive = setInterval(() => response.write(':\n\n'), keepAliveMs)
    const leave = fanout.join({ ...subscription, after }, streamSink(response))
    const forget = revocations.watch(caller, () =>
      end(response, new GraphQLError('The token is no longer valid', { extensions: { code: 'UNAUTHORIZED' } })),
    )
    response.once('close', () => {
      clearInterval(keepAlive)
      open.delete(response)
      leave()
      forget()
    })
  }

  return {
    async handle(request, response) {
      try {
        await serve(request, response)
      } catch (error) {
        const { message, extensions } = masked(error)
        const { http, ...shown } = extensions as { http?: { status?: number; headers?: Record<string, string> } }
        const status = http?.status ?? (error instanceof DomainError ? 400 : 500)
        response.writeHead(status, { 'content-type': 'application/json; charset=utf-8', ...http?.headers })
        response.end(stringifyJson({ errors: [{ message, extensions: shown }] }))
      }
    },
    close() {
      for (const response of open) response.end()
    },
  }
}

function begin(response: ServerResponse): void {
  response.writeHead(200, {
    'content-type': 'text/event-stream; charset=utf-8',
    'cache-control': 'no-store',
    'x-accel-buffering': 'no',
  })
  response.write(':\n\n')
}

function answer(response: ServerResponse, result: object): void {
  begin(response)
  response.end(`event: next\ndata: ${stringifyJson(result)}\n\nevent: complete\ndata:\n\n`)
}

function end(response: ServerResponse, error: GraphQLError): void {
  if (response.writableEnded) return
  response.end(`event: next\ndata: ${stringifyJson({ data: null, errors: [error] })}\n\nevent: complete\ndata:\n\n`)
}

function streamSink(response: ServerResponse): Sink {
  const over = (code: string, message: string, cursor: string) => {
    end(response, new GraphQLError(message, { extensions: { code, cursor } }))
    // It may never read what is left.
    setTimeout(() => response.destroy(), keepAliveMs).unref()
  }
  return {
    next(results) {
      response.write(results.map(({ cursor, payload }) => `id: ${cursor}\nevent: next\ndata: ${payload}\n\n`).join(''))
    },
    get congested() {
      return response.writableNeedDrain
    },
    whenDrained: (resume) => response.once('drain', resume),
    overflow: (cursor) => over('SLOW_SUBSCRIBER', 'The subscriber does not keep up; resume after the cursor', cursor),
    fail: (_error, cursor) => over('INTERNAL_ERROR', 'Something went wrong here; resume after the cursor', cursor),
  }
}

async function readRequest(request: IncomingMessage, largestBody: number): Promise<OperationRequest> {
  const asked = toRequest(request.method === 'GET' ? fromSearch(request.url!) : jsonOf(await readText(request, largestBody)))
  if (asked) return asked
  throw new DomainError('INVALID_REQUEST_FORMAT', 'query: expected a GraphQL document', { field: 'query' })
}

function jsonOf(text: string): unknown {
  try {
    return parseJson(text)
  } catch {
    throw new DomainError('INVALID_REQUEST_FORMAT', 'The body is not valid JSON')
  }
}

async function readText(request: IncomingMessage, largest: number): Promise<string> {
  const chunks: Buffer[] = []
  let length = 0
  for await (const chunk of request as AsyncIterable<Buffer>) {
    length += chunk.length
    if (length > largest) throw new DomainError('INVALID_REQUEST_FORMAT', `The body is larger than ${largest} bytes`)
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString('utf8')
}
