/** A TEST on request, with what the endpoint answered to it. */
import { setTimeout as sleep } from 'node:timers/promises'
import { z } from 'zod'
import { second } from '../../base/clock.ts'
import { newId } from '../../base/ids.ts'
import { DomainError } from '../../base/refusal.ts'
import { action } from '../operation.ts'
import { testEvent } from '../platform/configuration.ts'
import { attemptsOf } from './deliveries.ts'

const pollMs = 50
/** Longer than an endpoint may take. */
const longestWaitMs = 20 * second

/**
 * It goes the way of every event: signed, sent by whichever process is free, in the delivery log. Refuses WEBHOOK_ENDPOINT_NOT_SET;
 * WEBHOOK_DELIVERY_ERROR when the endpoint could not be reached. Names as the specification has them.
 */
export const testWebhook = action({
  name: 'testWebhook',
  permission: 'MANAGE',
  refuses: ['WEBHOOK_ENDPOINT_NOT_SET', 'WEBHOOK_DELIVERY_ERROR'],
  input: z.object({}),
  output: z.object({ url: z.string(), response_status: z.int(), response_body: z.string() }),
  async answer({ database, commit, worlds }, { worldId }) {
    const url = (await worlds.get(worldId))?.webhookEndpoint
    if (!url) throw new DomainError('WEBHOOK_ENDPOINT_NOT_SET', 'Set a webhookEndpoint first')
    const uuid = newId()
    await commit({ reply: undefined, events: [{ ...testEvent(worldId), uuid }] })
    for (let waitedMs = 0; waitedMs < longestWaitMs; waitedMs += pollMs) {
      const [attempt] = (await attemptsOf(database, [uuid])).get(uuid) ?? []
      if (attempt?.responseStatus !== undefined) {
        return { url: attempt.url, response_status: attempt.responseStatus, response_body: attempt.responseBody ?? '' }
      }
      if (attempt) throw undelivered(attempt.url, attempt.error ?? 'no answer')
      await sleep(pollMs)
    }
    throw undelivered(url, 'it was not sent in time')
  },
})

function undelivered(url: string, reason: string): DomainError {
  return new DomainError('WEBHOOK_DELIVERY_ERROR', `The endpoint could not be reached: ${reason}`, { url, reason })
}
