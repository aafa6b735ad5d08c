/** What a look-up at another provider costs beyond asking it over HTTP: signing, verifying, nonces, what is kept. */
import { getSignedLnurlpRequestUrl } from '@uma-sdk/core'
import { call, cpuMs, freePort, type Running, startGateway, withDatabase } from './gateway.ts'

const lookups = 500

export async function benchUma(): Promise<void> {
  console.log('\nA UMA look-up at another gateway, one after the other; both on this machine\n')
  console.log('| | ms each | CPU of the asking gateway, µs | CPU of the one that is asked, µs |\n|-|-|-|-|')
  await withDatabase('gateway_bench_uma_a', (first) =>
    withDatabase('gateway_bench_uma_b', async (second) => {
      const [a, b] = [await freePort(), await freePort()]
      const asking = await startProvider(first, a, b)
      const asked = await startProvider(second, b, a)
      try {
        await measure(asking, asked, b)
      } finally {
        await Promise.all([asking.stop(), asked.stop()])
      }
    }),
  )
}

function startProvider(databaseUrl: string, port: number, other: number): Promise<Running> {
  const provider = { name: 'Other', domain: `localhost:${other}`, environment: 'SANDBOX' }
  return startGateway({
    DATABASE_URL: databaseUrl,
    ALLOW_LOCAL_WEBHOOKS: '1',
    PORT: String(port),
    UMA_PROVIDERS: JSON.stringify([provider]),
  })
}

async function measure(asking: Running, asked: Running, port: number): Promise<void> {
  await call(asking, 'PATCH', '/config', { umaDomain: new URL(asking.url).host.replace('127.0.0.1', 'localhost') })
  await call(asked, 'PATCH', '/config', { umaDomain: `localhost:${port}` })
  const customer = {
    platformCustomerId: 'bob',
    customerType: 'INDIVIDUAL',
    fullName: 'Bob',
    umaAddress: `$bob@localhost:${port}`,
  }
  await call(asked, 'POST', '/customers', customer)
  const path = `/receiver/uma/${encodeURIComponent(customer.umaAddress)}`
  const lookUp = () => call(asking, 'GET', path)
  // What it is compared with: the same two calls, one in and one out, by somebody who signs and verifies nothing.
  const plain = async () => {
    await call(asking, 'GET', '/config')
    const url = await getSignedLnurlpRequestUrl({
      isSubjectToTravelRule: true,
      receiverAddress: customer.umaAddress,
      senderVaspDomain: 'nobody.example',
      signingPrivateKey: Buffer.alloc(32, 1),
    })
    await (await fetch(url)).text()
  }
  for (const [name, work] of [
    ['a look-up over REST', lookUp],
    ['GET /config, and a request that is refused unread', plain],
  ] as const) {
    for (let turn = 0; turn < 50; turn += 1) await work()
    const [at, ours, theirs] = [performance.now(), cpuMs(asking.pid), cpuMs(asked.pid)]
    for (let turn = 0; turn < lookups; turn += 1) await work()
    const each = (ms: number) => Math.round((ms * 1000) / lookups)
    console.log(
      `| ${name} | ${((performance.now() - at) / lookups).toFixed(2)} | ${each(cpuMs(asking.pid) - ours)} | ${each(cpuMs(asked.pid) - theirs)} |`,
    )
  }
}
