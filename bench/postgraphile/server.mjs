/**
 * PostGraphile over the gateway's tables: the Amber preset with its own server, nothing watched, no credentials, worlds or limits.
 * `node bench/postgraphile/server.mjs <database url>`; prints its port.
 */
import { createServer } from 'node:http'
import { postgraphile } from 'postgraphile'
import { makePgService } from 'postgraphile/adaptors/pg'
import { grafserv } from 'postgraphile/grafserv/node'
import { PostGraphileAmberPreset } from 'postgraphile/presets/amber'

const preset = {
  extends: [PostGraphileAmberPreset],
  pgServices: [makePgService({ connectionString: process.argv[2], schemas: ['public'], pubsub: false, poolConfig: { max: 10 } })],
  grafserv: { graphqlPath: '/graphql', graphiql: false, watch: false, maxRequestLength: 262_144 },
  grafast: { explain: false },
}

const server = createServer()
server.on('error', () => {})
await postgraphile(preset).createServ(grafserv).addTo(server)
server.listen(0, '127.0.0.1', () => console.log(`port ${server.address().port}`))
