/**
 * graphql-transport-ws: credentials come in `connectionParams.authorization`, as the header would have them. The library speaks the protocol;
 * results of subscriptions come from the fan-out, past it.
 */
import type { IncomingMessage } from 'node:http'
import { GraphQLError, OperationTypeNode } from 'graphql'
import { useServer } from 'graphql-ws/use/ws'
import type { WebSocket, WebSocketServer } from 'ws'
import { DomainError } from '../base/refusal.ts'
import type { Caller, Core } from '../core/operation.ts'
import type { Fanout, Result, Sink } from './fanout.ts'
import type { Masked, ReadOperation, ReadRequest } from './operation.ts'
import type { Revocations } from './revocations.ts'
import { schema } from './schema.ts'

const mostSubscriptionsPerSocket = 100

/** Besides the protocol's own close codes. */
export const closeCodes = {
  /** The subscriber did not keep up; the reason ends with the cursor after its last result. */
  slowSubscriber: 4420,
  /** As for credentials that were wrong from the beginning: the token was revoked, or is at its end. */
  forbidden: 4403,
  /** Something broke here; come back, and resume after the cursor at the end of the reason. */
  tryAgain: 1013,
}

export type SocketRequest = Pick<IncomingMessage, 'socket'> & {
  /** The client's. */
  address: string
}

type SocketState = {
  socket: WebSocket
  request: SocketRequest
  caller?: Caller
  /** Ids of the subscriptions that are open. */
  open?: Set<string>
}

/** What an operation needs on its way through the library, which keeps it for as long as the operation is open. */
interface Opened {
  operation: ReadOperation | undefined
  id: string
  state: SocketState
}

export function serveSockets(
  sockets: WebSocketServer,
  {
    core,
    readOperation,
    fanout,
    revocations,
    masked,
  }: { core: Core; readOperation: ReadRequest; fanout: Fanout; revocations: Revocations; masked: Masked },
) {
  function watch({ socket }: SocketState, caller: Caller): void {
    const forget = revocations.watch(caller, () => socket.close(closeCodes.forbidden, 'The token is no longer valid'))
    // It may have gone while the credentials were looked at.
    if (socket.readyState === socket.OPEN) socket.once('close', forget)
    else forget()
  }

  return useServer<Record<string, unknown>, SocketState>(
    {
      schema,
      async onConnect({ connectionParams, extra }) {
        const authorization = connectionParams?.['authorization'] ?? connectionParams?.['Authorization']
        try {
          const given = typeof authorization === 'string' ? authorization : undefined
          const caller = await core.admission.identify(given, extra.request.address)
          extra.caller = caller
          extra.open = new Set()
          extra.request.socket.setMaxListeners(0)
          watch(extra, caller)
          return true
        } catch (error) {
          if (error instanceof DomainError) return false
          throw error
        }
      },
      async onSubscribe({ extra }, id, request) {
        const refused = await core.admission.count(extra.caller!).catch((error) => error)
        if (refused) return [masked(refused)]
        const operation = await readOperation(extra.caller!, request)
        if (!('run' in operation)) return operation
        if (operation.kind === OperationTypeNode.SUBSCRIPTION) {
          if (extra.open!.size >= mostSubscriptionsPerSocket) {
            return [new GraphQLError(`A socket carries ${mostSubscriptionsPerSocket} subscriptions at most`)]
          }
          extra.open!.add(id)
        }
        const { document } = operation
        const rootValue = { operation, id, state: extra } satisfies Opened
        return { schema, document, operationName: request.operationName, rootValue }
      },
      onComplete({ extra }, id) {
        extra.open?.delete(id)
      },
      execute(args) {
        return (args.rootValue as Opened).operation!.run()
      },
      async subscribe(args) {
        const opened = args.rootValue as Opened
        const { operation, id, state } = opened
        const subscription = await operation!.follow()
        // Thousands may be open: what they were read into is not needed any more.
        opened.operation = undefined
        if (!('render' in subscription)) return { errors: subscription }
        return untilLeft(() => fanout.join(subscription, socketSink(state, id)))
      },
    },
    sockets,
  )
}

/** For the library: something that yields nothing and ends when it is told to. */
function untilLeft(begin: () => () => void): AsyncGenerator<never, void, void> {
  let end: (result: IteratorResult<never, void>) => void
  const ended = new Promise<IteratorResult<never, void>>((resolve) => {
    end = resolve
  })
  let join: (() => () => void) | undefined = begin
  let leave: (() => void) | undefined
  const over = { done: true, value: undefined } as const
  const finish = async () => {
    leave?.()
    end(over)
    return over
  }
  return {
    next() {
      // Asked for once the library has written down that the subscription is open.
      leave ??= join?.()
      join = undefined
      return ended
    },
    return: finish,
    throw: finish,
    [Symbol.asyncIterator]() {
      return this
    },
    async [Symbol.asyncDispose]() {
      await finish()
    },
  }
}

function socketSink({ socket, request: { socket: connection } }: SocketState, id: string): Sink {
  const head = Buffer.from(`{"id":${JSON.stringify(id)},"type":"next","payload":`)
  return {
    next(results) {
      if (socket.readyState === socket.OPEN) connection.write(textFrames(head, results))
    },
    get congested() {
      return connection.writableNeedDrain
    },
    whenDrained: (resume) => connection.once('drain', resume),
    overflow: (cursor) => socket.close(closeCodes.slowSubscriber, `SLOW_SUBSCRIBER ${cursor}`),
    fail: (_error, cursor) => socket.close(closeCodes.tryAgain, `TRY_AGAIN ${cursor}`),
  }
}

/**
 * Text frames (RFC 6455, unmasked, not compressed) of messages that begin alike, one after the other in one buffer. The socket library would
 * write each in two pieces; written as one, a delivery costs hardly more than its system call. It keeps no frame back, so ours fall between
 * its frames.
 */
function textFrames(head: Buffer, results: readonly Result[]): Buffer {
  let size = 0
  for (const { payload } of results) size += headerSize(head.length + payload.length + 1) + head.length + payload.length + 1
  const frames = Buffer.allocUnsafe(size)
  let at = 0
  for (const { payload } of results) {
    at = writeHeader(frames, at, head.length + payload.length + 1)
    at += head.copy(frames, at)
    at += payload.copy(frames, at)
    frames[at] = 0x7d // }
    at += 1
  }
  return frames
}

function headerSize(length: number): number {
  return length < 126 ? 2 : length < 65_536 ? 4 : 10
}

function writeHeader(frames: Buffer, at: number, length: number): number {
  frames[at] = 0x81
  if (length < 126) {
    frames[at + 1] = length
    return at + 2
  }
  if (length < 65_536) {
    frames[at + 1] = 126
    return frames.writeUInt16BE(length, at + 2)
  }
  frames[at + 1] = 127
  return frames.writeBigUInt64BE(BigInt(length), at + 2)
}
