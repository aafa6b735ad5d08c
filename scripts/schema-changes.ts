/**
 * What changes for clients of the graph: schema.graphql beside what it was before it last changed, or at a commit that is named; breaking
 * changes first. Exits with 1 where there are any.
 *
 *   npm run schema:changes [-- <commit>]
 */
import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { changesBetween } from './schema-changes-between.ts'

const git = (...args: string[]) => execFileSync('git', args, { encoding: 'utf8' }).trim()

/** The last commit whose schema is not the one at hand. */
function lastOther(): string | undefined {
  if (git('status', '--porcelain', '--', 'schema.graphql') !== '') return 'HEAD'
  return git('log', '-2', '--format=%H', '--', 'schema.graphql').split('\n')[1]
}

const named = process.argv[2] ?? lastOther()
if (named === undefined) {
  console.log('There is no earlier schema.graphql here to compare with')
} else {
  const found = changesBetween(git('show', `${named}:schema.graphql`), readFileSync('schema.graphql', 'utf8'))
  for (const [kind, changes] of Object.entries(found)) for (const change of changes) console.log(`${kind}: ${change}`)
  const [breaking, dangerous, safe] = Object.values(found).map(({ length }) => length)
  console.log(`Since ${named.slice(0, 12)}: ${breaking} breaking, ${dangerous} dangerous, ${safe} safe changes`)
  if (found.breaking.length > 0) process.exitCode = 1
}
