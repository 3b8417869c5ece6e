import { describe, expect, it } from 'vitest'
import { write } from '../../helpers/http-client.ts'
import { isMessageOn, isOf, type MqttClient } from '../../helpers/mqtt-client.ts'
import { DoorService, type DoorServiceOptions, reading, writeTopicOf } from '../door-service.ts'

const version5 = { protocolVersion: 5 } as const

async function start(options: DoorServiceOptions = {}) {
  const service = await DoorService.start(options)
  const thing = await service.createThing()
  const client = await service.connectThing(thing, version5)
  await client.publish(writeTopicOf(thing.thingId), reading(1))
  return { service, thing, client }
}

/** Whether a retained message comes before the next live one. @param publish makes a live message */
async function isShown(client: MqttClient, publish: () => Promise<void>): Promise<boolean> {
  const [shown] = await Promise.all([client.next(isOf('publish')), publish()])
  if (shown.retain) await client.next(packet => packet.cmd === 'publish' && !packet.retain)
  return shown.retain
}

describe('SUBACK of version 5', () => {
  it('says for each filter what is granted, or why it is not', async () => {
    const { service, thing, client } = await start({ limits: { subscriptionsPerConnection: 3 } })
    const other = await service.createThing()
    const filters = [
      `things/${thing.thingId}/values/+`,
      `things/${other.thingId}/values/+`,
      'elsewhere/#',
      'a/#/b',
      'a\u0001',
      '$share/group/a',
      'v2/activations/unknown/x',
      `things/${thing.thingId}/errors`,
      `things/${thing.thingId}/date`,
      `things/${thing.thingId}/limits`,
    ]
    const codes = await client.subscribeAll(filters, 2)
    expect(codes).toEqual([2, 0x87, 0x87, 0x8f, 0x8f, 0x9e, 0x87, 2, 2, 0x97])
  })

  it('says so of other topics', async () => {
    const limits = { subscriptionsPerConnection: 2 }
    const { service } = await start({ limits, topics: ['house/#'] })
    const client = await service.connectTopics([{ filter: 'house/a/#', access: 'read' }], version5)
    const filters = [
      'house/a/#',
      'house/#',
      'a/#/b',
      'house/a/\u0001',
      '$share/g/house/a',
      '$SYS/#',
      'house/a/b',
      'house/a/c',
    ]
    expect(await client.subscribeAll(filters, 2)).toEqual([2, 0x87, 0x8f, 0x8f, 0x9e, 0x87, 2, 0x97])
  })

  it('of UNSUBSCRIBE says for each filter whether there was one', async () => {
    const { thing, client } = await start({ topics: ['house/#'] })
    const filter = `things/${thing.thingToken}/values/+`
    await client.subscribe(filter)
    const messageId = client.nextMessageId()
    client.send({ cmd: 'unsubscribe', messageId, unsubscriptions: [filter, 'house/a', 'x/#/y'] })
    expect(await client.next(isOf('unsuback', messageId))).toMatchObject({ granted: [0, 0x11, 0x11] })
  })

  it('of UNSUBSCRIBE knows filters of other topics', async () => {
    const { service } = await start({ topics: ['house/#'] })
    const client = await service.connectTopics([{ filter: 'house/#', access: 'read' }], version5)
    await client.subscribe('house/a')
    const messageId = client.nextMessageId()
    client.send({ cmd: 'unsubscribe', messageId, unsubscriptions: ['house/a', 'house/b'] })
    expect(await client.next(isOf('unsuback', messageId))).toMatchObject({ granted: [0, 0x11] })
  })
})

describe('Retain Handling on the topics of things', () => {
  it.each([
    [0, true, true],
    [1, true, false],
    [2, false, false],
  ] as const)('%i sends the retained view: first %s, then %s', async (rh, first, second) => {
    const { service, thing, client: writer } = await start()
    const topic = writeTopicOf(thing.thingId)
    const options = {
      ...version5,
      clientId: 'reader',
      clean: false,
      properties: { sessionExpiryInterval: 60 },
    }
    for (const shown of [first, second]) {
      const client = await service.connectThing(thing, options)
      await client.subscribeTo({ topic: `things/${thing.thingId}/values/+`, qos: 1, rh })
      expect(await isShown(client, () => writer.publish(topic, reading(2)))).toBe(shown)
      await client.destroy()
    }
  })
})

describe('what Retain Handling says of a session that has lost messages', () => {
  it.each([
    [0, true],
    [1, true],
    [2, false],
  ] as const)('%i: whether it is shown the present: %s', async (rh, isShownAgain) => {
    const { service, thing } = await start()
    const options = {
      ...version5,
      clientId: 'reader',
      clean: false,
      properties: { sessionExpiryInterval: 60 },
    }
    const first = await service.connectThing(thing, options)
    await first.subscribeTo({ topic: `things/${thing.thingId}/values/n`, qos: 1, rh })
    await first.subscribe(`things/${thing.thingId}/values/mark`)
    if (rh < 2) await first.next(isOf('publish'))
    await first.ping()
    await first.disconnect()
    const values = Array.from({ length: 1_001 }, (_, value) => ({ key: 'n', value }))
    expect((await write(service, thing, { values })).status).toBe(201)
    const back = await service.connectThing(thing, options)
    const isMark = isMessageOn(`things/${thing.thingId}/values/mark`)
    while (back.received.filter(isOf('publish')).length < 1_000) await back.next(isOf('publish'))
    if (isShownAgain) await back.next(packet => packet.cmd === 'publish' && packet.retain)
    await Promise.all([back.next(isMark), write(service, thing, reading(1, 'mark'))])
    const shown = back.received.filter(isOf('publish')).filter(({ retain }) => retain)
    expect(shown).toHaveLength(isShownAgain ? 1 : 0)
  })
})

/** Subscription identifier and QoS of the messages of a thing with this value, in their order. */
function copiesOf(client: MqttClient, value: unknown): string[] {
  const messages = client.received.filter(isOf('publish'))
  const ofValue = messages.filter(({ payload }) => JSON.parse(payload.toString()).value === value)
  return ofValue.map(({ qos, properties }) => `${properties?.subscriptionIdentifier ?? 0} ${qos}`)
}

describe('a subscription identifier on the topics of things', () => {
  it.each(['live', 'kept'] as const)('comes with a copy of its own, at the greatest QoS, %s', async how => {
    const { service, thing, client: writer } = await start()
    const values = `things/${thing.thingId}/values`
    const options = {
      ...version5,
      clientId: 'reader',
      clean: false,
      properties: { sessionExpiryInterval: 60 },
    }
    const reader = await service.connectThing(thing, options)
    const rh = 2
    await reader.subscribeAs(7, { topic: `${values}/#`, qos: 0, rh }, { topic: `${values}/n`, qos: 2, rh })
    await reader.subscribeAs(300, { topic: `${values}/+`, qos: 0, rh })
    await reader.subscribeAs(9, { topic: `${values}/m`, qos: 1, rh })
    await reader.subscribeTo({ topic: `things/${thing.thingId}/+/n`, qos: 1, rh })
    await reader.ping()
    if (how === 'kept') await reader.destroy()
    for (const [value, key] of [
      ['x', 'n'],
      ['mark', 'm'],
    ])
      await writer.publish(writeTopicOf(thing.thingId), reading(value, key))
    const client = how === 'kept' ? await service.connectThing(thing, options) : reader
    while (!copiesOf(client, 'mark').includes('9 1')) await client.next(isOf('publish'))
    await client.ping()
    expect(copiesOf(client, 'x')).toEqual(how === 'kept' ? ['0 1', '7 1'] : ['0 1', '7 1', '300 0'])
  })

  it('comes with retained messages of the SUBSCRIBE alone, one copy', async () => {
    const { service, thing, client: writer } = await start()
    const values = `things/${thing.thingId}/values`
    const reader = await service.connectThing(thing, version5)
    await reader.subscribeAs(1, { topic: `${values}/n`, qos: 1 }, { topic: `${values}/#`, qos: 1 })
    await reader.subscribeAs(2, { topic: `${values}/+`, qos: 1 })
    await reader.subscribeTo({ topic: `${values}/n`, qos: 1, rh: 2 })
    await writer.publish(writeTopicOf(thing.thingId), reading('mark', 'm'))
    while (copiesOf(reader, 'mark').length < 2) await reader.next(isOf('publish'))
    expect(copiesOf(reader, 1)).toEqual(['1 1', '2 1'])
  })
})

describe('No Local and Retain As Published on the topics of things', () => {
  it('are taken, and have no effect', async () => {
    const { thing, client } = await start()
    await client.subscribeTo({
      topic: `things/${thing.thingId}/values/n`,
      qos: 1,
      nl: true,
      rap: true,
      rh: 2,
    })
    await client.publish(writeTopicOf(thing.thingId), reading('own'), { retain: true })
    const { payload, retain } = await client.next(isOf('publish'))
    expect([JSON.parse(payload.toString()).value, retain]).toEqual(['own', false])
  })
})

describe('Retain Handling on other topics', () => {
  it.each([
    [0, true, true],
    [1, true, false],
    [2, false, false],
  ] as const)('%i sends the retained message: first %s, then %s', async (rh, first, second) => {
    const { service } = await start({ topics: ['house/#'] })
    const grants = (['read', 'write'] as const).map(access => ({ filter: 'house/#', access }))
    const client = await service.connectTopics(grants, version5)
    await client.publish('house/n', 'x', { retain: true })
    for (const shown of [first, second]) {
      await client.subscribeTo({ topic: 'house/n', qos: 1, rh })
      expect(await isShown(client, () => client.publish('house/n', 'y'))).toBe(shown)
    }
    const { sessionToken: password } = await service.things.sessions.create([], {
      access: 'read',
      topics: grants,
    })
    const options = { ...version5, username: 'x', password, clientId: 'reader', clean: false }
    for (const shown of [first, second]) {
      const reader = await service.connect({ ...options, properties: { sessionExpiryInterval: 60 } })
      await reader.subscribeTo({ topic: 'house/n', qos: 1, rh })
      expect(await isShown(reader, () => client.publish('house/n', 'y'))).toBe(shown)
      await reader.destroy()
    }
  })
})
