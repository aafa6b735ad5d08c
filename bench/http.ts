/** A load generator that costs little: plain sockets, requests as bytes, replies read only as far as their status and length. */
import { connect, type Socket } from 'node:net'

export interface Load {
  /** Answered requests a second. */
  perSecond: number
  answered: number
  p50Ms: number
  p99Ms: number
}

/** `clients` connections, each sending the next request when it has its answer, for so long. Throws on any status but `expected`. */
export async function load(
  url: string,
  clients: number,
  forSeconds: number,
  expected: number,
  next: () => string,
): Promise<Load> {
  const { hostname, port } = new URL(url)
  const sockets = await Promise.all(Array.from({ length: clients }, () => open(hostname, Number(port))))
  const latencies: number[] = []
  const startedAt = performance.now()
  const endsAt = startedAt + forSeconds * 1000
  await Promise.all(sockets.map((socket) => run(socket, expected, endsAt, next, latencies)))
  const took = performance.now() - startedAt
  for (const socket of sockets) socket.destroy()
  latencies.sort((left, right) => left - right)
  const at = (share: number) => latencies[Math.floor(latencies.length * share)] ?? 0
  return { perSecond: (latencies.length / took) * 1000, answered: latencies.length, p50Ms: at(0.5), p99Ms: at(0.99) }
}

function open(host: string, port: number): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = connect({ host, port, noDelay: true }, () => resolve(socket))
    socket.once('error', reject)
  })
}

function run(socket: Socket, expected: number, endsAt: number, next: () => string, latencies: number[]): Promise<void> {
  return new Promise((resolve, reject) => {
    let received = ''
    let sentAt = 0
    const send = () => {
      if (performance.now() >= endsAt) return resolve()
      received = ''
      sentAt = performance.now()
      socket.write(next(), 'latin1')
    }
    socket.on('data', (chunk) => {
      received += chunk.toString('latin1')
      const head = received.indexOf('\r\n\r\n')
      if (head < 0) return
      const length = Number(/content-length: (\d+)/i.exec(received)?.[1] ?? 0)
      if (received.length < head + 4 + length) return
      if (received.slice(9, 12) !== String(expected)) return reject(new Error(received))
      latencies.push(performance.now() - sentAt)
      send()
    })
    socket.once('error', reject)
    socket.once('close', () => reject(new Error('the connection was closed')))
    send()
  })
}
