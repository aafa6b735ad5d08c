/** Sends what is due in the queue, signed: many at a time, few to one endpoint. Every attempt is kept. */
import { cached } from '../base/cached.ts'
import { second } from '../base/clock.ts'
import type { Poster } from '../base/outgoing.ts'
import type { Core } from '../core/operation.ts'
import { readSigningKeys, signatureOf, signingKeyAt } from '../core/platform/signing-keys.ts'
import type { World } from '../core/platform/world.ts'
import { type Attempt, type Delivery, recordAttempt, takeDeliveries, type Verdict } from '../log/outbox.ts'
import { decide } from './approve.ts'
import { judge } from './policy.ts'

export interface Sender {
  /** Begins sending what is due, as far as there is room; true if there was anything. */
  sendDue(): Promise<boolean>
  /** Resolves when nothing is on its way. */
  idle(): Promise<void>
}

export interface SenderOptions {
  /** How long an endpoint may take to answer a request for approval, and anything else. */
  timeouts: { approvalMs: number; otherMs: number }
  /** Something has been sent: there is room, and perhaps more to send. */
  onSent: () => void
  onError: (error: unknown, delivery: Delivery) => void
}

export const defaultTimeouts = { approvalMs: 5 * second, otherMs: 15 * second }

const signatureHeader = 'X-Service-Signature'
const mostAtOnce = 200
const mostPerEndpoint = 10
const longestKeptAnswer = 4096

export function createSender(core: Core, poster: Poster, { timeouts, onSent, onError }: SenderOptions): Sender {
  const { database, clock, worlds, settings } = core
  const keys = cached((worldId) => readSigningKeys(database, worldId))
  const sending = new Set<Promise<void>>()
  const busy = new Map<string, number>()

  async function send(delivery: Delivery): Promise<void> {
    const attemptedAt = clock.now()
    const world = await worlds.get(delivery.worldId)
    const tried = await tryOnce(delivery, world)
    const verdict = tried.final ?? judge(delivery, tried, clock.now(), Math.random())
    const attempt: Attempt = {
      attemptedAt,
      url: world?.webhookEndpoint ?? '',
      durationMs: Math.round(tried.durationMs),
      responseStatus: tried.status,
      responseBody: tried.keptBody,
      error: tried.error,
    }
    await recordAttempt(database, clock, delivery, attempt, verdict)
  }

  async function tryOnce(delivery: Delivery, world: World | undefined): Promise<Tried> {
    // Nobody knows whether it was answered: it is sent once.
    if (delivery.once && delivery.attempts > 1)
      return { ...failed('the process ended before the answer was written down'), durationMs: 0 }
    const key = signingKeyAt((await keys.get(delivery.worldId)) ?? [], clock.now())
    if (!world || !key) throw new Error(`a delivery of a world without a signing key: ${delivery.worldId}`)
    if (world.webhookEndpoint === null) return { ...failed('no endpoint is set'), durationMs: 0 }
    const forApproval = delivery.once && delivery.type !== 'TEST'
    const options = {
      allowLocal: settings.allowLocalWebhooks && world.environment === 'SANDBOX',
      timeoutMs: forApproval ? timeouts.approvalMs : timeouts.otherMs,
    }
    const startedAt = performance.now()
    const tried = await post(poster, world.webhookEndpoint, delivery.body, signatureOf(delivery.body, key), options)
    const durationMs = performance.now() - startedAt
    if (!forApproval) return { ...tried, durationMs, keptBody: tried.body.slice(0, longestKeptAnswer) }
    const understood = world.incomingPaymentApproval !== 'WEBHOOK' || (await decide(core, delivery, tried))
    // Whatever it says is an answer. What it tells of the receiver is not kept here.
    const answered = tried.status !== undefined && understood
    const final = { acknowledged: answered, nextAttemptAt: undefined, pauseUntil: undefined }
    return { ...tried, durationMs, keptBody: tried.status === 200 ? undefined : tried.body.slice(0, longestKeptAnswer), final }
  }

  function start(delivery: Delivery): void {
    const { worldId } = delivery
    busy.set(worldId, (busy.get(worldId) ?? 0) + 1)
    const sent = send(delivery)
      .catch((error: unknown) => onError(error, delivery))
      .finally(() => {
        sending.delete(sent)
        const left = busy.get(worldId)! - 1
        if (left > 0) busy.set(worldId, left)
        else busy.delete(worldId)
        onSent()
      })
    sending.add(sent)
  }

  return {
    async sendDue() {
      const free = mostAtOnce - sending.size
      if (free <= 0) return false
      const due = await takeDeliveries(database, clock, { free, most: mostPerEndpoint, busy })
      for (const delivery of due) start(delivery)
      return due.length > 0
    },
    async idle() {
      while (sending.size > 0) await Promise.all(sending)
    },
  }
}

interface Posted {
  status: number | undefined
  body: string
  retryAfter: string | undefined
  timedOut: boolean
  error: string | undefined
}

interface Tried extends Posted {
  durationMs: number
  /** As much of the answer as the log keeps. */
  keptBody?: string | undefined
  final?: Verdict
}

async function post(
  poster: Poster,
  url: string,
  body: string,
  signature: string,
  options: Parameters<Poster['post']>[3],
): Promise<Posted> {
  try {
    const answer = await poster.post(url, body, { [signatureHeader]: signature }, options)
    return { ...answer, body: answer.body.replaceAll('\u0000', ''), timedOut: false, error: undefined }
  } catch (error) {
    const timedOut = error instanceof Error && error.name === 'TimeoutError'
    return { ...failed(timedOut ? `no answer within ${options.timeoutMs} ms` : messageOf(error)), timedOut }
  }
}

function failed(error: string): Posted {
  return { status: undefined, body: '', retryAfter: undefined, timedOut: false, error }
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
