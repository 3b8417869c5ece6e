import { expect, it, onTestFinished } from 'vitest'
import { readAll } from '../helpers/http-client.ts'
import { mqttOfTest } from '../helpers/of-test.ts'
import { temporaryDirectory } from '../helpers/temporary-directory.ts'
import { TwoServers } from './two-servers.ts'

/** More than there are connections. */
const thingCount = 250
const rounds = 8

it('a server that forwards hands on the records of 250 things, each once, in the order of its thing', async () => {
  const servers = await TwoServers.open(await temporaryDirectory(), thingCount)
  onTestFinished(() => servers.end())
  const edge = await servers.startEdge()
  const told = new Map<string, unknown[]>()
  const reader = await mqttOfTest({
    url: servers.central.mqttUrl,
    username: 'x',
    password: servers.central.adminKey,
    onMessage: ({ topic, payload }) => {
      const thingId = topic.slice('v2/things/'.length)
      const values = (JSON.parse(String(payload)) as { value: unknown }[]).map(({ value }) => value)
      told.set(thingId, [...(told.get(thingId) ?? []), ...values])
    },
  })
  expect(await reader.subscribe('v2/things/+')).toBe(1)
  const writer = await mqttOfTest({ url: edge.mqttUrl, username: 'x', password: edge.adminKey })
  for (let round = 1; round <= rounds; round++) {
    if (round === 3) servers.path.refuse()
    if (round === 5) servers.path.restore()
    const body = { values: [{ key: 'n', value: round }] }
    await Promise.all(servers.things.map(({ here }) => writer.publish(`things/${here.thingId}/write`, body)))
  }
  await servers.untilForwarded()
  const expected = Array.from({ length: rounds }, (_, place) => place + 1)
  for (const { there } of servers.things) {
    const records = await readAll(servers.central, there, 'n')
    expect(records.map(({ value }) => value).reverse()).toEqual(expected)
  }
  await reader.ping()
  expect([...told.values()]).toEqual(servers.things.map(() => expected))
  const { stderr } = await edge.stop()
  // Node warns there of what it takes for a leak.
  expect(stderr.split('\n').filter(line => line !== '' && !line.startsWith('{'))).toEqual([])
})
