/**
 * How a row is shown as the specification's resource: each field, from the columns it needs. REST shows it whole; the graph reads the columns
 * of the fields that are asked for, and shows those. Amounts and instants may come as the text that answers have (`Reading`): fields show
 * them as they are, and calculate with none.
 */

type Fields<Row, View, Given> = {
  readonly [Field in keyof View]-?: readonly [
    columns: readonly (keyof Row & string)[],
    show: (row: Row, given: Given) => View[Field] | undefined,
  ]
}

/** Some of a resource's fields. */
interface Part<Row, View, Given> {
  /** The columns that they need. */
  columns: readonly string[]
  /** A view that has no others. */
  show(row: Row, given: Given): View
}

export interface Shape<Row, View, Given> {
  /** All of it; what is undefined is left out. */
  whole(row: Row, given: Given): View
  /** A view of a whole row that makes each field when it is first looked at. */
  lazily(row: Row, given: Given): View
  /** Those of all fields. */
  columns: readonly string[]
  /** These fields; of names that are not fields of this resource, all that it has. */
  part(fields: readonly string[]): Part<Row, View, Given>
}

/** Each is a shape of objects of its own, and a statement that the database keeps prepared: there must not be too many. */
const mostParts = 100

/** `Given`: what fields need besides the row. */
export function shapeOf<Row, View, Given = void>(fields: Fields<Row, View, Given>): Shape<Row, View, Given> {
  type Entry = [name: string, field: readonly [readonly string[], (row: Row, given: Given) => unknown]]
  const entries = Object.entries(fields) as Entry[]
  const all = new Map(entries)

  class Lazy {
    readonly row: Row
    readonly given: Given
    /** By the place of the field. Whoever looks at a field looks at it several times. */
    readonly made: unknown[] = []
    constructor(row: Row, given: Given) {
      this.row = row
      this.given = given
    }
  }
  for (const [index, [name, [, show]]] of entries.entries()) {
    Object.defineProperty(Lazy.prototype, name, {
      get(this: Lazy) {
        this.made[index] ??= show(this.row, this.given)
        return this.made[index]
      },
    })
  }

  const columnsOf = (chosen: readonly Entry[]) => [...new Set(chosen.flatMap(([, [needed]]) => needed))].sort()
  const columns = columnsOf(entries)
  const lazily = (row: Row, given: Given) => new Lazy(row, given) as View
  const everything: Part<Row, View, Given> = { columns, show: lazily }
  const parts = new Map<string, Part<Row, View, Given>>()

  function newPart(names: readonly string[]): Part<Row, View, Given> {
    const chosen = names.map((name) => [name, all.get(name)!] satisfies Entry)
    const shows = chosen.map(([name, [, show]]) => [name, show] as const)
    return {
      columns: columnsOf(chosen),
      show(row, given) {
        const view: Record<string, unknown> = {}
        for (const [name, show] of shows) view[name] = show(row, given)
        return view as View
      },
    }
  }

  return {
    columns,
    whole(row, given) {
      const view: Record<string, unknown> = {}
      for (const [name, [, show]] of entries) {
        const value = show(row, given)
        if (value !== undefined) view[name] = value
      }
      return view as View
    },
    lazily,
    part(names) {
      const key = names.join()
      let part = parts.get(key)
      if (!part) {
        part = parts.size < mostParts && names.every((name) => all.has(name)) ? newPart(names) : everything
        if (part !== everything) parts.set(key, part)
      }
      return part
    },
  }
}
