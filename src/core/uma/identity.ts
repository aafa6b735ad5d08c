/** Who a world is among providers of UMA addresses: its domain, and the keys it signs with and is written to with. */
import { createECDH } from 'node:crypto'
import { DomainError } from '../../base/refusal.ts'
import type { Database } from '../../database/port.ts'
import { selectList, type UmaKeyRow } from '../../database/tables.ts'
import type { UmaIdentity } from '../../rails/uma.ts'
import type { Core } from '../operation.ts'
import type { World } from '../platform/world.ts'

/** The world whose customers' addresses are on this domain, also where requests are forwarded by its subdomain. */
export async function worldOfDomain({ database, worlds }: Core, domain: string): Promise<World | undefined> {
  const [row] = await database.query<{ id: string }>(
    'select id from world where uma_domain = $1 union all select id from world where proxy_uma_subdomain = $1 limit 1',
    [domain],
  )
  return row && worlds.get(row.id)
}

export async function umaIdentity(core: Core, world: World): Promise<UmaIdentity> {
  const { signingPrivateKey } = await umaKeysOf(core, world.id)
  const allowLocal = world.environment === 'SANDBOX' && core.settings.allowLocalWebhooks
  return { domain: world.umaDomain, signingKey: Buffer.from(signingPrivateKey, 'hex'), allowLocal }
}

/** Made when they are first needed; of several that ask at once, one makes them. */
export async function umaKeysOf(core: Core, worldId: string): Promise<UmaKeyRow> {
  const known = await readKeys(core.database, worldId)
  if (known) return known
  const [signing, encryption] = [newPair(), newPair()]
  const made: UmaKeyRow = {
    id: worldId,
    worldId,
    signingPublicKey: signing.publicKey,
    encryptionPublicKey: encryption.publicKey,
    signingPrivateKey: signing.privateKey,
    encryptionPrivateKey: encryption.privateKey,
    createdAt: core.clock.now(),
  }
  const outcome = await core.commit({ reply: made, insert: { uma_key: [made] } })
  if (outcome.kind === 'done') return made
  const theirs = await readKeys(core.database, worldId)
  if (!theirs) throw new DomainError('CONFLICT', 'The keys could not be made; try again')
  return theirs
}

async function readKeys(database: Database, worldId: string): Promise<UmaKeyRow | undefined> {
  const [row] = await database.query<UmaKeyRow>(`select ${selectList('uma_key')} from uma_key where world_id = $1`, [worldId])
  return row
}

function newPair(): { publicKey: string; privateKey: string } {
  const pair = createECDH('secp256k1')
  pair.generateKeys()
  return { publicKey: pair.getPublicKey('hex'), privateKey: pair.getPrivateKey('hex').padStart(64, '0') }
}
