/**
 * The contenders of the fan-out bench, as processes of their own. `raw`: a `ws` server that writes one pre-built frame to every socket, which
 * is what the machine can do. `naive`: graphql-ws as its documentation shows it, one execution per subscriber. POST publishes.
 */
import { randomUUID } from 'node:crypto'
import { createServer } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import { buildSchema, execute, subscribe } from 'graphql'
import { useServer } from 'graphql-ws/use/ws'
// @ts-expect-error the library's types leave it out
import { Sender, WebSocketServer } from 'ws'
import { sampleEvent } from './fanout-clients.ts'

const mode = process.argv[2]
let publish: () => void

const server = createServer((request, response) => {
  request.resume()
  publish()
  response.end('ok')
})
const sockets = new WebSocketServer({ server, handleProtocols: () => 'graphql-transport-ws' })

if (mode === 'raw') {
  const connections = new Set<Socket>()
  sockets.on('connection', (socket, request) => {
    socket.on('message', (data) => {
      if (String(data).includes('connection_init')) socket.send('{"type":"connection_ack"}')
      else connections.add(request.socket)
    })
    socket.on('close', () => connections.delete(request.socket))
  })
  const message = Buffer.from(
    `{"id":"${randomUUID()}","type":"next","payload":{"data":{"events":${JSON.stringify(sampleEvent)}}}}`,
  )
  const frame = Buffer.concat(
    Sender.frame(message, { fin: true, opcode: 1, mask: false, readOnly: true, rsv1: false }) as Buffer[],
  )
  publish = () => {
    for (const connection of connections) connection.write(frame)
  }
} else {
  const schema = buildSchema(`
    type Query { ok: Boolean }
    type Balance { amount: String display: String currency: Currency }
    type Currency { code: String }
    interface Event { id: ID type: String cursor: String createdAt: String }
    type AccountStatusEvent implements Event { id: ID type: String cursor: String createdAt: String oldBalance: Balance newBalance: Balance }
    enum Type { ACCOUNT_STATUS }
    type Subscription { events(types: [Type]): Event }
  `)
  const waiting = new Set<(event: object) => void>()
  const roots = {
    async *events() {
      const queue: object[] = []
      let wake: (() => void) | undefined
      const hear = (event: object) => {
        queue.push(event)
        wake?.()
      }
      waiting.add(hear)
      try {
        for (;;) {
          while (queue.length > 0) yield { events: { ...queue.shift(), __typename: 'AccountStatusEvent' } }
          await new Promise<void>((resolve) => {
            wake = resolve
          })
        }
      } finally {
        waiting.delete(hear)
      }
    },
  }
  useServer({ schema, roots: { subscription: roots }, execute, subscribe }, sockets)
  publish = () => {
    for (const hear of waiting) hear({ ...sampleEvent })
  }
}

server.listen(0, '127.0.0.1', () => console.log(`ready at http://127.0.0.1:${(server.address() as AddressInfo).port}`))
