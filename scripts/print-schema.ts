/** Writes schema.graphql and openapi.json as the code defines them. A test fails while they differ. */
import { writeFileSync } from 'node:fs'
import { printedSchema } from '../src/graphql/schema.ts'
import { printedOpenApi } from '../src/rest/router.ts'

writeFileSync(new URL('../schema.graphql', import.meta.url), printedSchema())
writeFileSync(new URL('../openapi.json', import.meta.url), printedOpenApi())
