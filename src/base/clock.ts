/**
 * The gateway's clock follows the database's: every commit reports the instant at which the database decided, and `now` is corrected
 * by it, so processes with wrong clocks stamp and judge alike.
 */
export interface Clock {
  /** The best knowledge of the database's time. */
  now(): Date
  /** The instant SQL must use instead of the database's own clock: null outside tests. */
  pinned(): Date | null
  /** Tell the clock what the database's clock said just now. */
  observe(databaseTime: Date): void
}

export function systemClock(): Clock {
  let offsetMs = 0
  return {
    now: () => new Date(Date.now() + offsetMs),
    pinned: () => null,
    observe(databaseTime) {
      offsetMs = databaseTime.getTime() - Date.now()
    },
  }
}

export interface ManualClock extends Clock {
  advance(milliseconds: number): void
}

/** A clock that moves only when told to: for tests and simulations. The database obeys it too. */
export function manualClock(start: Date): ManualClock {
  let at = start.getTime()
  return {
    now: () => new Date(at),
    pinned: () => new Date(at),
    observe: () => {},
    advance(milliseconds) {
      at += milliseconds
    },
  }
}

export const second = 1000
export const minute = 60 * second
export const hour = 60 * minute
export const day = 24 * hour
