import { describe, expect, it } from 'vitest'
import type { Thing } from '../../helpers/http-client.ts'
import { encodePackets, isOf, publishPacket } from '../../helpers/mqtt-client.ts'
import { DoorService, eventually, reading, writeTopicOf } from '../door-service.ts'

/** Contract §6.3: whatever keeps a thing's data from being stored is on its list. */

const listOf = async (service: DoorService, { thingId }: Thing) => {
  const list = await service.things.refused.list(thingId, 100)
  return list.map(({ reason, message, count = 1 }) => `${reason} x${count}: ${message}`)
}

async function start() {
  const service = await DoorService.start()
  return { service, thing: await service.createThing(), other: await service.createThing() }
}

type Started = Awaited<ReturnType<typeof start>>

const body = reading(1)
const will = (topic: string) => ({ will: { topic, payload: body, qos: 1 } }) as const

const refusedConnects: Readonly<Record<string, (started: Started) => Promise<unknown>>> = {
  'a will on a foreign topic': ({ service, thing }) =>
    service.connectThing(thing, will('homeassistant/status')),
  'a will on another thing': ({ service, thing, other }) =>
    service.connectThing(thing, will(writeTopicOf(other.thingId))),
  'a will on its own values': ({ service, thing }) =>
    service.connectThing(thing, will(`things/${thing.thingId}/values/n`)),
  'a client id that is too long': ({ service, thing }) =>
    service.connectThing(thing, { clientId: 'a'.repeat(300) }),
  'the token as username, and a will elsewhere': ({ service, thing }) =>
    service.connect({ username: thing.thingToken, ...will('x') }),
  'a write session of the thing alone, and a will elsewhere': ({ service, thing }) =>
    service.connectSession([thing], 'write', will('x')),
}

describe('a CONNECT that is refused, of', () => {
  it.each(Object.entries(refusedConnects))('%s is on the list of the thing', async (_name, connect) => {
    const started = await start()
    await connect(started)
    await eventually(() => listOf(started.service, started.thing)).toEqual([
      expect.stringMatching(/^connect_refused x1: CONNACK [125]: ./),
    ])
    const text = JSON.stringify(await started.service.things.refused.list(started.thing.thingId, 100))
    expect(text).not.toContain(started.thing.thingToken)
    expect(await listOf(started.service, started.other)).toEqual([])
  })
})

const publish = ({ thing }: Started, padding = 0) =>
  encodePackets(
    publishPacket(writeTopicOf(thing.thingId), `${JSON.stringify(body)}${' '.repeat(padding)}`, {
      messageId: 1,
    }),
  )

const closing: Readonly<Record<string, (started: Started) => Buffer>> = {
  'a packet over maxPacketSize': started => publish(started, 1024 * 1024 + 1).subarray(0, 100),
  'a packet that is none': () => Buffer.from([0x00, 0x00]),
  'a second CONNECT': () => encodePackets({ cmd: 'connect', clientId: 'a', clean: true, keepalive: 0 }),
  'a packet id of 0': ({ thing }) => {
    const bytes = encodePackets(publishPacket(writeTopicOf(thing.thingId), body, { messageId: 0x0101 }))
    const place = 4 + writeTopicOf(thing.thingId).length
    return bytes.fill(0, place, place + 2)
  },
  'a wildcard in the topic of a PUBLISH': ({ thing }) => {
    const bytes = encodePackets(publishPacket(`things/${thing.thingId}/writ_`, body, { messageId: 1 }))
    bytes[bytes.indexOf('_')] = '+'.charCodeAt(0)
    return bytes
  },
  'bytes in a topic that are no UTF-8': ({ thing }) => {
    const bytes = encodePackets(publishPacket(`things/${thing.thingId}/writ_`, body, { messageId: 1 }))
    bytes[bytes.indexOf('_')] = 0xff
    return bytes
  },
  'DUP at QoS 0': ({ thing }) => {
    const bytes = encodePackets(publishPacket(writeTopicOf(thing.thingId), body, { qos: 0 }))
    bytes[0] = 0x38
    return bytes
  },
}

describe('a connection that is closed, for', () => {
  it.each(Object.entries(closing))('%s is on the list of the thing', async (_name, bytesOf) => {
    const started = await start()
    const client = await started.service.connectThing(started.thing)
    client.sendBytes(bytesOf(started))
    await client.untilClosed()
    await eventually(() => listOf(started.service, started.thing)).toEqual([
      expect.stringMatching(/^connection_closed x1: ./),
    ])
    expect(await started.service.values(started.thing, 'n')).toEqual([])
  })

  it.each([
    ['leaves', (client: { disconnect(): Promise<void> }) => client.disconnect()],
    ['is lost', (client: { destroy(): Promise<void> }) => client.destroy()],
  ])('no fault is on no list: the client %s', async (_name, end) => {
    const { service, thing } = await start()
    const client = await service.connectThing(thing)
    await end(client)
    const next = await service.connectThing(thing)
    await next.publish(writeTopicOf(thing.thingId), body)
    expect(await listOf(service, thing)).toEqual([])
  })
})

describe('two clients with one client id', () => {
  it('that take it from each other are on the list of the thing, by the third time', async () => {
    const { service, thing, other } = await start()
    for (let times = 0; times < 8; times++) await service.connectThing(thing, { clientId: 'board' })
    await eventually(() => listOf(service, thing)).toEqual([
      expect.stringMatching(/^client_id_shared x1: several connections with the client id `board` keep/),
    ])
    expect(await listOf(service, other)).toEqual([])
  })

  it('are on no list where one has gone before the next one comes', async () => {
    const { service, thing } = await start()
    for (let times = 0; times < 8; times++) {
      const client = await service.connectThing(thing, { clientId: 'board' })
      await client.destroy()
    }
    expect(await listOf(service, thing)).toEqual([])
  })

  it('that are anonymous are listed as well', async () => {
    const { service, thing } = await start()
    for (let times = 0; times < 5; times++) {
      const client = await service.connect({ clientId: 'board' })
      await client.publish(writeTopicOf(thing.thingToken), body)
    }
    await eventually(() => listOf(service, thing)).toEqual([expect.stringMatching(/^client_id_shared/)])
  })
})

const elsewhere = [
  'homeassistant/sensor/boat/config',
  'tele/boat/STATE',
  'zigbee2mqtt/boat',
  'test',
  '/things/write',
  '$SYS/broker/uptime',
  'v2',
  'v2/activations/abc/x',
  'things/nothing/write',
  'a/b c/ä',
]

describe('a publish elsewhere', () => {
  it.each(elsewhere)(
    'on %s is acknowledged, dropped and reported, and what is behind it is stored',
    async topic => {
      const { service, thing } = await start()
      const client = await service.connectThing(thing)
      for (const qos of [0, 1, 2] as const) await client.publish(topic, 'no write', { qos })
      await client.publish(writeTopicOf(thing.thingId), body)
      expect(await service.values(thing, 'n')).toEqual([1])
      const list = await listOf(service, thing)
      expect(list).toHaveLength(3)
      for (const text of list) expect(text).toMatch(/^not_a_write_topic x1: ./)
      expect(client.received.filter(isOf('puback'))).toHaveLength(2)
    },
  )

  it('on the topic of another thing is on the list of the sender alone, without the token in it', async () => {
    const { service, thing, other } = await start()
    const client = await service.connectThing(thing)
    await client.publish(writeTopicOf(other.thingId), body)
    await client.publish(writeTopicOf('u'.repeat(43)), body)
    expect(await service.values(other, 'n')).toEqual([])
    const list = await listOf(service, thing)
    expect(list).toHaveLength(2)
    expect(list.join()).not.toContain('u'.repeat(43))
    expect(await listOf(service, other)).toEqual([])
  })

  const whereItGoes = 'which goes into the Authorization header or the MQTT password'
  it.each<[string, ref: (session: string, other: Thing) => string, why: RegExp]>([
    ['a session', session => session, new RegExp(`it is session [0-9a-f]{18}, ${whereItGoes}`)],
    ['a name', () => 'boat', /a thing is named by its token \(43 characters\) or its id/],
    ['the id of another thing', (_, other) => other.thingId, /session [0-9a-f]{18} is not for this thing/],
  ])('on a write topic with %s in the place of the thing says so, as do filter and will', async (...row) => {
    const [, ref, why] = row
    const { service, thing, other } = await start()
    const { sessionToken } = await service.things.sessions.create([thing.thingId], { access: 'write' })
    const connect = async (options: object = {}) =>
      await service.connect({ username: 'app', password: sessionToken, ...options })
    const topic = writeTopicOf(ref(sessionToken, other))
    const client = await connect()
    await client.publish(topic, body)
    expect(await client.subscribe(`things/${ref(sessionToken, other)}/values/+`)).toBe(128)
    await connect(will(topic))
    await eventually(async () => (await listOf(service, thing)).length).toBe(3)
    const list = await listOf(service, thing)
    for (const text of list) expect(text).toMatch(why)
    expect(list.join()).not.toContain(sessionToken)
    expect(list.find(text => text.startsWith('not_a_write_topic'))).toMatch(
      /publish on `things\/<token>\/write`, with a session or the admin key `things\/<thing id>\/write`\.$/,
    )
  })

  it('of a connection that has shown no credential closes it', async () => {
    const { service } = await start()
    const client = await service.connect()
    await client.publish('homeassistant/x', body, { qos: 0 })
    await client.untilClosed()
  })

  it('of an anonymous connection that has written with a token is on the list of that thing', async () => {
    const { service, thing } = await start()
    const client = await service.connect()
    await client.publish(writeTopicOf(thing.thingToken), body)
    await client.publish('homeassistant/x', body)
    expect(await listOf(service, thing)).toEqual([expect.stringMatching(/^not_a_write_topic/)])
  })

  it.each([
    ['a session of two things', 'write'],
    ['a session that may only read', 'read'],
  ] as const)('of %s is on no list', async (name, access) => {
    const { service, thing, other } = await start()
    const things = name.includes('two') ? [thing, other] : [thing]
    const client = await service.connectSession(things, access)
    for (const topic of ['homeassistant/x', `things/${thing.thingId}/values/n`])
      await client.publish(topic, body)
    await client.ping()
    for (const each of [thing, other]) expect(await listOf(service, each)).toEqual([])
  })

  it('of a session that may only read is no write', async () => {
    const { service, thing } = await start()
    const client = await service.connectSession([thing], 'read')
    await client.publish(writeTopicOf(thing.thingId), body)
    expect(await service.values(thing, 'n')).toEqual([])
    expect(await listOf(service, thing)).toEqual([])
  })
})
