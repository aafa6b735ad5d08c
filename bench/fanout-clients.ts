/**
 * So many sockets in a process of their own, each with one subscription: counts what arrives, and how long after it happened. Forked by
 * fanout.ts, which asks it things; imported, it only lends its texts.
 */
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { WebSocket } from 'ws'

export const eventQuery = `subscription { events(types: [ACCOUNT_STATUS]) { id type cursor createdAt
  ... on AccountStatusEvent { oldBalance { amount display currency { code } } newBalance { amount display currency { code } } } } }`

export const sampleEvent = {
  id: 'Webhook:019aa6c1-6bd4-7a3c-9b4e-0d5f1f6f2c11',
  type: 'ACCOUNT_STATUS',
  cursor: 'ZS4xMjM0NTY3ODk',
  createdAt: '2026-11-21T12:00:00.000Z',
  oldBalance: { amount: '1000000', display: '10000.00', currency: { code: 'USD' } },
  newBalance: { amount: '1000001', display: '10000.01', currency: { code: 'USD' } },
}

type Question =
  | { ask: 'connect'; url: string; authorization: string; count: number }
  | { ask: 'received'; total: number }
  | { ask: 'latencies' }

if (process.send) {
  let received = 0
  let wanted = Number.POSITIVE_INFINITY
  const latencies: number[] = []
  const tell = (answer: unknown) => process.send!(answer)

  const connect = async (url: string, authorization: string) => {
    const socket = new WebSocket(`${url.replace('http', 'ws')}/graphql`, 'graphql-transport-ws', { perMessageDeflate: false })
    await once(socket, 'open')
    socket.send(JSON.stringify({ type: 'connection_init', payload: { authorization } }))
    await once(socket, 'message')
    socket.on('message', (data: Buffer) => {
      received += 1
      // One in a hundred is looked at.
      if (received % 100 === 0) {
        const at = /"createdAt":"([^"]+)"/.exec(data.toString('latin1'))
        if (at) latencies.push(Date.now() - Date.parse(at[1]!))
      }
      if (received === wanted) tell('received')
    })
    socket.send(JSON.stringify({ id: randomUUID(), type: 'subscribe', payload: { query: eventQuery } }))
  }

  process.on('message', async (question: Question) => {
    switch (question.ask) {
      case 'connect':
        for (let left = question.count; left > 0; left -= 50) {
          await Promise.all(Array.from({ length: Math.min(left, 50) }, () => connect(question.url, question.authorization)))
        }
        tell('connected')
        break
      case 'received':
        wanted = question.total
        if (received >= wanted) tell('received')
        break
      case 'latencies':
        tell(latencies.splice(0).toSorted((left, right) => left - right))
    }
  })
}
