import { expect, test, vi } from 'vitest'
import { systemClock } from '../../src/base/clock.ts'

test('the clock follows the database, however wrong the process is', () => {
  vi.useFakeTimers({ now: new Date('2026-01-01T01:00:00Z') })
  const clock = systemClock()
  clock.observe(new Date('2026-01-01T00:00:00Z'))
  vi.advanceTimersByTime(1500)
  expect(clock.now()).toEqual(new Date('2026-01-01T00:00:01.500Z'))
  expect(clock.pinned()).toBeNull()
  vi.useRealTimers()
})
