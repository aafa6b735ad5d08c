/** Two gateways on loopback that are providers of UMA addresses to each other, and a provider that is nothing but the protocol's library. */
import { createECDH } from 'node:crypto'
import { createServer, type IncomingMessage, type Server } from 'node:http'
import { type AddressInfo, createServer as createTcpServer } from 'node:net'
import { PubKeyResponse } from '@uma-sdk/core'

/** Ports that nobody listens on just now. */
export async function freePorts(count: number): Promise<number[]> {
  const servers = await Promise.all(
    Array.from({ length: count }, () => {
      const server = createTcpServer()
      return new Promise<Server>((resolve) => server.listen(0, '127.0.0.1', () => resolve(server as unknown as Server)))
    }),
  )
  const ports = servers.map((server) => (server.address() as AddressInfo).port)
  await Promise.all(servers.map((server) => new Promise((resolve) => server.close(resolve))))
  return ports
}

export interface KeyPair {
  publicKey: string
  privateKey: Buffer
}

export function newKeyPair(): KeyPair {
  const pair = createECDH('secp256k1')
  pair.generateKeys()
  return { publicKey: pair.getPublicKey('hex'), privateKey: Buffer.from(pair.getPrivateKey('hex').padStart(64, '0'), 'hex') }
}

interface Asked {
  method: string
  url: URL
  body: string
}

type Answer = { status: number; body: string } | undefined

export interface LibraryProvider {
  domain: string
  signing: KeyPair
  encryption: KeyPair
  /** What it was asked besides its keys. */
  asked: Asked[]
  /** Undefined: 404. */
  answer: (asked: Asked) => Answer | Promise<Answer>
  /** What it says that its keys are. */
  shownKeys: { signing: string; encryption: string } | string
  close(): void
}

export async function openLibraryProvider(port: number): Promise<LibraryProvider> {
  const [signing, encryption] = [newKeyPair(), newKeyPair()]
  const server = createServer(async (request, response) => {
    const url = new URL(request.url!, `http://${provider.domain}`)
    const body = await textOf(request)
    if (url.pathname === '/.well-known/lnurlpubkey') {
      const { shownKeys: keys } = provider
      const shown =
        typeof keys === 'string' ? keys : new PubKeyResponse(undefined, undefined, keys.signing, keys.encryption).toJsonString()
      response.writeHead(200, { 'content-type': 'application/json' }).end(shown)
      return
    }
    provider.asked.push({ method: request.method!, url, body })
    const answer = (await provider.answer({ method: request.method!, url, body })) ?? { status: 404, body: '{}' }
    response.writeHead(answer.status, { 'content-type': 'application/json' }).end(answer.body)
  })
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve))
  const provider: LibraryProvider = {
    domain: `localhost:${port}`,
    signing,
    encryption,
    asked: [],
    answer: () => undefined,
    shownKeys: { signing: signing.publicKey, encryption: encryption.publicKey },
    close() {
      server.closeAllConnections()
      server.close()
    },
  }
  return provider
}

async function textOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk as Buffer)
  return Buffer.concat(chunks).toString()
}

/** UMA_PROVIDERS of a gateway that may pay these. */
export function providersOf(ports: readonly number[], more: readonly object[] = []): string {
  const listed = ports.map((port) => ({
    name: `Provider ${port}`,
    domain: `localhost:${port}`,
    environment: 'SANDBOX',
    regions: ['US', 'DE'],
    currencies: ['USD', 'EUR'],
  }))
  return JSON.stringify([...listed, ...more])
}
