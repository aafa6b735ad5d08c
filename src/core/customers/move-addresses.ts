/**
 * A platform's UMA addresses are on another domain from now on: everybody keeps their name and gets it there. Portion by portion, each leaving
 * the task of the next one, so whatever breaks goes on where it was.
 */
import { z } from 'zod'
import { second } from '../../base/clock.ts'
import { randomCode } from '../../base/random.ts'
import { type CustomerRow, selectList, type TaskRow } from '../../database/tables.ts'
import { newTask } from '../../log/tasks.ts'
import { operation } from '../operation.ts'
import { takenAddresses } from './customer.ts'
import { longestUsername } from './uma-address.ts'

const customersAtOnce = 200
/** Somebody may still arrive by a configuration that another process has remembered: it waits for them. */
const patienceMs = 2 * second

/** The first portion's task. */
export function moveAddressesTask(worldId: string, id: string, now: Date): TaskRow {
  return { ...newTask('move-addresses', worldId, worldId, new Date(now.getTime() + patienceMs)), id }
}

export const moveAddresses = operation({
  name: 'moveAddresses',
  permission: 'MANAGE',
  input: z.object({ afterCustomerId: z.string() }),
  output: z.object({ moved: z.int() }),
  async load({ database, worlds }, { worldId }, { afterCustomerId }) {
    const [customers, world] = await Promise.all([
      database.query<CustomerRow>(
        `select ${selectList('customer', 'c')} from customer c
         where c.world_id = $1 and (c.created_at, c.id) > (
           select coalesce(max(b.created_at), '-infinity'), $2::uuid from customer b where b.id = $2 and b.world_id = $1)
         order by c.created_at, c.id limit $3`,
        [worldId, afterCustomerId, customersAtOnce],
      ),
      worlds.get(worldId),
    ])
    const { umaDomain: domain } = world!
    const wanted = customers.map(({ umaAddress }) => onDomain(umaAddress, domain))
    return { customers, domain, taken: await takenAddresses(database, worldId, wanted) }
  },
  decide(_input, { customers, domain, taken }, { caller: { worldId }, now, newId }) {
    const moved = customers
      .filter(({ umaAddress }) => !umaAddress.endsWith(`@${domain}`))
      .map((customer) => ({ ...customer, umaAddress: freeAddress(customer.umaAddress, domain, taken), updatedAt: now }))
    const reply = { moved: moved.length }
    if (customers.length === 0) return { reply }
    const next = { ...newTask('move-addresses', worldId, customers.at(-1)!.id), id: newId() }
    return { reply, update: { customer: moved }, insert: { task: customers.length < customersAtOnce ? [] : [next] } }
  },
})

function onDomain(umaAddress: string, domain: string): string {
  return `${umaAddress.slice(0, umaAddress.indexOf('@'))}@${domain}`
}

/** Spec silent: a name that somebody new has taken there meanwhile gets an ending. */
function freeAddress(umaAddress: string, domain: string, taken: ReadonlySet<string>): string {
  const wanted = onDomain(umaAddress, domain)
  if (!taken.has(wanted)) return wanted
  const name = umaAddress.slice(0, umaAddress.indexOf('@')).slice(0, longestUsername - 7)
  return `${name}.${randomCode(6).toLowerCase()}@${domain}`
}
