/**
 * How a row is shown as the specification's resource: each field, from the columns it needs. REST shows it whole; the graph reads the columns
 * of the fields that are asked for, and makes each of them when it is looked at.
 */

type Fields<Row, View, Given> = {
  readonly [Field in keyof View]-?: readonly [
    columns: readonly (keyof Row & string)[],
    show: (row: Row, given: Given) => View[Field] | undefined,
  ]
}

export interface Shape<Row, View, Given> {
  /** All of it; what is undefined is left out. */
  whole(row: Row, given: Given): View
  /** A view that makes each field when it is looked at. Of a row with some of its columns only fields that need no others may be. */
  lazily(row: Row, given: Given): View
  /** Those of all fields. */
  columns: readonly string[]
  /** The columns that fields need; undefined where one of them is not of this resource. */
  columnsOf(fields: Iterable<string>): readonly string[] | undefined
}

/** `Given`: what fields need besides the row. */
export function shapeOf<Row, View, Given = void>(fields: Fields<Row, View, Given>): Shape<Row, View, Given> {
  type Entry = [name: string, field: readonly [readonly string[], (row: Row, given: Given) => unknown]]
  const entries = Object.entries(fields) as Entry[]
  const columns = new Map(entries.map(([name, [needed]]) => [name, needed]))

  class Lazy {
    readonly row: Row
    readonly given: Given
    constructor(row: Row, given: Given) {
      this.row = row
      this.given = given
    }
  }
  for (const [name, [, show]] of entries) {
    Object.defineProperty(Lazy.prototype, name, {
      get(this: Lazy) {
        return show(this.row, this.given)
      },
    })
  }

  const all = [...new Set(entries.flatMap(([, [needed]]) => needed))].sort()

  return {
    columns: all,
    whole(row, given) {
      const view: Record<string, unknown> = {}
      for (const [name, [, show]] of entries) {
        const value = show(row, given)
        if (value !== undefined) view[name] = value
      }
      return view as View
    },
    lazily: (row, given) => new Lazy(row, given) as View,
    columnsOf(names) {
      const needed = new Set<string>()
      for (const name of names) {
        const of = columns.get(name)
        if (!of) return undefined
        for (const column of of) needed.add(column)
      }
      return [...needed].sort()
    },
  }
}
