import { expect } from 'vitest'
import type { Thing } from '../helpers/http-client.ts'
import { isMessageOn, type MqttClient } from '../helpers/mqtt-client.ts'
import { readAndWrite } from './cast.ts'
import {
  ask,
  login,
  messagesOf,
  publishAsOperator,
  publishHiddenAndShown,
  subackIn,
  textsOf,
  thingWithTopics,
  untilClosed,
  untilText,
} from './clients.ts'
import { isolationTests, versionsOf, type World } from './world.ts'

const { mqtt } = isolationTests()

/** Messages on topics beside those of things, live and kept for a client that is away. */

mqtt(
  "a persistent session on other topics is neither stolen nor wiped under another's client id",
  async (world, way) => {
    const [thing, base] = await thingWithTopics(world)
    const [other] = await thingWithTopics(world)
    const kept = { clientId: 'kept', clean: false }
    const topics = readAndWrite(`${base}/#`)
    const session = await world.operator.createSession({ things: [], access: 'read', topics })
    const first = await login(world, way, thing.thingToken, kept)
    expect(await first.subscribe(`${base}/#`)).toBe(1)
    await first.disconnect()
    await publishAsOperator(world, way, `${base}/a`, 'missed')
    for (const credential of [other.thingToken, session.sessionToken, world.server.adminKey, undefined]) {
      for (const version of versionsOf(way)) {
        for (const clean of credential === undefined ? [true] : [false, true]) {
          const thief = await login(world, version, credential, { clientId: 'kept', clean })
          expect(thief.connack.sessionPresent).toBe(false)
          expect(await textsOf(thief)).toEqual([])
          await thief.disconnect()
        }
      }
    }
    const back = await login(world, way, thing.thingToken, kept)
    expect(back.connack.sessionPresent).toBe(true)
    await untilText(back, 'missed')
    expect(await textsOf(back)).toEqual(['missed'])
    await back.disconnect()
  },
)

mqtt(
  'one who may read a part of some topics sees nothing else, retained, live or missed',
  async (world, way) => {
    const { base, credential } = await partReader(world)
    const kept = { clientId: 'part', clean: false }
    await publishHiddenAndShown(world, way, base, 'retained', true)
    const first = await login(world, way, credential, kept)
    const filters = [`${base}/+/shown`, `${base}/+/+`, `${base}/#`, `${base}/a/hidden`, `${base}/+/shown/#`]
    const granted = [1, 128, 128, 128, 128]
    expect(await first.subscribeAll(filters)).toEqual(subackIn(way, filters, granted))
    await publishHiddenAndShown(world, way, base, 'live')
    await untilText(first, 'live')
    expect(await textsOf(first)).toEqual(['retained', 'live'])
    await first.disconnect()
    await publishHiddenAndShown(world, way, base, 'missed')
    const back = await login(world, way, credential, kept)
    await untilText(back, 'missed')
    expect(await textsOf(back)).toEqual(['missed'])
    await back.disconnect()
  },
)

mqtt(
  'the will of a thing on topics that were withdrawn, and of a removed session, is dropped',
  async (world, way) => {
    const [thing, base] = await thingWithTopics(world)
    const topics = readAndWrite(`${base}/#`)
    const session = await world.operator.createSession({ things: [], access: 'read', topics })
    const observer = await login(world, way, world.server.adminKey)
    expect(await observer.subscribe(`${base}/#`)).toBe(1)
    const will = { topic: `${base}/a`, payload: 'forged', qos: 1, retain: true } as const
    const device = await login(world, way, thing.thingToken, { will })
    const app = await login(world, way, session.sessionToken, { will })
    await world.operator.setTopics(thing, [])
    await untilClosed(device, way)
    await world.operator.removeSession(session.sessionId)
    await untilClosed(app, way)
    // A will that is allowed, of a connection that is lost later, comes.
    const others = await login(world, way, world.server.adminKey, { will: { ...will, payload: 'allowed' } })
    await others.destroy()
    await untilText(observer, 'allowed')
    expect(await textsOf(observer)).toEqual(['allowed'])
    await publishAsOperator(world, way, `${base}/a`, '', true)
    await observer.disconnect()
  },
)

mqtt("a PUBREL for another's packet id does not release its message on other topics", async (world, way) => {
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
  await publishAsOperator(world, way, `${base}/a`, 'end')
  await untilText(client, 'end')
  expect(await textsOf(client)).toEqual(['once', 'end'])
  for (const open of [client, attacker]) await open.disconnect()
})

mqtt("an UNSUBSCRIBE of another's filter on other topics takes nothing from it", async (world, way) => {
  const [thing, base] = await thingWithTopics(world)
  const [other] = await thingWithTopics(world)
  const kept = { clientId: 'same', clean: false }
  const client = await login(world, way, thing.thingToken, kept)
  expect(await client.subscribe(`${base}/#`)).toBe(1)
  const attacker = await login(world, way, other.thingToken, kept)
  await attacker.unsubscribe(`${base}/#`, '#', 'house/#')
  await publishAsOperator(world, way, `${base}/a`, 'still')
  await untilText(client, 'still')
  for (const open of [client, attacker]) await open.disconnect()
})

mqtt('a session that subscribes to other topics while it is removed is not left in', async (world, way) => {
  const [, base] = await thingWithTopics(world)
  const topics = readAndWrite(`${base}/#`)
  for (let round = 0; round < 10; round++) {
    const session = await world.operator.createSession({ things: [], access: 'read', topics })
    const client = await login(world, way, session.sessionToken, { clientId: 'racing', clean: false })
    await Promise.all([
      client.subscribe(`${base}/#`).catch(() => undefined),
      world.operator.removeSession(session.sessionId),
    ])
    await client.untilClosed()
  }
})

/** Answers to activation codes, which carry a token. */

mqtt('the answer to an activation code is seen by the connection that asked alone', async (world, way) => {
  const [code = ''] = await world.operator.createActivationCodes(1)
  const topic = `v2/activations/${code}/me`
  const listeners = [await login(world, way, undefined), await login(world, way, world.server.adminKey)]
  for (const listener of listeners) {
    const filters = ['v2/activations/#', `v2/activations/${code}/+`, '#']
    expect(await listener.subscribeAll(filters)).toEqual(subackIn(way, filters, [128, 128, 128]))
  }
  const device = await login(world, way, undefined)
  const first = await activate(device, topic)
  // Unused: the code answers again, to who asks now, and not to who asked before.
  const second = await activate(listeners[0] ?? device, topic)
  expect(second.thingId).toBe(first.thingId)
  expect(second.thingToken === first.thingToken).toBe(false)
  expect((await messagesOf(device)).length).toBe(1)
  expect((await messagesOf(listeners[0] ?? device)).length).toBe(1)
  expect((await messagesOf(listeners[1] ?? device)).length).toBe(0)
  // The token that was not used is dead, and once the new one is used the code is spent.
  const write = { request: `POST /v2/things/${first.thingToken}` }
  expect((await ask(world, write)).status).toBe(401)
  await world.operator.use(second)
  const late = await login(world, way, undefined)
  expect(await late.subscribeAll([topic])).toEqual(subackIn(way, [topic], [128]))
  expect((await messagesOf(late)).length).toBe(0)
  for (const open of [device, late, ...listeners]) await open.disconnect()
})

mqtt('a persistent session that activated a thing gets nothing more on that topic', async (world, way) => {
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
  expect((await messagesOf(back)).length).toBe(0)
  for (const open of [other, back]) await open.disconnect()
})

mqtt('one code asked for by many at one time leaves one token that is valid', async (world, way) => {
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
    statuses.push((await ask(world, { request })).status)
  }
  expect(statuses.sort()).toEqual([200, 401, 401, 401, 401])
  for (const device of devices) await device.disconnect()
})

async function partReader(world: World): Promise<{ base: string; credential: string }> {
  const [, base] = await thingWithTopics(world)
  const topics = [{ filter: `${base}/+/shown`, access: 'read' }] as const
  const { sessionToken } = await world.operator.createSession({ things: [], access: 'read', topics })
  return { base, credential: sessionToken }
}

/** Subscribes to an activation topic and waits for the answer. */
async function activate(client: MqttClient, topic: string): Promise<Thing> {
  expect(await client.subscribe(topic)).toBeLessThan(128)
  const { payload } = await client.next(isMessageOn(topic))
  return JSON.parse(payload.toString()) as Thing
}
