import { expect } from 'vitest'
import { connectMqtt, type MqttClient } from '../../helpers/mqtt-client.ts'
import { StreamClient } from '../../http/stream-client.ts'
import { ask } from '../run-http.ts'
import { addressOf } from '../run-mqtt.ts'
import { activate, type HttpStory, login, type MqttStory, writeValue } from './story.ts'

const rounds = 20

/** Getting in at the very moment at which a credential dies. */
export const mqttRaces: readonly MqttStory[] = [
  {
    name: 'a session that connects while it is removed is not left in',
    async run(world, way) {
      const thing = await world.operator.createThing()
      for (let round = 0; round < rounds; round += 1) {
        const session = await world.operator.createSession({ things: [thing.thingId], access: 'write' })
        const address = { url: addressOf(world, way), clientId: 'racing', clean: round % 2 === 0 }
        const password = session.sessionToken
        const [client] = await Promise.all([
          connectMqtt({ ...address, username: 'anybody', password }).catch(() => undefined),
          later(round, () => world.operator.removeSession(session.sessionId)),
        ])
        await client?.untilClosed()
      }
    },
  },
  {
    name: 'a session that subscribes while it is removed is not left in',
    async run(world, way) {
      const thing = await world.operator.createThing()
      for (let round = 0; round < rounds; round += 1) {
        const session = await world.operator.createSession({ things: [thing.thingId], access: 'read' })
        const client = await login(world, way, session.sessionToken, { clientId: 'racing', clean: false })
        await Promise.all([
          client.subscribe(`things/${thing.thingId}/values/n`).catch(() => undefined),
          later(round, () => world.operator.removeSession(session.sessionId)),
        ])
        await client.untilClosed()
      }
    },
  },
  {
    name: 'an anonymous client that subscribes while its token is removed is refused or not left in',
    async run(world, way) {
      const thing = await world.operator.createThing()
      for (let round = 0; round < rounds; round += 1) {
        const token = await world.operator.addToken(thing)
        const client = await login(world, way, undefined)
        const [granted] = await Promise.all([
          client.subscribe(`things/${token.thingToken}/values/n`).catch(() => undefined),
          later(round, () => world.operator.removeToken(thing, token.tokenId)),
        ])
        if (granted === 128) await client.disconnect()
        else await client.untilClosed()
      }
    },
  },
  {
    name: 'one code asked for by many at one time leaves one token that is valid',
    async run(world, way) {
      const [code = ''] = await world.operator.createActivationCodes(1)
      const devices: MqttClient[] = []
      for (let n = 0; n < 5; n += 1) devices.push(await login(world, way, undefined))
      const things = await Promise.all(
        devices.map((device, n) => activate(device, `v2/activations/${code}/${n}`)),
      )
      expect(new Set(things.map(({ thingId }) => thingId)).size).toBe(1)
      const statuses = []
      for (const { thingToken } of things) {
        const request = `GET /v2/things/${thingToken}/resources`
        statuses.push((await ask(world, { name: 'activated', request })).status)
      }
      expect(statuses.sort()).toEqual([200, 401, 401, 401, 401])
      for (const device of devices) await device.disconnect()
    },
  },
]

export const httpRaces: readonly HttpStory[] = [
  {
    name: 'a stream that is asked for while its session is removed is refused or ended',
    async run(world) {
      const thing = await world.operator.createThing()
      for (let round = 0; round < rounds; round += 1) {
        const session = await world.operator.createSession({ things: [thing.thingId], access: 'read' })
        const headers = { authorization: session.sessionToken, connection: 'close' }
        const accept = round % 2 === 0 ? { accept: 'text/event-stream' } : undefined
        const url = `${world.server.url}/v2/things/${thing.thingId}`
        const [stream] = await Promise.all([
          StreamClient.open(url, { ...headers, ...accept }),
          later(round, () => world.operator.removeSession(session.sessionId)),
        ])
        expect(await stream.head()).toMatch(/^HTTP\/1\.1 (200|401) /)
        await stream.closed
      }
      await writeValue(world, thing, 'after')
    },
  },
]

/** Some turns of the event loop later with each round, so that the rounds meet at different moments. */
async function later<Result>(turns: number, act: () => Promise<Result>): Promise<Result> {
  for (let turn = 0; turn < turns; turn += 1) await new Promise(resolve => setImmediate(resolve))
  return await act()
}
