/**
 * The door of whoever runs the gateway: people whose verification waits for a human. Open with OPERATOR_TOKEN alone; where none is set there is
 * no such door.
 */
import { createHash, timingSafeEqual } from 'node:crypto'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { toId, uuidOf } from '../base/ids.ts'
import type { Logger } from '../base/logger.ts'
import { DomainError } from '../base/refusal.ts'
import { decideKyc, reviewsOf } from '../core/customers/decide-kyc.ts'
import { type Core, perform, serviceCaller } from '../core/operation.ts'
import { answerTo, masked } from '../rest/error.ts'

interface Decision {
  Params: { customerId: string }
  Body: { decision?: unknown; reason?: unknown } | undefined
}

const decisions: Readonly<Record<string, 'MANUALLY_APPROVED' | 'MANUALLY_REJECTED'>> = {
  APPROVE: 'MANUALLY_APPROVED',
  REJECT: 'MANUALLY_REJECTED',
}

export function addOperatorDoor(app: FastifyInstance, core: Core, token: string | undefined, logger: Logger): void {
  if (token === undefined) return
  app.register(async (door) => {
    door.addHook('onRequest', async (request) => requireOperator(request, token))
    door.setErrorHandler((error, request, reply) => {
      const answer = answerTo(error) ?? masked
      if (answer === masked) logger.error({ err: error, requestId: request.id }, 'a request of the operator failed')
      return reply.code(answer.status).send(answer)
    })

    door.get('/operator/reviews', async () => {
      const reviews = await reviewsOf(core.database)
      return { data: reviews.map(({ customer, platform, environment }) => ({ ...customer, platform, environment })) }
    })

    door.post<Decision>('/operator/customers/:customerId/decision', async ({ params, body }) => {
      const decision = decisions[String(body?.decision)]
      if (!decision) {
        throw new DomainError('INVALID_INPUT', 'decision: expected APPROVE or REJECT', {
          field: 'decision',
          value: String(body?.decision),
        })
      }
      const { customerId, worldId } = await customerNamed(core, params.customerId)
      const decided = await perform(core, decideKyc, { caller: await serviceCaller(core, worldId) }, { customerId, decision })
      logger.info({ customer: decided.id, decision, reason: body?.reason }, 'the operator has decided on a verification')
      return decided
    })
  })
}

function requireOperator({ headers }: FastifyRequest, token: string): void {
  const digest = (text: string) => createHash('sha256').update(text).digest()
  if (timingSafeEqual(digest(headers.authorization ?? ''), digest(`Bearer ${token}`))) return
  throw new DomainError('UNAUTHORIZED', 'This door opens with the operator’s token')
}

async function customerNamed({ database }: Core, id: string): Promise<{ customerId: string; worldId: string }> {
  const customerId = uuidOf('Customer', id)
  const [row] = customerId
    ? await database.query<{ worldId: string }>('select world_id as "worldId" from customer where id = $1', [customerId])
    : []
  if (row) return { customerId: customerId!, worldId: row.worldId }
  throw new DomainError('USER_NOT_FOUND', 'There is no such customer', {
    field: 'customerId',
    value: customerId ? toId('Customer', customerId) : id.slice(0, 100),
  })
}
