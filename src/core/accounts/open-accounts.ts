/**
 * A platform takes a new currency: everybody who is a customer already gets an account in it. Portion by portion, each leaving the task of the
 * next one, so whatever breaks goes on where it was.
 */
import { z } from 'zod'
import { second } from '../../base/clock.ts'
import type { TaskRow } from '../../database/tables.ts'
import { newTask } from '../../log/tasks.ts'
import { operation } from '../operation.ts'
import { newInternalAccount } from './internal.ts'

const customersAtOnce = 200

/** Somebody may still arrive by a configuration that another process has remembered: it waits for them. */
const patienceMs = 2 * second

const beforeEverybody = '00000000-0000-0000-0000-000000000000'

/** The first portion's task. */
export function openAccountsTask(worldId: string, id: string, now: Date): TaskRow {
  return { ...newTask('open-accounts', worldId, beforeEverybody, new Date(now.getTime() + patienceMs)), id }
}

interface Customer {
  id: string
  isDeleted: boolean
  /** Of the currencies that they have accounts in. */
  currencies: readonly string[]
}

export const openAccounts = operation({
  name: 'openAccounts',
  permission: 'MANAGE',
  input: z.object({ afterCustomerId: z.string() }),
  output: z.object({ opened: z.int() }),
  async load({ database, worlds }, { worldId }, { afterCustomerId }) {
    const customers = await database.query<Customer>(
      `select c.id, c.is_deleted as "isDeleted",
         array(select a.currency from internal_account a where a.world_id = $1 and a.customer_id = c.id) as currencies
       from customer c
       where c.world_id = $1 and (c.created_at, c.id) > (
         select coalesce(max(b.created_at), '-infinity'), $2::uuid from customer b where b.id = $2 and b.world_id = $1)
       order by c.created_at, c.id limit $3`,
      [worldId, afterCustomerId, customersAtOnce],
    )
    return { customers, world: (await worlds.get(worldId))! }
  },
  decide(_input, { customers, world }, { now, newId }) {
    const missing = customers
      .filter(({ isDeleted }) => !isDeleted)
      .flatMap(({ id, currencies }) =>
        world.supportedCurrencies
          .filter(({ currencyCode }) => !currencies.includes(currencyCode))
          .map(({ currencyCode }) => newInternalAccount({ worldId: world.id, customerId: id }, currencyCode, newId(), now)),
      )
    const reply = { opened: missing.length }
    if (customers.length === 0) return { reply }
    return {
      reply,
      insert: {
        ledger_account: missing.flatMap(({ ledger_account }) => ledger_account),
        internal_account: missing.flatMap(({ internal_account }) => internal_account),
        task:
          customers.length < customersAtOnce
            ? []
            : [{ ...newTask('open-accounts', world.id, customers.at(-1)!.id), id: newId() }],
      },
    }
  },
})
