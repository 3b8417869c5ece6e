import { expect, it } from 'vitest'
import { createThing, type Thing } from '../helpers/http-client.ts'
import { codeOf, connectMqtt, type MqttAddress } from '../helpers/mqtt-client.ts'
import { serverOfTest } from '../helpers/of-test.ts'
import type { ServerProcess } from '../helpers/server-process.ts'

/** The default limit, which every other test of this folder lifts (contract §9). */

const allowed = 20
/** CONNACK for a bad credential, and for one too many, in each version. */
const versions = [
  { protocolVersion: 4, unknown: 4, tooMany: 5 },
  { protocolVersion: 5, unknown: 0x86, tooMany: 0x9f },
] as const
const unknownToken = 'A'.repeat(43)

it('the 21st bad credential over HTTP gets 429, a valid one still gets in, through either door', async () => {
  const { server, thing } = await startWithThing()
  for (let n = 0; n < allowed; n += 1) expect((await readAs(server, unknownToken)).status).toBe(401)
  const refused = await readAs(server, unknownToken)
  expect(refused.status).toBe(429)
  expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0)
  expect(await refused.json()).toMatchObject({ reason: 'too_many_failed_credentials', code: 429 })
  for (const { protocolVersion, tooMany } of versions) {
    const address = { url: server.mqttUrl, protocolVersion }
    expect(await connackOf(address, unknownToken)).toBe(tooMany)
    expect(await connackOf(address, thing.thingToken)).toBe(0)
  }
  expect((await readAs(server, thing.thingToken)).status).toBe(200)
})

it.each(versions)(
  'the 21st bad credential over MQTT gets CONNACK $tooMany, a valid one still gets in, through either door',
  async ({ protocolVersion, unknown, tooMany }) => {
    const { server, thing } = await startWithThing()
    const addresses = [server.mqttUrl, server.webSocketUrl].map(url => ({ url, protocolVersion }))
    for (let n = 0; n < allowed; n += addresses.length)
      for (const address of addresses) expect(await connackOf(address, unknownToken)).toBe(unknown)
    for (const address of addresses) expect(await connackOf(address, unknownToken)).toBe(tooMany)
    expect((await readAs(server, unknownToken)).status).toBe(429)
    for (const address of addresses) expect(await connackOf(address, thing.thingToken)).toBe(0)
    expect((await readAs(server, thing.thingToken)).status).toBe(200)
  },
)

async function startWithThing(): Promise<{ server: ServerProcess; thing: Thing }> {
  const server = await serverOfTest()
  return { server, thing: await createThing(server) }
}

function readAs({ url }: ServerProcess, thingToken: string): Promise<Response> {
  return fetch(`${url}/v2/things/${thingToken}/resources`)
}

async function connackOf(address: MqttAddress, password: string): Promise<number | undefined> {
  const client = await connectMqtt({ ...address, username: 'anybody', password })
  await client.destroy()
  return codeOf(client.connack)
}
