import type { IPublishPacket } from 'mqtt-packet'
import { describe, expect, it } from 'vitest'
import type { TopicGrant } from '../../../src/core/topics/topic-grant.ts'
import { type ConnectOptions, isOf, type MqttAddress, type MqttClient } from '../../helpers/mqtt-client.ts'
import { DoorService, reading, writeTopicOf } from '../door-service.ts'

const version5 = { protocolVersion: 5 } as const
const everything: readonly TopicGrant[] = [
  { filter: 'house/#', access: 'read' },
  { filter: 'house/#', access: 'write' },
]

async function start() {
  const service = await DoorService.start({ topics: ['house/#'] })
  const { sessionToken: password } = await service.things.sessions.create([], {
    access: 'read',
    topics: everything,
  })
  const connect = (options: ConnectOptions & Partial<MqttAddress> = {}) =>
    service.connect({ ...version5, username: 'x', password, ...options })
  return { service, connect }
}

const session = { sessionExpiryInterval: 60 }
const properties = {
  payloadFormatIndicator: true,
  contentType: 'text/plain',
  responseTopic: 'house/answers',
  correlationData: Buffer.from([0, 1, 255]),
  userProperties: { b: ['2', '1'], a: '3' },
}

/** The properties of a message as its receiver sees them. */
function seen({ properties: { subscriptionIdentifier: _, ...rest } = {} }: IPublishPacket) {
  return { ...rest, userProperties: { ...rest.userProperties } }
}

/** Identifiers of the messages with this text, in the order in which they came. */
function identifiersOf(client: MqttClient, text: string) {
  const messages = client.received.filter(isOf('publish')).filter(({ payload }) => String(payload) === text)
  return messages.map(each => each.properties?.subscriptionIdentifier ?? 0)
}

describe('the properties of a message on another topic', () => {
  it.each([0, 1, 2] as const)(
    'at QoS %i go along unaltered, and a client of 3.1.1 gets the payload',
    async qos => {
      const { connect } = await start()
      const [publisher, reader, old] = [
        await connect(),
        await connect(),
        await connect({ protocolVersion: 4 }),
      ]
      for (const client of [reader, old]) await client.subscribe('house/#', 2)
      await publisher.publish('house/a', 'text', { qos, properties })
      const message = await reader.next(isOf('publish'))
      expect(message).toMatchObject({ topic: 'house/a', payload: Buffer.from('text'), qos, retain: false })
      expect(seen(message)).toEqual(properties)
      expect(await old.next(isOf('publish'))).toMatchObject({ payload: Buffer.from('text'), qos })
      await old.publish('house/b', 'old', { qos })
      expect(await reader.next(isOf('publish'))).toMatchObject({
        topic: 'house/b',
        payload: Buffer.from('old'),
      })
    },
  )

  it.each([1, 2] as const)('at QoS %i are kept for a session, and sent again', async qos => {
    const { connect } = await start()
    const options = { clientId: 'reader', clean: false, properties: session, acknowledges: false }
    const away = await connect(options)
    await away.subscribe('house/#', 2)
    await away.destroy()
    const publisher = await connect()
    await publisher.publish('house/a', 'text', { qos, properties })
    for (const dup of [false, true]) {
      const client = await connect(options)
      const message = await client.next(isOf('publish'))
      expect(message).toMatchObject({ payload: Buffer.from('text'), qos, dup })
      expect(seen(message)).toEqual(properties)
      await client.destroy()
    }
    const old = await connect({ ...options, protocolVersion: 4 })
    expect(await old.next(isOf('publish'))).toMatchObject({ payload: Buffer.from('text'), qos, dup: true })
  })

  it.each([0, 1, 2] as const)('at QoS %i are retained, over a restart too', async qos => {
    const { service, connect } = await start()
    const publisher = await connect()
    await publisher.publish('house/a', 'text', { qos, retain: true, properties })
    const reader = await connect()
    await reader.subscribe('house/#', 2)
    const message = await reader.next(isOf('publish'))
    expect(message).toMatchObject({ payload: Buffer.from('text'), qos, retain: true })
    expect(seen(message)).toEqual(properties)
    const again = await service.restart({ topics: ['house/#'] })
    const late = await again.connectTopics(everything, version5)
    await late.subscribe('house/#', 2)
    expect(seen(await late.next(isOf('publish')))).toEqual(properties)
    const old = await again.connectTopics(everything)
    await old.subscribe('house/#', 2)
    expect(await old.next(isOf('publish'))).toMatchObject({ payload: Buffer.from('text'), retain: true })
  })

  it('keep their order byte by byte', async () => {
    const { connect } = await start()
    const [publisher, reader] = [await connect(), await connect()]
    await reader.subscribe('house/a')
    const came: Buffer[] = []
    reader.stream.on('data', bytes => came.push(bytes))
    const text = (content: string) => [0, content.length, ...Buffer.from(content)]
    const pair = (name: string, value: string) => [38, ...text(name), ...text(value)]
    const given = [
      ...pair('a', '1'),
      ...pair('b', '2'),
      3,
      ...text('t'),
      ...pair('a', '3'),
      1,
      1,
      9,
      ...text('c'),
    ]
    const content = [...text('house/a'), 0, 1, given.length, ...given, 120]
    publisher.sendBytes(Buffer.from([0x32, content.length, ...content]))
    await reader.next(isOf('publish'))
    expect(Buffer.concat(came).includes(Buffer.from([given.length, ...given, 120]))).toBe(true)
  })

  it('are read behind a topic alias', async () => {
    const { connect } = await start()
    const [publisher, reader] = [await connect(), await connect()]
    await reader.subscribe('house/#')
    for (const topic of ['house/a', '', 'house/b', ''])
      await publisher.publish(topic, 'x', { properties: { topicAlias: 1, contentType: 'a' } })
    const got = []
    for (const _ of [1, 2, 3, 4]) got.push(await reader.next(isOf('publish')))
    expect(got.map(({ topic }) => topic)).toEqual(['house/a', 'house/a', 'house/b', 'house/b'])
    expect(got.map(seen)).toEqual(Array(4).fill({ contentType: 'a', userProperties: {} }))
  })

  it('count in the size of what is retained', async () => {
    const { connect } = await start()
    const publisher = await connect()
    const userProperties = { x: Array.from({ length: 14 }, () => 'y'.repeat(65_000)) }
    const codes: (number | undefined)[] = []
    for (let place = 0; codes.at(-1) !== 0x97 && place < 90; place++) {
      const messageId = publisher.nextMessageId()
      publisher.send({
        ...{ cmd: 'publish', topic: `house/${place}`, payload: 'x', qos: 1, dup: false, retain: true },
        ...{ messageId, properties: { userProperties } },
      })
      codes.push((await publisher.next(isOf('puback', messageId))).reasonCode)
    }
    expect(codes.length).toBeGreaterThan(60)
    expect(codes.at(-1)).toBe(0x97)
  })
})

describe('Message Expiry', () => {
  it('is counted down, and what is over is neither delivered nor shown, and leaves the store', async () => {
    const { service, connect } = await start()
    const options = { clientId: 'reader', clean: false, properties: session }
    const away = await connect(options)
    await away.subscribe('house/+', 1)
    await away.destroy()
    const publisher = await connect()
    const publish = (topic: string, messageExpiryInterval: number, retain = false) =>
      publisher.publish(topic, topic, { retain, properties: { messageExpiryInterval } })
    await publish('house/over', 1)
    await publish('house/long', 100)
    await publish('house/r/over', 1, true)
    await publish('house/r/long', 100, true)
    const isOver = () => new Promise(resolve => setTimeout(resolve, 1_500))
    await isOver()
    const back = await connect(options)
    const message = await back.next(isOf('publish'))
    expect(message.topic).toBe('house/long')
    expect(message.properties?.messageExpiryInterval).toBeLessThan(100)
    const reader = await connect()
    await reader.subscribe('house/r/#')
    expect((await reader.next(isOf('publish'))).topic).toBe('house/r/long')
    await expect.poll(() => service.documents('topic-retained/')).toHaveLength(1)
    await expect.poll(() => service.documents('topic-queue/')).toEqual([])
  })
})

describe('No Local', () => {
  it.each([true, false])('keeps a message from its publisher: live and kept, persistent %s', async isKept => {
    const { connect } = await start()
    const options = { clientId: 'both', clean: false, ...(isKept && { properties: session }) }
    const client = await connect(options)
    await client.subscribeTo({ topic: 'house/a', qos: 1, nl: true })
    await client.subscribeTo({ topic: 'house/b', qos: 1, nl: false })
    const other = await connect()
    await client.publish('house/a', 'own')
    await client.publish('house/b', 'own')
    await other.publish('house/a', 'other')
    const got = [await client.next(isOf('publish')), await client.next(isOf('publish'))]
    expect(got.map(({ topic, payload }) => `${topic} ${payload}`)).toEqual(['house/b own', 'house/a other'])
  })
})

describe('Retain As Published', () => {
  it.each([0, 1, 2] as const)('keeps RETAIN at QoS %i: live, kept, sent again', async qos => {
    const { connect } = await start()
    const options = { clientId: 'reader', clean: false, properties: session }
    const reader = await connect(options)
    await reader.subscribeTo(
      { topic: 'house/a', qos: 2, rap: true },
      { topic: 'house/b', qos: 2, rap: false },
    )
    const publisher = await connect()
    const publish = async () => {
      for (const topic of ['house/a', 'house/b'])
        await publisher.publish(topic, 'x', { qos, retain: true, properties: { contentType: 'a' } })
    }
    const flags = async (client: MqttClient) => {
      const got = [await client.next(isOf('publish')), await client.next(isOf('publish'))]
      expect(got.map(({ properties }) => properties?.contentType)).toEqual(['a', 'a'])
      return got.map(({ topic, retain }) => `${topic} ${retain}`)
    }
    await publish()
    expect(await flags(reader)).toEqual(['house/a true', 'house/b false'])
    if (qos === 0) return
    await reader.ping()
    await reader.destroy()
    await publish()
    const back = await connect({ ...options, acknowledges: false })
    expect(await flags(back)).toEqual(['house/a true', 'house/b false'])
    await back.destroy()
    expect(await flags(await connect(options))).toEqual(['house/a true', 'house/b false'])
  })
})

describe('a subscription identifier', () => {
  it.each(['live', 'kept'] as const)(
    'comes with a copy of its own, at the greatest QoS of its filters, %s',
    async how => {
      const { connect } = await start()
      const options = { clientId: 'reader', clean: false, properties: session }
      const reader = await connect(options)
      await reader.subscribeAs(7, { topic: 'house/#', qos: 1 }, { topic: 'house/a', qos: 2 })
      await reader.subscribeAs(300, { topic: 'house/+', qos: 0 })
      await reader.subscribeAs(9, { topic: 'house/+/b', qos: 2 })
      await reader.subscribe('+/a'.replace('+', 'house'), 2)
      if (how === 'kept') await reader.destroy()
      const publisher = await connect()
      await publisher.publish('house/a', 'x', { qos: 2 })
      const client = how === 'kept' ? await connect(options) : reader
      const mark = await connect()
      await mark.publish('house/mark', 'mark')
      while (identifiersOf(client, 'mark').length < 2) await client.next(isOf('publish'))
      const copies = client.received.filter(isOf('publish')).filter(({ topic }) => topic === 'house/a')
      const shown = copies.map(({ qos, properties }) => `${properties?.subscriptionIdentifier ?? 0} ${qos}`)
      // The plain filter has replaced the one of identifier 7 with the same text.
      expect(shown.sort()).toEqual(how === 'kept' ? ['0 2', '7 1'] : ['0 2', '300 0', '7 1'])
    },
  )

  it('comes with retained messages of the SUBSCRIBE alone, one copy', async () => {
    const { connect } = await start()
    const publisher = await connect()
    await publisher.publish('house/a', 'x', { retain: true })
    const reader = await connect()
    await reader.subscribeAs(1, { topic: 'house/a', qos: 1 }, { topic: 'house/#', qos: 1 })
    await reader.subscribeAs(2, { topic: 'house/+', qos: 1 })
    await reader.subscribeTo({ topic: 'house/a', qos: 1, rh: 2 })
    await publisher.publish('house/z', 'z')
    while (identifiersOf(reader, 'z').length < 2) await reader.next(isOf('publish'))
    expect(identifiersOf(reader, 'x')).toEqual([1, 2])
  })

  it('keeps the order of the messages of each', async () => {
    const { connect } = await start()
    const reader = await connect({ clientId: 'reader', clean: false, properties: session })
    await reader.subscribeAs(1, { topic: 'house/#', qos: 1 })
    await reader.subscribeAs(2, { topic: 'house/a', qos: 1 })
    const publisher = await connect()
    const texts = Array.from({ length: 200 }, (_, place) => `${place}`)
    await Promise.all(texts.map((text, place) => publisher.publish(place % 3 ? 'house/a' : 'house/b', text)))
    const seenBy = (identifier: number) =>
      reader.received
        .filter(isOf('publish'))
        .filter(({ properties }) => properties?.subscriptionIdentifier === identifier)
        .map(({ payload }) => String(payload))
    while (seenBy(1).length < 200 || seenBy(2).length < texts.filter((_, place) => place % 3).length)
      await reader.next(isOf('publish'))
    expect(seenBy(1)).toEqual(texts)
    expect(seenBy(2)).toEqual(texts.filter((_, place) => place % 3))
  })
})

describe('the bounds of a client of version 5 on other topics', () => {
  it('Receive Maximum holds back messages at QoS 1 and 2', async () => {
    const { service, connect } = await start()
    const reader = await connect({ properties: { receiveMaximum: 2 }, acknowledges: false })
    await reader.subscribe('house/#', 2)
    const publisher = await connect()
    for (const [place, qos] of ([1, 2, 1, 0, 2] as const).entries())
      await publisher.publish('house/a', `${place}`, { qos })
    const texts = () => reader.received.filter(isOf('publish')).map(({ payload }) => String(payload))
    await reader.next(isOf('publish'))
    const second = await reader.next(isOf('publish'))
    await reader.ping()
    expect(texts()).toEqual(['0', '1'])
    const [first] = reader.received.filter(isOf('publish'))
    reader.send({ cmd: 'puback', messageId: first?.messageId ?? 0 })
    await reader.next(isOf('publish'))
    await reader.ping()
    expect(texts()).toEqual(['0', '1', '2', '3'])
    reader.send({ cmd: 'pubrec', messageId: second.messageId ?? 0, reasonCode: 0x80 })
    await expect.poll(async () => texts()).toEqual(['0', '1', '2', '3', '4'])
    expect(reader.received.filter(isOf('pubrel'))).toEqual([])
    expect(await service.documents('topic-queue/')).toEqual([])
  })

  it('Receive Maximum holds back messages of both kinds of topics together', async () => {
    const { service, connect } = await start()
    const thing = await service.createThing()
    await service.things.registry.setTopics(thing.thingId, everything)
    const options = { password: thing.thingToken, properties: { receiveMaximum: 2 }, acknowledges: false }
    const reader = await connect(options)
    await reader.subscribe('house/#', 2)
    await reader.subscribeTo({ topic: `things/${thing.thingId}/values/n`, qos: 1, rh: 2 })
    const publisher = await connect({ password: thing.thingToken })
    for (const value of ['0', '1', '2']) {
      await publisher.publish('house/a', value)
      await publisher.publish(writeTopicOf(thing.thingId), reading(value))
    }
    const got = () => reader.received.filter(isOf('publish'))
    for (let acked = 0; acked < 6; acked++) {
      await expect.poll(async () => got().length).toBe(Math.min(acked + 2, 6))
      await reader.ping()
      expect(got()).toHaveLength(Math.min(acked + 2, 6))
      reader.send({ cmd: 'puback', messageId: got()[acked]?.messageId ?? 0 })
    }
    const [house, things] = ['house/a', `things/${thing.thingId}/values/n`].map(topic =>
      got().filter(message => message.topic === topic),
    )
    expect(house?.map(({ payload }) => String(payload))).toEqual(['0', '1', '2'])
    expect(things?.map(({ payload }) => JSON.parse(String(payload)).value)).toEqual(['0', '1', '2'])
  })

  it.each([1, 2] as const)(
    'Maximum Packet Size drops a larger message at QoS %i, which is then acknowledged',
    async qos => {
      const { service, connect } = await start()
      const options = { clientId: 'reader', clean: false, properties: { ...session, maximumPacketSize: 100 } }
      const reader = await connect(options)
      await reader.subscribe('house/#', 2)
      const publisher = await connect()
      for (const text of ['1', 'x'.repeat(100), '2']) await publisher.publish('house/a', text, { qos })
      const got = [await reader.next(isOf('publish')), await reader.next(isOf('publish'))]
      expect(got.map(({ payload }) => String(payload))).toEqual(['1', '2'])
      await expect.poll(() => service.documents('topic-queue/')).toEqual([])
    },
  )
})
