import { expect, it } from 'vitest'
import { createThing, type Thing } from '../helpers/http-client.ts'
import { connectMqtt } from '../helpers/mqtt-client.ts'
import { serverOfTest } from '../helpers/of-test.ts'
import type { ServerProcess } from '../helpers/server-process.ts'

/** The default limit, which every other test of this folder lifts (contract §9). */

const allowed = 20
const unknownToken = 'A'.repeat(43)

it('the 21st bad credential over HTTP gets 429, a valid one still gets in, through either door', async () => {
  const { server, thing } = await startWithThing()
  for (let n = 0; n < allowed; n += 1) expect((await readAs(server, unknownToken)).status).toBe(401)
  const refused = await readAs(server, unknownToken)
  expect(refused.status).toBe(429)
  expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0)
  expect(await refused.json()).toMatchObject({ reason: 'too_many_failed_credentials', code: 429 })
  expect(await connackOf(server, unknownToken)).toBe(5)
  expect((await readAs(server, thing.thingToken)).status).toBe(200)
  expect(await connackOf(server, thing.thingToken)).toBe(0)
})

it('the 21st bad credential over MQTT gets CONNACK 5, a valid one still gets in, through either door', async () => {
  const { server, thing } = await startWithThing()
  for (let n = 0; n < allowed; n += 1) {
    const url = n % 2 === 0 ? server.mqttUrl : server.webSocketUrl
    expect(await connackOf(server, unknownToken, url)).toBe(4)
  }
  expect(await connackOf(server, unknownToken)).toBe(5)
  expect(await connackOf(server, unknownToken, server.webSocketUrl)).toBe(5)
  expect((await readAs(server, unknownToken)).status).toBe(429)
  expect(await connackOf(server, thing.thingToken)).toBe(0)
  expect(await connackOf(server, thing.thingToken, server.webSocketUrl)).toBe(0)
  expect((await readAs(server, thing.thingToken)).status).toBe(200)
})

async function startWithThing(): Promise<{ server: ServerProcess; thing: Thing }> {
  const server = await serverOfTest()
  return { server, thing: await createThing(server) }
}

function readAs({ url }: ServerProcess, thingToken: string): Promise<Response> {
  return fetch(`${url}/v2/things/${thingToken}/resources`)
}

async function connackOf(
  server: ServerProcess,
  password: string,
  url: string = server.mqttUrl,
): Promise<number | undefined> {
  const client = await connectMqtt({ url, username: 'anybody', password })
  await client.destroy()
  return client.connack.returnCode
}
