/** Whether a payment is the one that an invitation has promised: claimed, with an amount, and not paid since. */
import type { Queryable } from '../../database/port.ts'
import type { CustomerRow } from '../../database/tables.ts'

export async function isPromised(database: Queryable, { worldId, id }: CustomerRow, inviteeUma: string): Promise<boolean> {
  const rows = await database.query(
    `select 1 from invitation i
     where i.inviter_customer_id = $2 and i.world_id = $1 and i.invitee_uma = $3 and i.status = 'CLAIMED' and i.amount_to_send is not null
       and not exists (
         select from transaction t
         where t.world_id = $1 and t.customer_id = $2 and t.created_at >= i.claimed_at and t.destination_uma_address = $3
           and t.status in ('PROCESSING', 'SENT', 'COMPLETED'))
     limit 1`,
    [worldId, id, inviteeUma],
  )
  return rows.length > 0
}
