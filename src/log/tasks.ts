/**
 * Work that commits leave behind, done at least once. A task is part of the commit that asks for it, so neither can exist without the
 * other; taking it moves its due time ahead, so that the task of a process that died comes back by itself.
 */
import { type Clock, minute, second } from '../base/clock.ts'
import type { Database } from '../database/port.ts'
import { selectList, type TaskRow } from '../database/tables.ts'

/** A task for a subject, with the subject's id; without an instant it is due at once. */
export function newTask(kind: string, worldId: string, subjectId: string, dueAt: Date = new Date(0)): TaskRow {
  return { id: subjectId, worldId, kind, subjectId, dueAt, attempts: 0 }
}

/** Over (undefined), or to be taken up again later. */
export type TaskHandler = (task: TaskRow) => Promise<{ againInMs: number } | undefined>

const atOnce = 50
/** A handler that takes longer is started again beside itself: handlers bear that, and a killed process's work comes back this soon. */
const leaseMs = 10 * second
const longestPauseMs = 5 * minute

/**
 * Of a statement whose loss in a crash does no harm: it need not wait for the disk. A lease or a deletion that is lost makes a task run
 * again, which handlers bear.
 */
const lazily = `(select set_config('synchronous_commit', 'off', true)) = 'off'`

/** Takes what is due and does it; true if there was anything. */
export async function runDueTasks(
  database: Database,
  clock: Clock,
  handlers: Readonly<Record<string, TaskHandler>>,
  onError: (error: unknown, task: TaskRow) => void,
): Promise<boolean> {
  const tasks = await take(database, clock)
  if (tasks.length === 0) return false
  const pauses = await Promise.all(tasks.map((task) => run(task, handlers, onError)))
  const again = tasks.flatMap((task, index) => (pauses[index] === undefined ? [] : [{ id: task.id, pauseMs: pauses[index]! }]))
  const done = tasks.filter((_task, index) => pauses[index] === undefined)
  await Promise.all([
    done.length > 0
      ? database.query(`delete from task where id = any($1::uuid[]) and ${lazily}`, [done.map(({ id }) => id)])
      : undefined,
    again.length > 0 ? putOff(database, clock, again) : undefined,
  ])
  return true
}

async function putOff(database: Database, clock: Clock, again: readonly { id: string; pauseMs: number }[]): Promise<void> {
  await database.query(
    `update task t set due_at = coalesce($3::timestamptz, clock_timestamp()) + make_interval(secs => later.ms / 1000)
     from unnest($1::uuid[], $2::text[]::double precision[]) as later(id, ms) where t.id = later.id`,
    [again.map(({ id }) => id), again.map(({ pauseMs }) => String(pauseMs)), clock.pinned()],
  )
}

async function take(database: Database, clock: Clock): Promise<TaskRow[]> {
  return database.query<TaskRow>(
    `update task t set due_at = coalesce($1::timestamptz, clock_timestamp()) + make_interval(secs => ${leaseMs / second}), attempts = attempts + 1
     where t.id = any(array(
       select id from task where ${lazily} and due_at <= coalesce($1::timestamptz, clock_timestamp()) order by due_at limit ${atOnce} for update skip locked
     )) returning ${selectList('task', 't')}`,
    [clock.pinned()],
  )
}

async function run(
  task: TaskRow,
  handlers: Readonly<Record<string, TaskHandler>>,
  onError: (error: unknown, task: TaskRow) => void,
): Promise<number | undefined> {
  const handler = handlers[task.kind]
  try {
    if (!handler) throw new Error(`no handler for tasks of kind ${task.kind}`)
    return (await handler(task))?.againInMs
  } catch (error) {
    onError(error, task)
    return Math.min(second * 2 ** Math.min(task.attempts, 20), longestPauseMs)
  }
}
