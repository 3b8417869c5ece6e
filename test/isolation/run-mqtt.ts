import { expect } from 'vitest'
import {
  type ConnectOptions,
  connectMqtt,
  isMessageOn,
  isOf,
  type MqttClient,
  publishPacket,
} from '../helpers/mqtt-client.ts'
import { credentialOf, spell } from './cast.ts'
import { victimsMark } from './neighbour.ts'
import { ask } from './run-http.ts'
import type { ConnectTrick, PublishTrick, SubscribeTrick, TakeoverTrick, Trick } from './trick.ts'
import { forgery, type World } from './world.ts'

/** Which of the two ways to the MQTT door is taken. */
export type Way = 'TCP' | 'WebSocket'

export function addressOf({ server }: Pick<World, 'server'>, way: Way): string {
  return way === 'TCP' ? server.mqttUrl : server.webSocketUrl
}

export async function runConnect(world: World, way: Way, trick: ConnectTrick): Promise<void> {
  const { cast, neighbour } = world
  const { as, username, password, clientId, clean = true, will } = trick
  const attacker = await connectMqtt({
    url: addressOf(world, way),
    clean,
    ...loginOf(world, as),
    ...(username !== undefined && { username: spell(cast, username) }),
    ...(password !== undefined && { password: spell(cast, password) }),
    ...(clientId !== undefined && { clientId: spell(cast, clientId) }),
    ...(will && {
      will: { ...will, topic: spell(cast, will.topic), payload: forgery(trick.name), qos: 1 as const },
    }),
  })
  expect(attacker.connack).toMatchObject({ returnCode: trick.connack, sessionPresent: false })
  // The server ends it: without a word, so that a will would be sent.
  await attacker.untilClosed()
  await neighbour.probe()
}

/** With a session that would be kept, if there is a credential, and then with one that would wipe what is kept. */
export async function runTakeover(world: World, way: Way, trick: TakeoverTrick): Promise<void> {
  const { cast, neighbour } = world
  const clientId = spell(cast, trick.clientId)
  for (const clean of trick.as === 'nobody' ? [true] : [false, true]) {
    const attacker = await connectAs(world, way, trick.as, { clientId, clean })
    expect(attacker.connack.sessionPresent).toBe(false)
    // What an anonymous client is, shows in the token that it uses.
    await attacker.publish(spell(cast, 'things/<own token>/write'), forgery(trick.name)).catch(() => {})
    await neighbour.probe()
    expectNothingSeen(world, attacker)
    await attacker.destroy()
  }
  await neighbour.probe()
}

export async function runSubscribe(world: World, way: Way, trick: SubscribeTrick): Promise<void> {
  const { cast, neighbour } = world
  const attacker = await connectAs(world, way, trick.as)
  const filters = trick.filters.map(filter => spell(cast, filter))
  expect(await attacker.subscribeAll(filters, 1)).toEqual(trick.granted)
  await neighbour.probe()
  await neighbour.probeErrors()
  await attacker.ping()
  expectNothingSeen(world, attacker)
  await attacker.disconnect()
  await neighbour.probe()
}

export async function runPublish(world: World, way: Way, trick: PublishTrick): Promise<void> {
  const { cast, neighbour } = world
  const forged = JSON.stringify(forgery(`${trick.name}, over ${way}`))
  const { qos = 1, retain = false, answer, payload = forged } = trick
  const attacker = await connectAs(world, way, trick.as)
  const topic = spell(cast, trick.topic)
  if (answer === 'closed') {
    attacker.send(publishPacket(topic, payload, { qos, retain, messageId: 1 }))
    await attacker.untilClosed()
    expect(attacker.acknowledgements).toEqual([])
  } else {
    await attacker.publish(topic, payload, { qos, retain })
    // At QoS 0 nothing else tells that the server has taken it.
    await attacker.ping()
    await attacker.disconnect()
  }
  if (answer === 'reported') await expectReported(world, payload)
  if (retain) await expectNotRetained(world, way, topic)
  expectNothingSeen(world, attacker)
  await neighbour.probe()
}

/** Under a username that is nobody's, so that the password alone counts; anonymous without a word. */
export async function connectAs(
  world: World,
  way: Way,
  as: Trick['as'],
  options: ConnectOptions = {},
): Promise<MqttClient> {
  const client = await connectMqtt({ url: addressOf(world, way), ...loginOf(world, as), ...options })
  expect(client.connack.returnCode).toBe(0)
  return client
}

/** Nothing that the connection ever received came from the victim's thing. */
export function expectNothingSeen({ cast }: World, client: MqttClient): void {
  const seen = client.received
    .filter(isOf('publish'))
    .filter(({ topic, payload }) => {
      const text = `${topic} ${payload}`
      return [victimsMark, cast.victim.thingId, cast.victim.thingToken].some(secret => text.includes(secret))
    })
    .map(({ payload }) => payload.toString())
  expect(seen).toEqual([])
}

function loginOf({ cast }: World, as: Trick['as']) {
  const credential = credentialOf(cast, as)
  return credential === undefined ? {} : { username: 'anybody', password: credential }
}

async function expectReported(world: World, payload: string): Promise<void> {
  // Connections that were refused a minute ago are counted in the same list, whenever their minute is over.
  const request = 'GET /v2/things/<own token>/errors?limit=20'
  const refused = async () => {
    const { text } = await ask(world, { name: 'the refused write', request })
    return JSON.parse(text)
  }
  const reported = { reason: 'not_a_write_topic', door: 'mqtt', excerpt: payload }
  // What came at QoS 0 is noted when nobody waits for it.
  await expect.poll(refused).toContainEqual(expect.objectContaining(reported))
}

/** To one who may see all there is, and subscribes after. */
async function expectNotRetained(world: World, way: Way, topic: string): Promise<void> {
  const { victim, own } = world.cast
  const late = await connectMqtt({
    url: addressOf(world, way),
    password: world.server.adminKey,
    username: 'x',
  })
  await late.subscribeAll(
    [victim, own].flatMap(({ thingId }) => [`things/${thingId}/#`, `v2/things/${thingId}`]),
    1,
  )
  await late.ping()
  const messages = late.received.filter(isOf('publish'))
  expect(messages.filter(isMessageOn(topic)).map(({ payload }) => payload.toString())).not.toContain('')
  const forged = messages.filter(({ payload }) => payload.includes('forged'))
  // What was written to the attacker's own thing is there as a record, on the topic of its resource.
  for (const message of forged) expect(message.topic).toBe(`things/${own.thingId}/values/forged`)
  await late.disconnect()
}
