import { expect } from 'vitest'
import {
  type ConnectOptions,
  isMessageOn,
  isOf,
  type MqttClient,
  type PublishOptions,
  publishPacket,
} from '../helpers/mqtt-client.ts'
import { credentialOf, readAndWrite, spell, type Who } from './cast.ts'
import {
  connectOver,
  expectNothingSeen,
  forgery,
  login,
  loginOf,
  messagesOf,
  publishAsOperator,
  textsOf,
  thingWithTopics,
  untilClosed,
  untilText,
  untilValue,
  valuesOf,
  writeValue,
} from './clients.ts'
import { expectUnforged, isolationTests, versionsOf, type Way, type World } from './world.ts'

/** What only a client of version 5 can try. */

const { mqtt5 } = isolationTests()

/** Response Topics of writes, which are not the sender's to be answered on: the write is refused with this code. */
answers('own token', 0x90, {
  'on answers of another thing': 'things/<victim>/answers/station',
  'on answers of another thing, of all its clients': 'things/<victim>/answers',
  'on other topics of another': 'house/victim/state',
  'on other topics of its own': 'house/own/state',
  'on values of another thing': 'things/<victim>/values/temperature',
  'on values of its own': 'things/<own>/values/forged',
  'on the write topic of another thing': 'things/<victim>/write',
  'on errors of another thing': 'things/<victim>/errors',
  'on an id in upper case': 'things/<victim in upper case>/answers/x',
  'on a token less its last': 'things/<victim token less its last>/answers/x',
  'on a token of its own that was revoked': 'things/<revoked token>/answers/x',
  'on an activation': 'v2/activations/<fresh code>/x',
  'up and over': 'things/<own>/../<victim>/answers/x',
  'behind a leading slash': '/things/<own>/answers/x',
})
answers('write session of all', 0x90, {
  'by a session of all, of another of its things': 'things/<victim>/answers/station',
})
answers('nobody', 0x87, {
  'by an anonymous client that writes to an id': 'things/<own>/answers/x',
})

mqtt5('a write to another thing is not answered', async (world, way) => {
  const { cast } = world
  const attacker = await login(world, way, cast.own.thingToken)
  const responseTopic = spell(cast, 'things/<own>/answers/x')
  expect(await attacker.subscribe(spell(cast, 'things/<own>/answers/#'))).toBe(1)
  const ack = await ackOf(attacker, spell(cast, 'things/<victim>/write'), { properties: { responseTopic } })
  expect(ack.reasonCode).toBe(0x87)
  expect(await messagesOf(attacker)).toEqual([])
  await attacker.disconnect()
})

mqtt5('an answer is for the connection that wrote, not for another of its thing', async (world, way) => {
  const thing = await world.operator.createThing()
  const { sessionToken } = await world.operator.mint(thing, { access: 'write' })
  const listeners: MqttClient[] = []
  for (const credential of [thing.thingToken, sessionToken, world.server.adminKey, thing.thingToken]) {
    const listener = await login(world, way, credential)
    expect(await listener.subscribe(`things/${thing.thingId}/answers/#`)).toBe(1)
    listeners.push(listener)
  }
  const responseTopic = `things/${thing.thingId}/answers/mine`
  const [writer] = listeners
  const properties = { responseTopic }
  await writer?.publish(`things/${thing.thingId}/write`, forgery('its own'), { properties })
  await writer?.next(isMessageOn(responseTopic))
  for (const listener of listeners.slice(1)) expect(await messagesOf(listener)).toEqual([])
  for (const listener of listeners) await listener.disconnect()
})

/** Topic aliases: the neighbour's publisher has the alias 1 for its write topic all the while. */

mqtt5('a topic alias is not that of another connection', async (world, way) => {
  const { own, words } = world.cast
  for (const credential of [own.thingToken, words['write session of all'], undefined]) {
    const attacker = await login(world, way, credential)
    attacker.send(publishPacket('', forgery('an alias'), { messageId: 1, properties: { topicAlias: 1 } }))
    await untilClosed(attacker, way, 0x94)
    expect(attacker.acknowledgements).toEqual([])
    expectNothingSeen(world.cast, attacker)
  }
})

mqtt5('a topic alias is not that of the connection that was taken over', async (world, way) => {
  const thing = await world.operator.createThing()
  const kept = { clientId: 'aliased', clean: false }
  const properties = { topicAlias: 1 }
  const first = await login(world, way, thing.thingToken, kept)
  await first.publish(`things/${thing.thingId}/write`, { values: [{ key: 'n', value: 1 }] }, { properties })
  const second = await login(world, way, thing.thingToken, kept)
  await untilClosed(first, way, 0x8e)
  second.send(publishPacket('', forgery('an alias'), { messageId: 1, properties }))
  await untilClosed(second, way, 0x94)
  await expectUnforged(world, thing)
})

mqtt5('a topic alias gives no right that its topic has not', async (world, way) => {
  const { cast } = world
  const attacker = await login(world, way, cast.own.thingToken)
  const properties = { topicAlias: 1 }
  for (const topic of ['things/<victim>/write', '', 'house/victim/state', '']) {
    const { reasonCode } = await ackOf(attacker, spell(cast, topic), { retain: true, properties })
    expect(reasonCode).toBe(0x87)
  }
  expectNothingSeen(cast, attacker)
  await attacker.disconnect()
})

/** Wills that wait for their delay while their credential dies. */

const delay = { properties: { willDelayInterval: 2 } } as const

mqtt5(
  'a will that waits is dropped if its credential is removed, or its topics are, before its time',
  async (world, way) => {
    const { operator } = world
    const [thing, base] = await thingWithTopics(world)
    const second = await operator.addToken(thing)
    const terms = { things: [thing.thingId], access: 'write' } as const
    const session = await operator.createSession(terms)
    const minted = await operator.mint({ ...thing, ...second }, { access: 'write' })
    const ofTopics = await operator.createSession({ ...terms, topics: readAndWrite(`${base}/#`) })
    const topic = `things/${thing.thingId}/write`
    const ofThing = { will: { ...delay, topic, payload: forgery('a will'), qos: 1 } } as const
    const ofHouse = { will: { ...delay, topic: `${base}/a`, payload: 'forged', qos: 1 } } as const
    const observer = await login(world, way, world.server.adminKey)
    expect(await observer.subscribe(`${base}/#`)).toBe(1)
    await lose(world, way, second.thingToken, ofThing)
    await lose(world, way, session.sessionToken, ofThing)
    await lose(world, way, minted.sessionToken, ofThing)
    await lose(world, way, thing.thingToken, ofHouse)
    await lose(world, way, ofTopics.sessionToken, ofHouse)
    await operator.removeToken(thing, second.tokenId)
    for (const { sessionId } of [session, ofTopics]) await operator.removeSession(sessionId)
    await operator.setTopics(thing, [])
    // A will that is allowed, and due behind those.
    const allowed = { ...ofHouse.will, payload: 'allowed' }
    await lose(world, way, world.server.adminKey, { will: allowed })
    await untilText(observer, 'allowed')
    expect(await textsOf(observer)).toEqual(['allowed'])
    await expectUnforged(world, thing)
    world.unforged.push(thing)
    await observer.disconnect()
  },
)

mqtt5(
  "nobody ends the delay of another's will under its client id, or has it dropped",
  async (world, way) => {
    const [thing, other] = [await world.operator.createThing(), await world.operator.createThing()]
    const topic = `things/${thing.thingId}/write`
    const observer = await login(world, way, thing.thingToken)
    await observer.subscribe(`things/${thing.thingId}/values/n`)
    await lose(world, way, thing.thingToken, {
      will: { ...delay, topic, payload: { values: [{ key: 'n', value: 'will' }] }, qos: 1 },
    })
    const credentials = [other.thingToken, world.server.adminKey, undefined]
    for (const version of versionsOf(way)) {
      for (const credential of credentials) {
        const attacker = await login(world, version, credential, { clientId: 'willful' })
        await attacker.disconnect()
      }
    }
    await writeValue(world, thing, 'before')
    await untilValue(observer, 'will')
    expect(await valuesOf(observer)).toEqual(['before', 'will'])
    await observer.disconnect()
  },
)

mqtt5('a session under an assigned client id is that of its owner alone', async (world, way) => {
  const [thing, other] = [await world.operator.createThing(), await world.operator.createThing()]
  const kept = { properties: { sessionExpiryInterval: 3_600 } }
  const client = await login(world, way, thing.thingToken, { ...kept, clientId: '' })
  const clientId = client.connack.properties?.assignedClientIdentifier ?? ''
  expect(clientId).not.toBe('')
  await client.subscribe(`things/${thing.thingId}/values/n`)
  await client.disconnect()
  await writeValue(world, thing, 'missed')
  for (const credential of [other.thingToken, world.server.adminKey]) {
    for (const version of versionsOf(way)) {
      for (const clean of [false, true]) {
        const thief = await login(world, version, credential, { clientId, clean })
        expect(thief.connack.sessionPresent).toBe(false)
        expect(await valuesOf(thief)).toEqual([])
        await thief.disconnect()
      }
    }
  }
  const back = await login(world, way, thing.thingToken, { clientId, clean: false })
  expect(back.connack.sessionPresent).toBe(true)
  await untilValue(back, 'missed')
  await back.disconnect()
})

mqtt5(
  "No Local holds back what the client has sent, not what another's of its id has",
  async (world, way) => {
    const [thing, base] = await thingWithTopics(world)
    const topics = readAndWrite(`${base}/#`)
    const { sessionToken } = await world.operator.createSession({ things: [], access: 'read', topics })
    const [mine, theirs] = [thing.thingToken, sessionToken]
    const client = await login(world, way, mine, { clientId: 'same' })
    await client.subscribeTo({ topic: `${base}/#`, qos: 1, nl: true })
    const other = await login(world, way, theirs, { clientId: 'same' })
    await client.publish(`${base}/a`, 'mine')
    await other.publish(`${base}/a`, 'theirs')
    await publishAsOperator(world, way, `${base}/a`, 'end')
    await untilText(client, 'end')
    expect(await textsOf(client)).toEqual(['theirs', 'end'])
    for (const open of [client, other]) await open.disconnect()
  },
)

mqtt5('a session of version 5 that is left with another expiry is its own alone', async (world, way) => {
  const [thing, other] = [await world.operator.createThing(), await world.operator.createThing()]
  const kept = { clientId: 'kept', clean: false }
  const client = await login(world, way, thing.thingToken, kept)
  await client.subscribe(`things/${thing.thingId}/values/n`)
  await client.disconnect()
  await writeValue(world, thing, 'missed')
  const attacker = await login(world, way, other.thingToken, kept)
  attacker.send({ cmd: 'disconnect', reasonCode: 0, properties: { sessionExpiryInterval: 0 } })
  await attacker.untilClosed()
  const back = await login(world, way, thing.thingToken, kept)
  expect(back.connack.sessionPresent).toBe(true)
  await untilValue(back, 'missed')
  await back.disconnect()
})

mqtt5('an AUTH gets nobody in, nor another credential', async (world, way) => {
  const { victim, own } = world.cast
  const properties = { authenticationMethod: 'token', authenticationData: Buffer.from(victim.thingToken) }
  const refused = await connectOver(world, way, { ...loginOf(own.thingToken), properties })
  expect(refused.connack.reasonCode).toBe(0x8c)
  await refused.untilClosed()
  const attacker = await login(world, way, own.thingToken)
  attacker.send({ cmd: 'auth', reasonCode: 0x19, properties })
  await untilClosed(attacker, way, 0x82)
  for (const client of [refused, attacker]) expectNothingSeen(world.cast, client)
})

/** Writes by name with these Response Topics, of one credential: on the write topic of the attacker's own thing. */
function answers(as: Who, code: number, rows: Readonly<Record<string, string>>): void {
  for (const [name, row] of Object.entries(rows)) {
    const run = async (world: World, way: Way) => {
      const { cast, unforged } = world
      const attacker = await login(world, way, credentialOf(cast, as))
      const properties = { responseTopic: spell(cast, row) }
      const { reasonCode } = await ackOf(attacker, spell(cast, 'things/<own>/write'), { properties })
      expect(reasonCode).toBe(code)
      expect(await messagesOf(attacker)).toEqual([])
      expectNothingSeen(cast, attacker)
      await attacker.disconnect()
      if (!unforged.includes(cast.own)) unforged.push(cast.own)
    }
    mqtt5(`an answer ${name}`, run, { as, row })
  }
}

/** PUBACK of a forgery. */
async function ackOf(client: MqttClient, topic: string, options: PublishOptions) {
  const messageId = client.nextMessageId()
  client.send(publishPacket(topic, forgery('a packet of version 5'), { ...options, messageId }))
  return await client.next(isOf('puback', messageId))
}

/** A client with a will that has a session, and is lost. */
async function lose(world: World, way: Way, credential: string, options: ConnectOptions): Promise<void> {
  const client = await login(world, way, credential, { clientId: 'willful', clean: false, ...options })
  await client.destroy()
}
