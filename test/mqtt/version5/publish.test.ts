import type { IPubackPacket, IPubrecPacket } from 'mqtt-packet'
import { describe, expect, it } from 'vitest'
import {
  isOf,
  type MqttClient,
  type Payload,
  type PublishOptions,
  publishPacket,
} from '../../helpers/mqtt-client.ts'
import { DoorService, type DoorServiceOptions, reading, writeTopicOf } from '../door-service.ts'

const version5 = { protocolVersion: 5 } as const

async function start(options: DoorServiceOptions = {}) {
  const service = await DoorService.start(options)
  const thing = await service.createThing()
  const client = await service.connectThing(thing, version5)
  return { service, thing, client, topic: writeTopicOf(thing.thingToken) }
}

/** The ack of a PUBLISH at QoS 1 or 2. */
async function ackOf(client: MqttClient, topic: string, payload: Payload, { qos = 1 }: PublishOptions = {}) {
  const messageId = client.nextMessageId()
  client.send(publishPacket(topic, payload, { qos, messageId }))
  return await client.next(
    (packet): packet is IPubackPacket | IPubrecPacket =>
      (packet.cmd === 'puback' || packet.cmd === 'pubrec') && packet.messageId === messageId,
  )
}

const twoBad = { values: [{ key: 'a b', value: 1 }, { key: 'n', value: 2 }, { key: 'm' }] }

describe('the ack of a write in version 5', () => {
  it.each([1, 2] as const)('at QoS %i is four bytes if the write is stored', async qos => {
    const { service, thing, client, topic } = await start()
    const ack = await ackOf(client, topic, reading(1), { qos })
    expect(ack).toMatchObject({ reasonCode: 0, length: 2 })
    expect(await service.values(thing, 'n')).toEqual([1])
  })

  it.each([1, 2] as const)('at QoS %i has the reasons of HTTP if it is refused', async qos => {
    const { service, thing, client, topic } = await start()
    const response = await fetch(`${service.url}/v2/things/${thing.thingToken}`, {
      method: 'POST',
      body: JSON.stringify(twoBad),
    })
    const { message, errors, reason } = (await response.json()) as Record<string, unknown>
    const { reasonCode, properties } = await ackOf(client, topic, twoBad, { qos })
    expect(reasonCode).toBe(0x83)
    expect(properties?.reasonString).toBe(message)
    const { errors: listed, ...said } = properties?.userProperties ?? {}
    expect(said).toEqual({ reason, retryable: 'no' })
    expect(JSON.parse(String(listed))).toEqual(errors)
    expect(await service.values(thing, 'n')).toEqual([])
  })

  it('says that the thing has too many resources', async () => {
    const { client, topic } = await start({ limits: { resourcesPerThing: 1 } })
    await client.publish(topic, reading(1))
    expect((await ackOf(client, topic, reading(1, 'm'))).reasonCode).toBe(0x97)
  })

  it('leaves off from the last on what is larger than the client takes', async () => {
    const { service, thing, topic } = await start()
    const properties = { maximumPacketSize: 130 }
    const client = await service.connectThing(thing, { ...version5, properties })
    const { properties: said, length = 0 } = await ackOf(client, topic, twoBad)
    expect(said?.reasonString).toMatch(/^values\[0\]/)
    expect(said?.userProperties).toBeUndefined()
    expect(length).toBeLessThan(130)
  })

  it('has no reasons if the client wants none', async () => {
    const { service, thing, topic } = await start()
    const properties = { requestProblemInformation: false }
    const client = await service.connectThing(thing, { ...version5, properties })
    expect(await ackOf(client, topic, twoBad)).toMatchObject({ reasonCode: 0x83, length: 4 })
  })

  it('keeps the order of the packets, whether they are refused or stored', async () => {
    const { client, topic } = await start()
    const bodies = [reading(1), 'x', reading(2), twoBad, reading(3)]
    client.send(...bodies.map((body, place) => publishPacket(topic, body, { messageId: place + 1 })))
    await client.next(isOf('puback', 5))
    const acks = client.received.filter(isOf('puback'))
    expect(acks.map(({ messageId, reasonCode }) => [messageId, reasonCode])).toEqual([
      ...[
        [1, 0],
        [2, 0x99],
        [3, 0],
        [4, 0x83],
        [5, 0],
      ],
    ])
  })
})

describe('a refused QoS 2 PUBLISH', () => {
  it('frees its packet id', async () => {
    const { service, thing, client, topic } = await start()
    client.send(publishPacket(topic, 'x', { qos: 2, messageId: 7 }))
    expect(await client.next(isOf('pubrec', 7))).toMatchObject({ reasonCode: 0x99 })
    client.send(publishPacket(topic, reading(1), { qos: 2, messageId: 7 }))
    expect(await client.next(isOf('pubrec', 7))).toMatchObject({ reasonCode: 0 })
    await client.release(7)
    expect(await service.values(thing, 'n')).toEqual([1])
  })

  it('does not count as unacknowledged', async () => {
    const { client, topic } = await start()
    for (let messageId = 1; messageId <= 300; messageId++) {
      client.send(publishPacket(topic, 'x', { qos: 2, messageId }))
      await client.next(isOf('pubrec', messageId))
    }
    await client.ping()
  })

  it('of an unknown packet id gets PUBCOMP 0x92', async () => {
    const { client } = await start()
    client.send({ cmd: 'pubrel', messageId: 9 })
    expect(await client.next(isOf('pubcomp', 9))).toMatchObject({ reasonCode: 0x92 })
  })
})

describe('a PUBLISH elsewhere in version 5', () => {
  it.each<[string, (thing: { thingToken: string; thingId: string }) => string, number]>([
    ['a topic of its thing that takes no writes', ({ thingId }) => `things/${thingId}/errors`, 0x90],
    ['a topic that nobody takes', () => 'elsewhere', 0x90],
    ['a topic with a forbidden character', () => 'a\u0001', 0x90],
    ['the write topic of what can be no thing', () => writeTopicOf('x'), 0x90],
    ['the write topic of an unknown thing', () => 'things/abcdefghijklmnop/write', 0x87],
  ])('on %s is refused in its ack, and repeats nothing', async (_, topicOf, code) => {
    const { service, thing, client, topic } = await start()
    const elsewhere = topicOf(thing)
    const { reasonCode, properties } = await ackOf(client, elsewhere, reading(1))
    expect(reasonCode).toBe(code)
    expect(properties?.userProperties).toMatchObject({ reason: 'not_a_write_topic', retryable: 'no' })
    expect(properties?.reasonString).not.toContain(elsewhere)
    await client.publish(topic, reading(2))
    expect(await service.values(thing, 'n')).toEqual([2])
    expect(await service.things.refused.list(thing.thingId, 10)).toHaveLength(1)
  })

  it('on another thing’s topic is refused with 0x87', async () => {
    const { service, client } = await start()
    const other = await service.createThing()
    const ack = await ackOf(client, writeTopicOf(other.thingId), reading(1))
    expect(ack.reasonCode).toBe(0x87)
    expect(JSON.stringify(ack)).not.toContain(other.thingId)
  })

  it('with an unknown token is refused with 0x87, counted, and leaves the connection open', async () => {
    const { service, thing, topic } = await start({ limits: { failedCredentialsPerMinute: 2 } })
    const client = await service.connect(version5)
    const unknown = writeTopicOf('x'.repeat(43))
    for (let count = 0; count < 2; count++)
      expect((await ackOf(client, unknown, reading(1))).reasonCode).toBe(0x87)
    await client.publish(topic, reading(2))
    expect(await service.values(thing, 'n')).toEqual([2])
    const refused = await service.connect({ ...version5, username: 'x', password: 'y' })
    expect(refused.connack.reasonCode).toBe(0x9f)
  })

  it('at QoS 0 without a proven credential ends the connection with 0x87', async () => {
    const { service } = await start()
    const client = await service.connect(version5)
    client.send(publishPacket(writeTopicOf('x'.repeat(43)), reading(1), { qos: 0 }))
    await client.untilClosed()
    expect(client.received.at(-1)).toMatchObject({ cmd: 'disconnect', reasonCode: 0x87 })
  })

  it('on another topic that others may write gets 0x87, on one that nobody may 0x90', async () => {
    const { service, client } = await start({ topics: ['house/#'] })
    expect((await ackOf(client, 'house/a', 'x')).reasonCode).toBe(0x87)
    expect((await ackOf(client, 'garden/a', 'x')).reasonCode).toBe(0x90)
    const topics = [{ filter: 'house/#', access: 'read' }] as const
    const reader = await service.connectTopics(topics, version5)
    expect((await ackOf(reader, 'house/a', 'x', { qos: 2 })).reasonCode).toBe(0x87)
  })
})

describe('Receive Maximum', () => {
  it('of the server ends a connection with more unreleased QoS 2 messages', async () => {
    const { service, thing, client, topic } = await start()
    const publish = (messageId: number) => publishPacket(topic, reading(messageId), { qos: 2, messageId })
    client.send(...Array.from({ length: 256 }, (_, place) => publish(place + 1)))
    await client.next(isOf('pubrec', 256))
    client.send({ ...publish(5), dup: true } as (typeof client.received)[number])
    await client.ping()
    client.send(publish(257))
    await client.untilClosed()
    expect(client.received.at(-1)).toMatchObject({ cmd: 'disconnect', reasonCode: 0x93 })
    expect(await service.values(thing, 'n')).toHaveLength(256)
  })

  it('of the client holds back live messages until it acknowledges', async () => {
    const { service, thing, client, topic } = await start()
    const properties = { receiveMaximum: 2 }
    const reader = await service.connect({
      ...{ ...version5, properties, acknowledges: false },
      ...{ username: 'x', password: thing.thingToken },
    })
    await reader.subscribe(`things/${thing.thingId}/values/n`)
    for (let value = 1; value <= 5; value++) await client.publish(topic, reading(value))
    const valueIn = ({ payload }: { payload: string | Buffer }) => JSON.parse(payload.toString()).value
    for (let value = 1; value <= 5; value++) {
      const message = await reader.next(isOf('publish'))
      expect(valueIn(message)).toBe(value)
      if (value === 1) continue
      await reader.ping()
      expect(reader.received.filter(isOf('publish'))).toHaveLength(value)
      reader.send({ cmd: 'puback', messageId: value - 1 })
    }
  })

  it('counts what is sent again in a resumed session', async () => {
    const { service, thing, client, topic } = await start()
    const options = {
      ...{ ...version5, clientId: 'reader', clean: false, acknowledges: false },
      ...{ username: 'x', password: thing.thingToken },
    }
    const session = { sessionExpiryInterval: 60 }
    const first = await service.connect({ ...options, properties: session })
    await first.subscribe(`things/${thing.thingId}/values/n`)
    for (let value = 1; value <= 4; value++) await client.publish(topic, reading(value))
    for (let value = 1; value <= 4; value++) await first.next(isOf('publish'))
    await first.destroy()
    const again = await service.connect({ ...options, properties: { ...session, receiveMaximum: 1 } })
    for (let value = 1; value <= 4; value++) {
      const { payload, messageId, dup } = await again.next(isOf('publish'))
      expect([JSON.parse(payload.toString()).value, dup]).toEqual([value, true])
      await again.ping()
      expect(again.received.filter(isOf('publish'))).toHaveLength(value)
      again.send({ cmd: 'puback', messageId: messageId ?? 0 })
    }
  })
})

describe('Maximum Packet Size of the client', () => {
  it('drops larger messages, which count as acknowledged', async () => {
    const { service, thing, client, topic } = await start()
    const properties = { maximumPacketSize: 300, sessionExpiryInterval: 60 }
    const options = {
      ...{ ...version5, clientId: 'reader', clean: false, properties },
      ...{ username: 'x', password: thing.thingToken },
    }
    const reader = await service.connect(options)
    await reader.subscribe(`things/${thing.thingId}/values/n`)
    for (const value of [1, 'x'.repeat(300), 2]) await client.publish(topic, reading(value))
    const values = [await reader.next(isOf('publish')), await reader.next(isOf('publish'))]
    expect(values.map(({ payload }) => JSON.parse(payload.toString()).value)).toEqual([1, 2])
    await reader.ping()
    await reader.destroy()
    const again = await service.connect({ ...options, properties: { sessionExpiryInterval: 60 } })
    await again.ping()
    expect(again.received.filter(isOf('publish'))).toEqual([])
  })
})

describe('a topic alias of the client', () => {
  it('stands for its latest topic', async () => {
    const { service, thing, client, topic } = await start()
    const other = await service.createThing()
    const admin = await service.connect({ ...version5, username: 'x', password: service.adminKey })
    const send = async (to: string, value: number, topicAlias: number) =>
      await admin.publish(to, reading(value), { properties: { topicAlias } })
    await send(writeTopicOf(thing.thingId), 1, 1)
    await send('', 2, 1)
    await send(writeTopicOf(other.thingId), 3, 1)
    await send('', 4, 1)
    await send(writeTopicOf(thing.thingId), 5, 16)
    await send('', 6, 16)
    await send('', 7, 1)
    expect(await service.values(thing, 'n')).toEqual([1, 2, 5, 6])
    expect(await service.values(other, 'n')).toEqual([3, 4, 7])
    await client.publish(topic, reading(8))
  })
})
