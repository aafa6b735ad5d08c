/**
 * Gives committed events their position. A row's own sequence number is drawn before its commit, so a reader that remembers the last one
 * it saw would step over rows that commit later; a position is drawn after the commit, by one leader at a time.
 */
import type { Database } from '../database/port.ts'

const most = 1000
const lockNumber = '7100406225116002'

/** One call places up to a thousand events and says how many; 0 also when another process is leading just now. */
export const sequencerRoutine = `
create or replace function place_events(most int) returns int language plpgsql as $function$
declare
  highest bigint;
  placed int;
  ids bigint[];
begin
  if not pg_try_advisory_xact_lock(${lockNumber}) then return 0; end if;
  select coalesce(max(position), 0) into highest from event;
  ids := array(select id from event where position is null order by id limit most);
  -- Of sorted ids, width_bucket says which one it is.
  update event set position = highest + width_bucket(id, ids) where id = any(ids);
  get diagnostics placed = row_count;
  return placed;
end $function$;`

export async function placeEvents(database: Database): Promise<number> {
  const [row] = await database.query<{ placed: number }>('select place_events($1::int) as placed', [most])
  return row!.placed
}
