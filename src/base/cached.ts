/** Reference data kept in the process for a moment: short enough that a change made by another process is seen within a second. */
export interface Cached<Value> {
  get(key: string): Promise<Value | undefined>
  /** Forget one, after changing it here. */
  drop(key: string): void
  /** Forget all. */
  clear(): void
}

const lifetimeMs = 800
const mostEntries = 10_000

/** Loads on demand and also remembers for as long that something does not exist. Concurrent askers share one load. */
export function cached<Value>(load: (key: string) => Promise<Value | undefined>): Cached<Value> {
  const entries = new Map<string, { value: Promise<Value | undefined>; until: number }>()
  return {
    get(key) {
      const now = performance.now()
      const entry = entries.get(key)
      if (entry && entry.until > now) return entry.value
      const value = load(key)
      entries.delete(key)
      if (entries.size >= mostEntries) entries.delete(entries.keys().next().value!)
      entries.set(key, { value, until: now + lifetimeMs })
      value.catch(() => entries.delete(key))
      return value
    },
    drop(key) {
      entries.delete(key)
    },
    clear: () => entries.clear(),
  }
}
