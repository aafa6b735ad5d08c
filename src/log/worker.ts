/**
 * Something that runs whenever it is woken and, once it has been, at the latest every `pollMs`; never twice at once. The poll covers a wake-up that was lost
 * with another process; in between, waking is what makes it prompt.
 */
export interface Worker {
  /** There is, or may be, something to do. */
  wake(): void
  /** Does what there is to do now; true if there was anything. */
  run(): Promise<boolean>
  /** Runs no more, once what is under way has ended. */
  stop(): Promise<void>
}

export interface WorkerOptions {
  pollMs: number
  /** How long to let more work gather after a portion; 0: not at all. */
  pauseMs: number
  onError: (error: unknown) => void
  /** Off in tests, which call `run` themselves. */
  background: boolean
}

/** `step` does one portion of work and tells whether there was any. */
export function createWorker(step: () => Promise<boolean>, { pollMs, pauseMs, onError, background }: WorkerOptions): Worker {
  let stopped = false
  let woken = false
  let working: Promise<void> | undefined
  let timer: NodeJS.Timeout | undefined

  async function work(): Promise<void> {
    while (woken && !stopped) {
      woken = false
      try {
        if (await step()) {
          woken = true
          if (pauseMs > 0) await new Promise((resolve) => setTimeout(resolve, pauseMs))
        }
      } catch (error) {
        if (!stopped) onError(error)
        break
      }
    }
    working = undefined
    if (!stopped) timer = setTimeout(wake, pollMs)
  }

  function wake(): void {
    woken = true
    if (stopped || working || !background) return
    clearTimeout(timer)
    working = work()
  }

  return {
    wake,
    run: step,
    async stop() {
      stopped = true
      clearTimeout(timer)
      await working
    },
  }
}
