/** Chance that can be replayed: the same seed makes the same choices. */
export interface Random {
  /** 0 ≤ n < limit */
  below(limit: number): number
  chance(probability: number): boolean
  pick<Item>(items: readonly Item[]): Item
  /** The items in another order. */
  shuffle<Item>(items: readonly Item[]): Item[]
}

export function random(seed: string): Random {
  let state = hash(seed)
  const next = () => {
    state = (state + 0x6d2b79f5) | 0
    let t = Math.imul(state ^ (state >>> 15), 1 | state)
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32
  }
  const below = (limit: number) => Math.floor(next() * limit)
  return {
    below,
    chance: (probability) => next() < probability,
    pick: (items) => items[below(items.length)]!,
    shuffle(items) {
      const left = [...items]
      return items.map(() => left.splice(below(left.length), 1)[0]!)
    },
  }
}

function hash(text: string): number {
  let value = 2166136261
  for (const letter of text) value = Math.imul(value ^ letter.codePointAt(0)!, 16777619)
  return value
}
