/** Lists as queries: REST reads their items whole, the graph the columns of the fields that are asked for. */
import type { z } from 'zod'
import type { Place } from '../base/cursor.ts'
import { type Call, type Caller, type Core, inputOf, type Query, query } from './operation.ts'
import { type Condition, type ListSource, type Manner, mapPage, type Page, type PageInput, readPage } from './page.ts'
import type { Shape } from './shape.ts'

interface Reading<Input, Row, View, Given> {
  source: ListSource
  shape: Shape<Row, View, Given>
  /** What the shape needs besides rows. */
  given: (core: Core, caller: Caller) => Given
  conditions: (input: Input) => readonly Condition[]
  /** Oldest first. */
  ascending?: (input: Input) => boolean
}

export interface ListQuery<Input extends z.ZodType = z.ZodType, View = unknown> extends Query<Input, z.ZodType<Page<View>>> {
  // biome-ignore lint/suspicious/noExplicitAny: each list's own rows
  reading: Reading<z.output<Input>, any, View, any>
}

type Paged = z.ZodType<PageInput>

export function listQuery<Input extends Paged, Row extends Place, View, Given>(
  definition: Omit<Query<Input, z.ZodType<Page<View>>>, 'kind' | 'answer'> & Reading<z.output<Input>, Row, View, Given>,
): ListQuery<Input, View> {
  const { source, shape, given, conditions, ascending, ...rest } = definition
  const reading: Reading<z.output<Input>, Row, View, Given> = {
    source,
    shape,
    given,
    conditions,
    ...(ascending ? { ascending } : {}),
  }
  return {
    ...query({
      ...rest,
      answer: (core, caller, input) => read(core, caller, reading, input, { wanted: shape.columns }, shape.whole),
    }),
    reading,
  }
}

/** The page with items of which only these fields may be looked at. Refuses as `ask` does. */
export function askFields<Input extends z.ZodType, View>(
  core: Core,
  asked: ListQuery<Input, View>,
  call: Call,
  rawInput: unknown,
  { fields, backwards }: { fields: readonly string[]; backwards: boolean },
): Promise<Page<View>> {
  const input = inputOf(asked, call, rawInput)
  const { shape } = asked.reading
  const { columns: wanted, show } = shape.part(fields)
  return read(core, call.caller, asked.reading, input, { wanted, backwards, reading: 'shown' }, show)
}

async function read<Input, Row extends Place, View, Given>(
  core: Core,
  caller: Caller,
  { source, given, conditions, ascending }: Reading<Input, Row, View, Given>,
  input: Input,
  manner: Manner,
  show: (row: Row, given: Given) => View,
): Promise<Page<View>> {
  const page = { ...(input as PageInput), ...manner, ascending: ascending?.(input) ?? false }
  const found = await readPage<Row>(core.database, source, caller, conditions(input), page)
  const besides = given(core, caller)
  return mapPage(found, (row) => show(row, besides))
}
