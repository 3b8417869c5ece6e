import { setTimeout as delay } from 'node:timers/promises'
import { expect, it } from 'vitest'
import { createThing, readAll, type ServerAddress, type Thing } from '../../helpers/http-client.ts'
import { connectMqtt, type MqttClient } from '../../helpers/mqtt-client.ts'
import { serverOfTest } from '../../helpers/of-test.ts'
import type { ServerProcess } from '../../helpers/server-process.ts'
import { temporaryDirectory } from '../../helpers/temporary-directory.ts'
import { reading, writeTopicOf } from '../door-service.ts'
import { nextOn, numbers, passed, post, valuesOf } from '../messages.ts'

const session = { clientId: 'board', clean: false }

/** Writes through both doors until the server is gone. */
function startTraffic(server: ServerProcess, thing: Thing, round: number): Promise<unknown> {
  const write = async (door: 'HTTP' | 'MQTT', writer: number) => {
    const device = door === 'MQTT' ? await connect(server, thing) : undefined
    for (let count = 0; ; count++) {
      const body = reading(`${round} ${door} ${writer} ${count}`)
      if (device) await device.publish(writeTopicOf(thing.thingToken), body)
      else await post(server, thing, body)
    }
  }
  return Promise.allSettled([write('HTTP', 0), write('HTTP', 1), write('MQTT', 2), write('MQTT', 3)])
}

function connect({ mqttUrl }: ServerProcess, { thingToken }: Thing, options = {}): Promise<MqttClient> {
  return connectMqtt({ url: mqttUrl, username: thingToken, ...options })
}

async function storedValues(server: ServerAddress, thing: Thing): Promise<unknown[]> {
  return (await readAll(server, thing, 'n')).map(({ value }) => value).toReversed()
}

it('a session of a server that is killed again and again gets everything that was stored, in order, and sees again only what it had since it was last kept', async () => {
  const dataDir = await temporaryDirectory()
  let server = await serverOfTest({ dataDir })
  const thing = await createThing(server)
  const first = await connect(server, thing, session)
  await first.subscribeAll([`things/${thing.thingId}/values/n`, `things/${thing.thingId}/values/mark`])
  await passed(server, thing, first)
  await first.disconnect()

  let seen = 0
  for (const round of numbers(3)) {
    const traffic = startTraffic(server, thing, round)
    await delay(100)
    // In every other round it is away when the server dies.
    const client = await connect(server, thing, session)
    await nextOn(client, '/n')
    await delay(200)
    if (round % 2) await client.disconnect()
    await delay(100)
    await server.kill()
    await traffic
    await client.untilClosed()
    server = await serverOfTest({ dataDir })
    const stored = await storedValues(server, thing)
    const got = valuesOf(client, 'n')
    // What it saw before is a part of what is stored, without a gap before it.
    const start = stored.indexOf(got[0])
    expect(start).toBeGreaterThanOrEqual(0)
    expect(start).toBeLessThanOrEqual(seen)
    expect(got).toEqual(stored.slice(start, start + got.length))
    seen = Math.max(seen, start + got.length)
  }
  const last = await connect(server, thing, session)
  expect(last.connack.sessionPresent).toBe(true)
  await passed(server, thing, last)
  const stored = await storedValues(server, thing)
  const got = valuesOf(last, 'n')
  expect(stored.length - got.length).toBeLessThanOrEqual(seen)
  expect(got).toEqual(stored.slice(stored.length - got.length))
  await last.disconnect()
})

it('writes that were live only do not use up the numbers of those that a session misses after a crash', async () => {
  const dataDir = await temporaryDirectory()
  let server = await serverOfTest({ dataDir })
  const thing = await createThing(server)
  const first = await connect(server, thing, session)
  const live = async () => {
    for (const value of numbers(20)) await post(server, thing, { ...reading(value), store: false })
  }
  await live()
  await first.subscribeAll([`things/${thing.thingId}/values/n`, `things/${thing.thingId}/values/mark`])
  await passed(server, thing, first)
  await live()
  await passed(server, thing, first)
  expect(valuesOf(first, 'n')).toEqual(numbers(20))
  await first.disconnect()
  await live()
  await server.kill()
  server = await serverOfTest({ dataDir })
  await post(server, thing, reading('missed'))
  const client = await connect(server, thing, session)
  await passed(server, thing, client)
  expect(valuesOf(client, 'n')).toEqual(['missed'])
})
