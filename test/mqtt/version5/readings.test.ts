import type { IPublishPacket } from 'mqtt-packet'
import { describe, expect, it } from 'vitest'
import { isOf, type MqttClient, type Payload, publishPacket } from '../../helpers/mqtt-client.ts'
import { DoorService, reading, writeTopicOf } from '../door-service.ts'

const version5 = { protocolVersion: 5 } as const

async function start() {
  const service = await DoorService.start()
  const thing = await service.createThing()
  const client = await service.connectThing(thing, version5)
  return { service, thing, client, topic: writeTopicOf(thing.thingToken) }
}

type Properties = NonNullable<IPublishPacket['properties']>

async function ackOf(client: MqttClient, topic: string, payload: Payload, properties: Properties) {
  const messageId = client.nextMessageId()
  client.send(publishPacket(topic, payload, { messageId, properties }))
  return await client.next(isOf('puback', messageId))
}

describe('the properties of a write', () => {
  it.each([
    ['nothing', {}, 0],
    ['JSON', { contentType: 'application/json; charset=utf-8', payloadFormatIndicator: true }, 0],
    ['text', { contentType: 'text/plain' }, 0],
    ['a name of its own', { contentType: 'reading' }, 0],
    ['CBOR', { contentType: 'application/cbor' }, 0x99],
    ['an image', { contentType: 'image/png' }, 0x99],
    ['an expiry', { messageExpiryInterval: 0 }, 0],
  ])('that say %s', async (_, properties, code) => {
    const { service, thing, client, topic } = await start()
    const ack = await ackOf(client, topic, reading(1), properties)
    expect(ack.reasonCode).toBe(code)
    expect(await service.values(thing, 'n')).toEqual(code === 0 ? [1] : [])
    if (code > 0) expect(ack.properties?.userProperties).toMatchObject({ reason: 'unsupported_media_type' })
  })

  it('choose like flags of a query, and win over the body', async () => {
    const { service, thing, client, topic } = await start()
    const witness = await service.connectThing(thing, version5)
    await witness.subscribe(`things/${thing.thingId}/values/n`)
    const write = (value: number, userProperties: Record<string, string>) =>
      client.publish(topic, { ...reading(value), store: true }, { properties: { userProperties } })
    await write(1, { store: 'false' })
    await write(2, { broadcast: 'false' })
    await write(3, { store: 'true', broadcast: 'true', other: 'x' })
    expect(await service.values(thing, 'n')).toEqual([2, 3])
    const seen = [await witness.next(isOf('publish')), await witness.next(isOf('publish'))]
    expect(seen.map(({ payload }) => JSON.parse(payload.toString()).value)).toEqual([1, 3])
  })

  it('have a write id, by which a write is stored once', async () => {
    const { service, thing, client, topic } = await start()
    for (const value of [1, 2])
      await client.publish(topic, reading(value), { properties: { userProperties: { id: 'a' } } })
    const response = await fetch(`${service.url}/v2/things/${thing.thingToken}`, {
      method: 'POST',
      body: JSON.stringify(reading(3)),
      headers: { 'Idempotency-Key': 'a' },
    })
    expect(response.status).toBe(201)
    const other = { ...reading(4), id: 'b' }
    const ack = await ackOf(client, topic, other, { userProperties: { id: 'c' } })
    expect(ack).toMatchObject({
      reasonCode: 0x83,
      properties: { userProperties: { reason: 'invalid_write_id' } },
    })
    expect(await service.values(thing, 'n')).toEqual([1])
  })

  it('have no write id in their Correlation Data', async () => {
    const { service, thing, client, topic } = await start()
    const correlationData = Buffer.from('a')
    for (const value of [1, 2])
      await client.publish(topic, reading(value), { properties: { correlationData } })
    expect(await service.values(thing, 'n')).toEqual([1, 2])
  })

  it.each<[string, Properties['userProperties'], string]>([
    ['a flag that is none', { store: 'yes' }, 'invalid_flag'],
    ['a flag of an object’s own', { store: 'toString' }, 'invalid_flag'],
    ['a flag twice', { partial: ['true', 'true'] }, 'invalid_flag'],
    ['a write id twice', { id: ['a', 'a'] }, 'invalid_write_id'],
    ['an empty write id', { id: '' }, 'invalid_write_id'],
  ])('are refused with %s, and listed', async (_, userProperties, reason) => {
    const { service, thing, client, topic } = await start()
    const ack = await ackOf(client, topic, reading(1), userProperties ? { userProperties } : {})
    expect(ack).toMatchObject({ reasonCode: 0x83, properties: { userProperties: { reason } } })
    expect(await service.values(thing, 'n')).toEqual([])
    expect(await service.things.refused.list(thing.thingId, 10)).toMatchObject([{ reason }])
  })

  it('say which records a partial write left out', async () => {
    const { service, thing, client, topic } = await start()
    const body = { values: [...reading(1).values, { key: 'a b', value: 1 }] }
    const ack = await ackOf(client, topic, body, { userProperties: { partial: 'true' } })
    expect(ack.reasonCode).toBe(0)
    const rejected = JSON.parse(String(ack.properties?.userProperties?.rejected))
    expect(rejected).toMatchObject([{ index: 1, field: 'key', reason: 'invalid_key' }])
    expect(await service.values(thing, 'n')).toEqual([1])
  })
})

it('a partial write names the first of thousands of records that it left out', async () => {
  const { service, thing, client, topic } = await start()
  const bad = Array.from({ length: 9_000 }, () => ({ key: 'a b', value: 1 }))
  const body = { values: [...reading(1).values, ...bad] }
  const ack = await ackOf(client, topic, body, { userProperties: { partial: 'true' } })
  const rejected = JSON.parse(String(ack.properties?.userProperties?.rejected)) as unknown[]
  expect(rejected[0]).toMatchObject({ index: 1, field: 'key', reason: 'invalid_key' })
  expect(rejected.length).toBeGreaterThan(100)
  expect(await service.values(thing, 'n')).toEqual([1])
})

describe('the answer to a write', () => {
  it.each([0, 1, 2] as const)('at QoS %i is that of HTTP, for the sender alone', async qos => {
    const { service, thing, client, topic } = await start()
    const answers = `things/${thing.thingId}/answers/#`
    await client.subscribe(answers)
    const other = await service.connectThing(thing, version5)
    await other.subscribe(answers)
    const correlationData = Buffer.from([1, 0, 255])
    const responseTopic = `things/${thing.thingToken}/answers/board`
    const write = (body: Payload) =>
      client.send(
        publishPacket(topic, body, {
          ...{ qos, messageId: client.nextMessageId() },
          properties: { responseTopic, correlationData },
        }),
      )
    write(reading(1))
    const stored = await client.next(isOf('publish'))
    expect(stored).toMatchObject({ topic: responseTopic, qos: 1, properties: { correlationData } })
    expect(JSON.parse(stored.payload.toString())).toEqual({ status: 'created', message: 'created' })
    write('x')
    const refused = await client.next(isOf('publish'))
    expect(JSON.parse(refused.payload.toString())).toMatchObject({ code: 400, reason: 'invalid_json' })
    await other.ping()
    expect(other.received.filter(isOf('publish'))).toEqual([])
  })

  it('comes again for a write under its write id, but not for one under its packet id', async () => {
    const { service, thing, client, topic } = await start()
    const responseTopic = `things/${thing.thingId}/answers`
    await client.subscribe(responseTopic)
    const answers = () => client.received.filter(isOf('publish')).length
    const properties = { responseTopic, userProperties: { id: 'a' } }
    for (const value of [1, 2]) await client.publish(topic, reading(value), { properties })
    await client.ping()
    expect(answers()).toBe(2)
    const twice = publishPacket(topic, reading(3), { qos: 2, messageId: 9, properties: { responseTopic } })
    for (const dup of [false, true]) {
      client.send({ ...twice, dup } as typeof twice)
      await client.next(isOf('pubrec', 9))
    }
    await client.ping()
    expect(answers()).toBe(3)
    expect(await service.values(thing, 'n')).toEqual([1, 3])
  })

  it('comes to a write at QoS 0 that is dropped for its rate', async () => {
    const service = await DoorService.start({ limits: { recordsPerSecond: 1 } })
    const thing = await service.createThing()
    const client = await service.connectThing(thing, version5)
    const [topic, responseTopic] = [writeTopicOf(thing.thingId), `things/${thing.thingId}/answers`]
    await client.subscribe(responseTopic)
    const values = Array.from({ length: 1_000 }, (_, value) => ({ key: 'debt', value }))
    await client.publish(topic, { values })
    const correlationData = Buffer.from('a')
    await client.publish(topic, reading(1), { qos: 0, properties: { responseTopic, correlationData } })
    const { payload, properties } = await client.next(isOf('publish'))
    expect(properties).toMatchObject({ correlationData })
    expect(JSON.parse(payload.toString())).toMatchObject({ code: 429, reason: 'record_rate_exceeded' })
  })

  it('goes to nobody who has not subscribed', async () => {
    const { thing, client, topic } = await start()
    const responseTopic = `things/${thing.thingId}/answers`
    await client.publish(topic, reading(1), { properties: { responseTopic } })
    await client.ping()
    expect(client.received.filter(isOf('publish'))).toEqual([])
    await client.subscribe(responseTopic)
    await client.publish(topic, reading(1), { properties: { responseTopic } })
    expect((await client.next(isOf('publish'))).topic).toBe(responseTopic)
  })

  it.each([
    ['another topic', () => 'answers'],
    ['another topic of the thing', (thingId: string) => `things/${thingId}/values/n`],
    ['another thing', () => 'things/abcdefghijklmnop/answers'],
  ])('is refused on %s', async (_, topicOf) => {
    const { service, thing, client, topic } = await start()
    const ack = await ackOf(client, topic, reading(1), { responseTopic: topicOf(thing.thingId) })
    expect(ack.reasonCode).toBe(0x90)
    expect(ack.properties?.userProperties).toMatchObject({ reason: 'not_an_answer_topic' })
    expect(await service.values(thing, 'n')).toEqual([])
  })

  it('has its topic in CONNACK, if a thing asks for it', async () => {
    const { service, thing } = await start()
    const properties = { requestResponseInformation: true }
    const asking = await service.connectThing(thing, { ...version5, properties })
    expect(asking.connack.properties?.responseInformation).toBe(`things/${thing.thingId}/answers`)
    const silent = await service.connectThing(thing, version5)
    expect(silent.connack.properties?.responseInformation).toBeUndefined()
    const several = await service.connectSession('*', 'write', { ...version5, properties } as object)
    expect(several.connack.properties?.responseInformation).toBeUndefined()
  })
})

describe('topic aliases towards a client', () => {
  it('stand for its first topics of things, at most as many as it takes', async () => {
    const { service, thing, client, topic } = await start()
    const properties = { topicAliasMaximum: 2 }
    const reader = await service.connectThing(thing, { ...version5, properties })
    await reader.subscribe(`things/${thing.thingId}/values/#`)
    for (const key of ['a', 'b', 'c', 'a', 'b', 'c']) await client.publish(topic, reading(1, key))
    const seen: unknown[] = []
    for (let count = 0; count < 6; count++) {
      const { topic, properties } = await reader.next(isOf('publish'))
      seen.push([topic.split('/').at(-1), properties?.topicAlias])
    }
    expect(seen).toEqual([
      ...[
        ['a', 1],
        ['b', 2],
        ['c', undefined],
      ],
      ...[
        ['', 1],
        ['', 2],
        ['c', undefined],
      ],
    ])
  })

  it('are 64 at most, however many it takes', async () => {
    const { service, thing, client, topic } = await start()
    const properties = { topicAliasMaximum: 65_535 }
    const reader = await service.connectThing(thing, { ...version5, properties })
    await reader.subscribe(`things/${thing.thingId}/values/#`)
    for (const _ of [1, 2]) {
      const keys = Array.from({ length: 66 }, (_, place) => ({ key: `k${place}`, value: 1 }))
      await client.publish(topic, { values: keys })
    }
    const seen: unknown[] = []
    for (let count = 0; count < 132; count++) {
      const { topic, properties } = await reader.next(isOf('publish'))
      seen.push([topic.split('/').at(-1), properties?.topicAlias])
    }
    const named = Array.from({ length: 66 }, (_, place) => [`k${place}`, place < 64 ? place + 1 : undefined])
    expect(seen).toEqual([...named, ...named.map(([key, alias]) => [alias ? '' : key, alias])])
  })
})

describe('a will that is a write', () => {
  it.each([
    ['takes its options', { userProperties: { store: 'false' } }, [], []],
    ['is refused as a write is', { contentType: 'application/cbor' }, [], ['unsupported_media_type']],
    ['is stored', { contentType: 'application/json' }, ['will'], []],
  ])('%s from its properties', async (_, properties, stored, refused) => {
    const { service, thing, client, topic } = await start()
    await client.subscribe(`things/${thing.thingId}/#`)
    const will = { topic, payload: reading('will'), qos: 1 as const, properties }
    await (await service.connectThing(thing, { ...version5, will })).destroy()
    await client.next(packet => packet.cmd === 'publish' && !packet.retain)
    expect(await service.values(thing, 'n')).toEqual(stored)
    const listed = await service.things.refused.list(thing.thingId, 10)
    expect(listed.map(({ reason }) => reason)).toEqual(refused)
  })
})
