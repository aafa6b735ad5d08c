/** Two schemas compared, by what the changes mean for the documents that clients have. */
import { BreakingChangeType, buildSchema, DangerousChangeType, findSchemaChanges } from 'graphql'

export interface Changes {
  breaking: string[]
  dangerous: string[]
  safe: string[]
}

export function changesBetween(before: string, after: string): Changes {
  const found: Changes = { breaking: [], dangerous: [], safe: [] }
  for (const { type, description } of findSchemaChanges(buildSchema(before), buildSchema(after))) {
    const kind = type in BreakingChangeType ? 'breaking' : type in DangerousChangeType ? 'dangerous' : 'safe'
    found[kind].push(description)
  }
  return found
}
