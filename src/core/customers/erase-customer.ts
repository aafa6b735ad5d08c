/**
 * What is known of a deleted customer as a person is erased, where the platform asks for it: from the customer and their accounts at once, from
 * the log and what was sent of it by a task. Payments, their amounts and the books stay as they are.
 */

import { toId } from '../../base/ids.ts'
import { stringifyJson } from '../../base/json.ts'
import { erasedAccount, withoutPersonal } from '../../database/personal.ts'
import type { Queryable } from '../../database/port.ts'
import { type CustomerRow, type ExternalAccountRow, selectList, type TaskRow, type WorldRow } from '../../database/tables.ts'
import { bodyOf, eventColumns, type LoggedEvent } from '../../log/event.ts'
import { newTask } from '../../log/tasks.ts'
import type { Moment } from '../operation.ts'
import { generateUmaAddress } from './uma-address.ts'

const eventsAtOnce = 500

export async function accountsOf(database: Queryable, { worldId, id }: CustomerRow): Promise<ExternalAccountRow[]> {
  return database.query<ExternalAccountRow>(
    `select ${selectList('external_account', 't')} from external_account t where t.world_id = $1 and t.customer_id = $2`,
    [worldId, id],
  )
}

/** What is left of the customer and their accounts, and the task of the rest. */
export function erasure(customer: CustomerRow, accounts: readonly ExternalAccountRow[], { now }: Moment) {
  const erased: CustomerRow = {
    ...customer,
    umaAddress: generateUmaAddress(customer.umaAddress.slice(customer.umaAddress.indexOf('@') + 1)),
    fullName: null,
    birthDate: null,
    nationality: null,
    email: null,
    address: null,
    businessInfo: null,
    beneficialOwners: null,
    isDeleted: true,
    updatedAt: now,
  }
  const left = accounts.map((account) => ({
    ...account,
    accountInfo: erasedAccount(account.accountInfo),
    primaryIdentifier: '',
    fingerprint: account.id,
    isDeleted: true,
    updatedAt: now,
  }))
  return { erased, accounts: left, task: eraseTask(customer) }
}

function eraseTask({ id, worldId }: CustomerRow): TaskRow {
  return newTask('erase-customer', worldId, id)
}

/** Run by its task, as often as it likes. False: events of the customer have no place in the log yet, so it must be run again. */
export async function eraseFromLog(
  database: Queryable,
  worldId: string,
  customerId: string,
  envelope: WorldRow['webhookEnvelope'],
): Promise<boolean> {
  const unplaced = await database.query('select 1 from event where position is null and customer_id = $1 limit 1', [customerId])
  for (let after = 0n; ; ) {
    const events = await database.query<LoggedEvent>(
      `select ${eventColumns} from event e where e.customer_id = $1 and e.world_id = $2 and e.position is not null and e.position > $3
       order by e.position limit ${eventsAtOnce}`,
      [customerId, worldId, after],
    )
    await forget(
      database,
      events.map((event) => ({ ...event, payload: withoutPersonal(event.payload) })),
      envelope,
    )
    if (events.length < eventsAtOnce) break
    after = events.at(-1)!.position
  }
  const ofCustomer = `in (select t.id from transaction t where t.world_id = $1 and t.customer_id = $2)`
  await database.query(`update transaction set counterparty_information = null where world_id = $1 and customer_id = $2`, [
    worldId,
    customerId,
  ])
  await database.query(`update approval set receiver_user_info = null where transaction_id ${ofCustomer}`, [worldId, customerId])
  await database.query(`update pay_request set payer_data = null where id ${ofCustomer}`, [worldId, customerId])
  await eraseReplies(database, worldId, toId('Customer', customerId))
  return unplaced.length === 0
}

async function forget(database: Queryable, events: readonly LoggedEvent[], envelope: WorldRow['webhookEnvelope']): Promise<void> {
  if (events.length === 0) return
  const rows = events.map((event) => ({ uuid: event.uuid, payload: event.payload, body: bodyOf(event, envelope) }))
  const given = [stringifyJson(rows)]
  await database.query(
    `update event e set payload = r.payload from json_to_recordset($1::text::json) as r(uuid uuid, payload jsonb)
     where e.uuid = r.uuid and e.payload <> r.payload`,
    given,
  )
  await database.query(
    `update webhook_delivery d set body = r.body from json_to_recordset($1::text::json) as r(uuid uuid, body text)
     where d.id = r.uuid and d.body like 'sealed:%'`,
    given,
  )
  await database.query(
    `update webhook_attempt a set response_body = null from json_to_recordset($1::text::json) as r(uuid uuid)
     where a.delivery_id = r.uuid and a.response_body is not null`,
    given,
  )
}

/** What was answered to idempotency keys, of the customer and of their accounts. */
async function eraseReplies(database: Queryable, worldId: string, customerId: string): Promise<void> {
  const replies = await database.query<{ operation: string; key: string; reply: unknown }>(
    `select operation, key, reply from idempotency_key where world_id = $1 and (reply->>'id' = $2 or reply->>'customerId' = $2)`,
    [worldId, customerId],
  )
  const rows = replies.map(({ operation, key, reply }) => ({ operation, key, reply: withoutPersonal(reply) }))
  await database.query(
    `update idempotency_key k set reply = r.reply from json_to_recordset($2::text::json) as r(operation text, key text, reply jsonb)
     where k.world_id = $1 and k.operation = r.operation and k.key = r.key`,
    [worldId, stringifyJson(rows)],
  )
}
