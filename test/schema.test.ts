import { execFileSync } from 'node:child_process'
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { buildSchema, getIntrospectionQuery, isEnumType, isInputObjectType, isInterfaceType, isObjectType } from 'graphql'
import { expect, test } from 'vitest'
import { printedSchema } from '../src/graphql/schema.ts'
import { printedOpenApi } from '../src/rest/router.ts'
import { useWorld } from './world.ts'

const world = useWorld()

test('schema.graphql and openapi.json are what the code says (npm run schema writes them)', () => {
  expect(readFileSync('schema.graphql', 'utf8')).toBe(printedSchema())
  expect(readFileSync('openapi.json', 'utf8')).toBe(printedOpenApi())
})

test('everything in the schema is described', () => {
  const undescribed: string[] = []
  for (const type of Object.values(buildSchema(printedSchema()).getTypeMap())) {
    if (type.name.startsWith('__') || ['String', 'Int', 'Float', 'Boolean', 'ID'].includes(type.name)) continue
    if (!type.description) undescribed.push(type.name)
    if (isEnumType(type))
      undescribed.push(
        ...type
          .getValues()
          .filter(({ description }) => !description)
          .map(({ name }) => `${type.name}.${name}`),
      )
    if (!isObjectType(type) && !isInterfaceType(type) && !isInputObjectType(type)) continue
    for (const field of Object.values(type.getFields())) {
      if (!field.description) undescribed.push(`${type.name}.${field.name}`)
      if (!('args' in field)) continue
      for (const { name, description } of field.args) if (!description) undescribed.push(`${type.name}.${field.name}(${name})`)
    }
  }
  expect(undescribed).toEqual([])
})

test('relay-compiler accepts the schema with queries, a pagination fragment, a mutation and a subscription', () => {
  const folder = mkdtempSync(join(tmpdir(), 'gateway-relay-'))
  cpSync('test/relay', join(folder, 'src'), { recursive: true })
  cpSync('schema.graphql', join(folder, 'schema.graphql'))
  writeFileSync(
    join(folder, 'relay.config.json'),
    JSON.stringify({ src: './src', schema: './schema.graphql', language: 'typescript', noFutureProofEnums: true }),
  )
  writeFileSync(join(folder, 'package.json'), '{}')
  const compiler = createRequire(import.meta.url).resolve('relay-compiler/cli.js')
  const output = execFileSync(process.execPath, [compiler], { cwd: folder, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] })
  rmSync(folder, { recursive: true })
  expect(output).toMatch(/compiled documents: [1-9]/)
})

test('introspection fits into the limits', async () => {
  const { body } = await world.graphql(getIntrospectionQuery())
  expect(body['errors']).toBeUndefined()
  expect(body['data'].__schema.types.length).toBeGreaterThan(50)
})
