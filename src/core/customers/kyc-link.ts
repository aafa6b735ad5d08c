/** The link that a customer is verified by: shown once, good for one verification, and not for long. */
import { createHash } from 'node:crypto'
import { z } from 'zod'
import { day } from '../../base/clock.ts'
import { toId } from '../../base/ids.ts'
import { randomCode } from '../../base/random.ts'
import { type CustomerRow, type KycLinkRow, selectList } from '../../database/tables.ts'
import { newTask } from '../../log/tasks.ts'
import { text } from '../input.ts'
import { operation } from '../operation.ts'
import { arrival } from './create-customer.ts'
import { customersById, kycDecided, undecided } from './customer.ts'

const lifetimeMs = day

const redirectUri = z.url({ protocol: /^https?$/, error: 'expected an http or https address' }).max(2000)

/**
 * A link for the customer whom the platform knows by this id: the newest who is still to be verified, or a new one (NOT_STARTED), who is
 * known by nothing else yet. Spec silent: the customer's id is known at once, and a link is good for a day.
 */
export const createKycLink = operation({
  name: 'createKycLink',
  permission: 'MANAGE',
  input: z.object({
    platformCustomerId: text(255),
    redirectUri: redirectUri.optional(),
    customerType: z.enum(['INDIVIDUAL', 'BUSINESS']).default('INDIVIDUAL'),
  }),
  output: z.object({ kycUrl: z.string(), platformCustomerId: z.string(), customerId: z.string() }),
  load: async ({ database, worlds }, { worldId }, { platformCustomerId, customerType }) => {
    const [world, [customer]] = await Promise.all([
      worlds.get(worldId),
      database.query<CustomerRow>(
        `select ${selectList('customer')} from customer
         where world_id = $1 and platform_customer_id = $2 and customer_type = $3::"CustomerType" and not is_deleted
           and kyc_status = any($4::text[]::"KycStatus"[])
         order by created_at desc, id desc limit 1`,
        [worldId, platformCustomerId, customerType, undecided],
      ),
    ])
    return { world: world!, known: customer }
  },
  decide({ platformCustomerId, redirectUri: back, customerType }, { world, known }, moment) {
    const { now, newId, settings } = moment
    const arrived = known ? undefined : arrival({ platformCustomerId, customerType }, world, moment, 'NOT_STARTED')
    const customer = known ?? arrived!.insert.customer[0]!
    const code = randomCode(12)
    const link: KycLinkRow = {
      id: newId(),
      worldId: world.id,
      customerId: customer.id,
      codeHash: createHash('sha256').update(code).digest('hex'),
      redirectUri: back ?? null,
      expiresAt: new Date(now.getTime() + lifetimeMs),
      usedAt: null,
      createdAt: now,
      updatedAt: now,
      version: 1,
    }
    return {
      reply: { kycUrl: `${settings.baseUrl}/onboard/${code}`, platformCustomerId, customerId: toId('Customer', customer.id) },
      guard: { customer: known ? [known] : [] },
      insert: { ...arrived?.insert, kyc_link: [link], task: [newTask('expire-kyc-link', world.id, link.id, link.expiresAt)] },
    }
  },
})

/**
 * The time of a link is over, and nobody has said what was asked for: EXPIRED, unless another link is open or a decision has been made. It can
 * be tried again with a new link. Run by its task.
 */
export const expireKycLink = operation({
  name: 'expireKycLink',
  permission: 'MANAGE',
  input: z.object({ linkId: z.uuid() }),
  output: z.object({ early: z.boolean() }),
  async load({ database }, caller, { linkId }) {
    const links = await database.query<KycLinkRow>(
      `select ${selectList('kyc_link', 'l')} from kyc_link l
       where l.customer_id = (select o.customer_id from kyc_link o where o.id = $2 and (o.world_id = $1) is true)`,
      [caller.worldId, linkId],
    )
    const link = links.find(({ id }) => id === linkId)
    const [customer] = link ? await customersById(database, caller, [link.customerId]) : []
    return { link, customer, others: links.filter(({ id }) => id !== linkId) }
  },
  decide(_input, { link, customer, others }, { now, timing }) {
    if (!link || link.usedAt !== null || customer?.kycStatus !== 'NOT_STARTED') return { reply: { early: false } }
    if (timing === 'early') return { reply: { early: true } }
    const stillOpen = others.some(({ usedAt, expiresAt }) => usedAt === null && expiresAt > link.expiresAt)
    if (stillOpen || customer.isDeleted) return { reply: { early: false } }
    const expired: CustomerRow = { ...customer, kycStatus: 'EXPIRED', updatedAt: now }
    return {
      reply: { early: false },
      notBefore: link.expiresAt,
      guard: { kyc_link: [link] },
      update: { customer: [expired] },
      events: [kycDecided(expired)],
    }
  },
})
