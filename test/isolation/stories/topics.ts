import { expect } from 'vitest'
import type { TopicGrant } from '../../../src/core/topics/topic-grant.ts'
import type { Thing } from '../../helpers/http-client.ts'
import { isOf, type MqttClient } from '../../helpers/mqtt-client.ts'
import type { Way } from '../run-mqtt.ts'
import type { World } from '../world.ts'
import type { Restarted, RestartStory } from './restart.ts'
import { login, type MqttStory } from './story.ts'

/** What is said on topics beside those of things, and kept for a client that is away. */
export const topicStories: readonly MqttStory[] = [
  {
    name: "a persistent session on other topics is neither stolen nor wiped under another's client id",
    async run(world, way) {
      const [thing, base] = await thingWithTopics(world)
      const [other] = await thingWithTopics(world)
      const kept = { clientId: 'kept', clean: false }
      const topics = both(`${base}/#`)
      const session = await world.operator.createSession({ things: [], access: 'read', topics })
      const first = await login(world, way, thing.thingToken, kept)
      expect(await first.subscribe(`${base}/#`)).toBe(1)
      await first.disconnect()
      await say(world, way, `${base}/a`, 'missed')
      for (const credential of [other.thingToken, session.sessionToken, world.server.adminKey, undefined]) {
        for (const clean of credential === undefined ? [true] : [false, true]) {
          const thief = await login(world, way, credential, { clientId: 'kept', clean })
          expect(thief.connack.sessionPresent).toBe(false)
          expect(await heardBy(thief)).toEqual([])
          await thief.disconnect()
        }
      }
      const back = await login(world, way, thing.thingToken, kept)
      expect(back.connack.sessionPresent).toBe(true)
      await untilHeard(back, 'missed')
      expect(await heardBy(back)).toEqual(['missed'])
      await back.disconnect()
    },
  },
  {
    name: 'one who may read a part of some topics sees nothing else, retained, live or missed',
    async run(world, way) {
      const { base, credential } = await partReader(world)
      const kept = { clientId: 'part', clean: false }
      await sayBoth(world, way, base, 'retained', true)
      const first = await login(world, way, credential, kept)
      const filters = [`${base}/+/shown`, `${base}/+/+`, `${base}/#`, `${base}/a/hidden`, `${base}/+/shown/#`]
      expect(await first.subscribeAll(filters)).toEqual([1, 128, 128, 128, 128])
      await sayBoth(world, way, base, 'live')
      await untilHeard(first, 'live')
      expect(await heardBy(first)).toEqual(['retained', 'live'])
      await first.disconnect()
      await sayBoth(world, way, base, 'missed')
      const back = await login(world, way, credential, kept)
      await untilHeard(back, 'missed')
      expect(await heardBy(back)).toEqual(['missed'])
      await back.disconnect()
    },
  },
  {
    name: 'the will of a thing on topics that were withdrawn, and of a removed session, is dropped',
    async run(world, way) {
      const [thing, base] = await thingWithTopics(world)
      const topics = both(`${base}/#`)
      const session = await world.operator.createSession({ things: [], access: 'read', topics })
      const observer = await login(world, way, world.server.adminKey)
      expect(await observer.subscribe(`${base}/#`)).toBe(1)
      const will = { topic: `${base}/a`, payload: 'forged', qos: 1, retain: true } as const
      const device = await login(world, way, thing.thingToken, { will })
      const app = await login(world, way, session.sessionToken, { will })
      await world.operator.setTopics(thing, [])
      await device.untilClosed()
      await world.operator.removeSession(session.sessionId)
      await app.untilClosed()
      // A will that is allowed, of a connection that is lost later, comes.
      const others = await login(world, way, world.server.adminKey, { will: { ...will, payload: 'allowed' } })
      await others.destroy()
      await untilHeard(observer, 'allowed')
      expect(await heardBy(observer)).toEqual(['allowed'])
      await say(world, way, `${base}/a`, '', true)
      await observer.disconnect()
    },
  },
  {
    name: "a PUBREL for another's packet id does not release its message on other topics",
    async run(world, way) {
      const [thing, base] = await thingWithTopics(world)
      const [other] = await thingWithTopics(world)
      const kept = { clientId: 'same', clean: false }
      const client = await login(world, way, thing.thingToken, kept)
      expect(await client.subscribe(`${base}/#`, 1)).toBe(1)
      await client.publishUntilPubrec(`${base}/a`, 'once', { messageId: 7 })
      const attacker = await login(world, way, other.thingToken, kept)
      await attacker.release(7)
      await client.publishUntilPubrec(`${base}/a`, 'once', { messageId: 7, dup: true })
      await client.release(7)
      await say(world, way, `${base}/a`, 'end')
      await untilHeard(client, 'end')
      expect(await heardBy(client)).toEqual(['once', 'end'])
      for (const open of [client, attacker]) await open.disconnect()
    },
  },
  {
    name: "an UNSUBSCRIBE of another's filter on other topics takes nothing from it",
    async run(world, way) {
      const [thing, base] = await thingWithTopics(world)
      const [other] = await thingWithTopics(world)
      const kept = { clientId: 'same', clean: false }
      const client = await login(world, way, thing.thingToken, kept)
      expect(await client.subscribe(`${base}/#`)).toBe(1)
      const attacker = await login(world, way, other.thingToken, kept)
      await attacker.unsubscribe(`${base}/#`, '#', 'house/#')
      await say(world, way, `${base}/a`, 'still')
      await untilHeard(client, 'still')
      for (const open of [client, attacker]) await open.disconnect()
    },
  },
  {
    name: 'a session that subscribes to other topics while it is removed is not left in',
    async run(world, way) {
      const [, base] = await thingWithTopics(world)
      const topics = both(`${base}/#`)
      for (let round = 0; round < 10; round++) {
        const session = await world.operator.createSession({ things: [], access: 'read', topics })
        const client = await login(world, way, session.sessionToken, { clientId: 'racing', clean: false })
        await Promise.all([
          client.subscribe(`${base}/#`).catch(() => undefined),
          world.operator.removeSession(session.sessionId),
        ])
        await client.untilClosed()
      }
    },
  },
]

/** The same across an end of the server. */
export const topicRestartStories: readonly RestartStory[] = [
  {
    name: 'a restored session on other topics is that of its owner alone, within what it may still read',
    async before(world) {
      const [thing, base] = await thingWithTopics(world)
      const [other] = await thingWithTopics(world)
      const kept = { clientId: 'house', clean: false }
      const client = await login(world, 'TCP', thing.thingToken, kept)
      expect(await client.subscribeAll([`${base}/#`, `${base}/a/shown`, '#'])).toEqual([1, 1, 128])
      await client.disconnect()
      await sayBoth(world, 'TCP', base, 'missed')
      await world.operator.setTopics(thing, both(`${base}/+/shown`))
      return async restarted => {
        for (const credential of [other.thingToken, restarted.server.adminKey]) {
          const thief = await login(restarted, 'TCP', credential, kept)
          expect(thief.connack.sessionPresent).toBe(false)
          expect(await heardBy(thief)).toEqual([])
          await thief.disconnect()
        }
        const back = await login(restarted, 'TCP', thing.thingToken, kept)
        expect(back.connack.sessionPresent).toBe(true)
        await sayBoth(restarted, 'TCP', base, 'live')
        await untilHeard(back, 'live')
        expect(await heardBy(back)).toEqual(['missed', 'live'])
        await back.disconnect()
      }
    },
  },
  {
    name: 'the kept will on other topics of a session that expires while the server is down is dropped',
    async before(world) {
      const [, base] = await thingWithTopics(world)
      const [witness, witnessed] = await thingWithTopics(world)
      const terms = { things: [], access: 'read', topics: both(`${base}/#`), expiresIn: 3 } as const
      const { sessionToken } = await world.operator.createSession(terms)
      const willOn = (topic: string) => ({
        will: { topic, payload: 'a will', qos: 1 as const, retain: true },
      })
      await login(world, 'TCP', sessionToken, willOn(`${base}/a`))
      await login(world, 'TCP', witness.thingToken, willOn(`${witnessed}/a`))
      return async restarted => {
        const observer = await login(restarted, 'TCP', restarted.server.adminKey)
        expect(await observer.subscribeAll([`${base}/#`, `${witnessed}/#`])).toEqual([1, 1])
        // Both wills are due at one time, and this one is not dropped.
        await untilHeard(observer, 'a will')
        await say(restarted, 'TCP', `${base}/end`, 'end')
        await untilHeard(observer, 'end')
        expect(await heardBy(observer)).toEqual(['a will', 'end'])
        await observer.disconnect()
      }
    },
  },
]

function both(filter: string): readonly TopicGrant[] {
  return [
    { filter, access: 'read' },
    { filter, access: 'write' },
  ]
}

/** A thing that may use everything below a topic of its own. */
async function thingWithTopics({ operator }: Restarted): Promise<[thing: Thing, base: string]> {
  const thing = await operator.createThing()
  const base = `house/${thing.thingId}`
  await operator.setTopics(thing, both(`${base}/#`))
  return [thing, base]
}

async function partReader(world: World): Promise<{ base: string; credential: string }> {
  const [, base] = await thingWithTopics(world)
  const topics = [{ filter: `${base}/+/shown`, access: 'read' }] as const
  const { sessionToken } = await world.operator.createSession({ things: [], access: 'read', topics })
  return { base, credential: sessionToken }
}

/** As the operator, who may publish everywhere. */
async function say(world: Restarted, way: Way, topic: string, text: string, retain = false): Promise<void> {
  const operator = await login(world, way, world.server.adminKey)
  await operator.publish(topic, text, { retain })
  await operator.disconnect()
}

/** On a topic that is hidden, and then on one that is not. */
async function sayBoth(
  world: Restarted,
  way: Way,
  base: string,
  text: string,
  retain = false,
): Promise<void> {
  await say(world, way, `${base}/a/hidden`, `hidden, ${text}`, retain)
  await say(world, way, `${base}/a/shown`, text, retain)
}

async function heardBy(client: MqttClient): Promise<string[]> {
  await client.ping()
  return client.received.filter(isOf('publish')).map(({ payload }) => String(payload))
}

async function untilHeard(client: MqttClient, text: string): Promise<void> {
  await client.next(packet => packet.cmd === 'publish' && String(packet.payload) === text)
}
