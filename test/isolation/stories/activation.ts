import { expect } from 'vitest'
import { isOf, type MqttClient } from '../../helpers/mqtt-client.ts'
import { ask } from '../run-http.ts'
import { activate, login, type MqttStory } from './story.ts'

/** Answers to activation codes, which carry a token. */
export const activationStories: readonly MqttStory[] = [
  {
    name: 'the answer to an activation code is seen by the connection that asked alone',
    async run(world, way) {
      const [code = ''] = await world.operator.createActivationCodes(1)
      const topic = `v2/activations/${code}/me`
      const listeners = [await login(world, way, undefined), await login(world, way, world.server.adminKey)]
      for (const listener of listeners) {
        expect(await listener.subscribeAll(['v2/activations/#', `v2/activations/${code}/+`, '#'])).toEqual([
          128, 128, 128,
        ])
      }
      const device = await login(world, way, undefined)
      const first = await activate(device, topic)
      // Unused: the code answers again, to who asks now, and not to who asked before.
      const second = await activate(listeners[0] ?? device, topic)
      expect(second.thingId).toBe(first.thingId)
      expect(second.thingToken === first.thingToken).toBe(false)
      expect((await answers(device)).length).toBe(1)
      expect((await answers(listeners[0] ?? device)).length).toBe(1)
      expect((await answers(listeners[1] ?? device)).length).toBe(0)
      // The token that was not used is dead, and once the new one is used the code is spent.
      const write = { name: 'activated', request: `POST /v2/things/${first.thingToken}` }
      expect((await ask(world, write)).status).toBe(401)
      await world.operator.use(second)
      const late = await login(world, way, undefined)
      expect(await late.subscribe(topic)).toBe(128)
      expect((await answers(late)).length).toBe(0)
      for (const open of [device, late, ...listeners]) await open.disconnect()
    },
  },
  {
    name: 'a persistent session that activated a thing is told of nothing more on that topic',
    async run(world, way) {
      const [thing, [code = '']] = [
        await world.operator.createThing(),
        await world.operator.createActivationCodes(1),
      ]
      const kept = { clientId: 'installer', clean: false }
      const topic = `v2/activations/${code}/me`
      const installer = await login(world, way, thing.thingToken, kept)
      await activate(installer, topic)
      await installer.disconnect()
      const other = await login(world, way, undefined)
      await activate(other, topic)
      const back = await login(world, way, thing.thingToken, kept)
      expect((await answers(back)).length).toBe(0)
      for (const open of [other, back]) await open.disconnect()
    },
  },
]

async function answers(client: MqttClient) {
  await client.ping()
  return client.received.filter(isOf('publish'))
}
