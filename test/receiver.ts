/** A platform's own server: takes webhooks, keeps them, and answers as it is told to. */
import { createServer, type IncomingHttpHeaders, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect } from 'vitest'
import { faultOfWebhook } from './openapi.ts'
import type { Body } from './world.ts'

interface Received {
  body: Body
  raw: string
  headers: IncomingHttpHeaders
}

interface Reply {
  status: number
  body?: string
  headers?: Record<string, string>
}

export interface Receiver {
  url: string
  received: Received[]
  /** Of the payments among them, each status in its order. */
  statuses(): string[]
  /** `'never'`: the connection stays open and silent. */
  answer: (body: Body) => Reply | 'never' | Promise<Reply | 'never'>
  close(): void
}

export async function openReceiver(): Promise<Receiver> {
  const faults: string[] = []
  const server: Server = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', async () => {
      const raw = Buffer.concat(chunks).toString()
      const body = JSON.parse(raw)
      faults.push(...[faultOfWebhook(raw)].filter((fault) => fault !== undefined))
      receiver.received.push({ body, raw, headers: request.headers })
      const reply = await receiver.answer(body)
      if (reply !== 'never') response.writeHead(reply.status, reply.headers).end(reply.body ?? '')
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const receiver: Receiver = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`,
    received: [],
    statuses: () => receiver.received.flatMap(({ body }) => (body['transaction'] ? [body['transaction'].status] : [])),
    answer: () => ({ status: 200 }),
    close() {
      expect(faults, 'webhooks that are not what openapi.json says').toEqual([])
      server.closeAllConnections()
      server.close()
    },
  }
  return receiver
}
