/**
 * Gives committed events their position, and their number among the events of their resource. A row's own sequence number is drawn before
 * its commit, so a reader that remembers the last one it saw would step over rows that commit later; a position is drawn after the commit,
 * by one leader at a time.
 */
import type { Database } from '../database/port.ts'

const most = 1000
const lockNumber = '7100406225116002'

/** One call places up to a thousand events and says how many. Whoever comes while another leads waits, and places what is left. */
export const sequencerRoutine = `
create or replace function place_events(most int) returns int language plpgsql set enable_seqscan = off as $function$
declare
  highest bigint;
  ids bigint[];
  numbers int[];
begin
  if not exists (select 1 from event where position is null) then return 0; end if;
  perform pg_advisory_xact_lock(${lockNumber});
  ids := array(select id from event where position is null order by id limit most);
  if cardinality(ids) = 0 then return 0; end if;
  select coalesce(max(position), 0) into highest from event;
  numbers := array(
    select row_number() over (partition by e.resource_id order by e.id) + coalesce(
      (select told.sequence from event told where told.resource_id = e.resource_id and told.sequence is not null order by told.sequence desc limit 1), 0)
    from event e where e.id = any(ids) order by e.id);
  -- Of sorted ids, width_bucket says which one it is.
  update event set position = highest + width_bucket(id, ids), sequence = numbers[width_bucket(id, ids)] where id = any(ids);
  return cardinality(ids);
end $function$;`

export async function placeEvents(database: Database): Promise<number> {
  const [row] = await database.query<{ placed: number }>('select place_events($1::int) as placed', [most])
  return row!.placed
}
