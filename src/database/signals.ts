/**
 * Signals between processes by LISTEN and NOTIFY. Never sent inside a transaction that writes: NOTIFY takes an instance-wide lock when it
 * commits.
 */
import pg from 'pg'
import { second } from '../base/clock.ts'
import type { Signals } from './port.ts'

const channel = 'payments_gateway'

export function openSignals(url: string, pool: pg.Pool): Signals & { close(): Promise<void> } {
  let closed = false
  let listener: pg.Client | undefined
  let retry: NodeJS.Timeout | undefined
  let sending = false
  let again = false

  async function listen(heard: () => void): Promise<void> {
    const client = new pg.Client({ connectionString: url })
    let over = false
    const reconnect = () => {
      if (over) return
      over = true
      client.end().catch(() => {})
      if (!closed) retry = setTimeout(() => void listen(heard), second)
    }
    client.on('error', reconnect)
    client.on('end', reconnect)
    client.on('notification', heard)
    listener = client
    try {
      await client.connect()
      await client.query(`listen ${channel}`)
      // Whatever was said while nobody listened.
      heard()
    } catch {
      reconnect()
    }
  }

  async function notify(): Promise<void> {
    sending = true
    do {
      again = false
      // Lost, it is covered by polling.
      await pool.query(`notify ${channel}`).catch(() => {})
    } while (again && !closed)
    sending = false
  }

  return {
    send() {
      if (sending) again = true
      else if (!closed) void notify()
    },
    listen(heard) {
      void listen(heard)
    },
    async close() {
      closed = true
      clearTimeout(retry)
      await listener?.end().catch(() => {})
    },
  }
}
