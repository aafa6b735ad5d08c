/**
 * graphql-transport-ws: credentials come in `connectionParams.authorization`, as the header would have them. The library speaks the protocol;
 * results of subscriptions come from the fan-out, past it.
 */
import type { IncomingMessage } from 'node:http'
import { GraphQLError } from 'graphql'
import { useServer } from 'graphql-ws/use/ws'
import type { WebSocket, WebSocketServer } from 'ws'
import { DomainError } from '../base/refusal.ts'
import type { Caller, Core } from '../core/operation.ts'
import { authenticate } from '../core/platform/tokens.ts'
import type { Fanout, Sink } from './fanout.ts'
import {
  type Masked,
  type OperationRequest,
  type ReadOperation,
  readOperation,
  readSubscription,
  type Yoga,
} from './operation.ts'
import type { Revocations } from './revocations.ts'
import { schema } from './schema.ts'

const mostSubscriptionsPerSocket = 100

/** Besides the protocol's own close codes. */
export const closeCodes = {
  /** The subscriber did not keep up; the reason ends with the cursor after its last result. */
  slowSubscriber: 4420,
  /** As for credentials that were wrong from the beginning: the token has been revoked. */
  forbidden: 4403,
  /** Something broke here; come back, and resume after the cursor at the end of the reason. */
  tryAgain: 1013,
}

type SocketState = {
  socket: WebSocket
  request: IncomingMessage
  caller?: Caller
  /** Ids of the subscriptions that are open. */
  open?: Set<string>
  forget?: () => void
}

/** What a subscription needs on its way through the library. */
interface Opened {
  read: ReadOperation
  request: OperationRequest
  id: string
  state: SocketState
}

export function serveSockets(
  sockets: WebSocketServer,
  {
    core,
    yoga,
    fanout,
    revocations,
    masked,
  }: { core: Core; yoga: Yoga; fanout: Fanout; revocations: Revocations; masked: Masked },
) {
  return useServer<Record<string, unknown>, SocketState>(
    {
      schema,
      async onConnect({ connectionParams, extra }) {
        const authorization = connectionParams?.['authorization'] ?? connectionParams?.['Authorization']
        try {
          const caller = await authenticate(core.tokens, typeof authorization === 'string' ? authorization : undefined)
          extra.caller = caller
          extra.open = new Set()
          extra.request.socket.setMaxListeners(0)
          extra.forget = revocations.watch(caller, () => extra.socket.close(closeCodes.forbidden, 'The token was revoked'))
          return true
        } catch (error) {
          if (error instanceof DomainError) return false
          throw error
        }
      },
      onDisconnect({ extra }) {
        extra.forget?.()
      },
      async onSubscribe({ extra }, id, request) {
        const read = await readOperation(yoga, extra.caller!, request)
        if (!('args' in read)) return read
        if (read.isSubscription) {
          if (extra.open!.size >= mostSubscriptionsPerSocket) {
            return [new GraphQLError(`A socket carries ${mostSubscriptionsPerSocket} subscriptions at most`)]
          }
          extra.open!.add(id)
        }
        return { ...read.args, rootValue: { read, request, id, state: extra } satisfies Opened }
      },
      onComplete({ extra }, id) {
        extra.open?.delete(id)
      },
      execute: (args) => (args.rootValue as Opened).read.execute({ ...args, rootValue: undefined }) as never,
      async subscribe(args) {
        const { request, id, state } = args.rootValue as Opened
        const subscription = await readSubscription(core, { ...args, rootValue: undefined }, request, masked)
        if (!('render' in subscription)) return { errors: subscription }
        return untilLeft(() => fanout.join(subscription, socketSink(state, id)))
      },
    },
    sockets,
  )
}

/** For the library: something that yields nothing and ends when it is told to. */
function untilLeft(join: () => () => void): AsyncGenerator<never, void, void> {
  let end: (result: IteratorResult<never, void>) => void
  const ended = new Promise<IteratorResult<never, void>>((resolve) => {
    end = resolve
  })
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
      leave ??= join()
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
  const head = `{"id":${JSON.stringify(id)},"type":"next","payload":`
  return {
    next(payload) {
      if (socket.readyState === socket.OPEN) socket.send(`${head}${payload}}`)
    },
    get congested() {
      return connection.writableNeedDrain
    },
    whenDrained: (resume) => connection.once('drain', resume),
    overflow: (cursor) => socket.close(closeCodes.slowSubscriber, `SLOW_SUBSCRIBER ${cursor}`),
    fail: (_error, cursor) => socket.close(closeCodes.tryAgain, `TRY_AGAIN ${cursor}`),
  }
}
