/** Writes schema.graphql as the code defines it. A test fails while the two differ. */
import { writeFileSync } from 'node:fs'
import { printedSchema } from '../src/graphql/schema.ts'

writeFileSync(new URL('../schema.graphql', import.meta.url), printedSchema())
