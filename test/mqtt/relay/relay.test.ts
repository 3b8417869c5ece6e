import { describe, expect, it } from 'vitest'
import type { TopicGrant } from '../../../src/core/topics/topic-grant.ts'
import { isMessageOn, isOf, type Message, type MqttClient } from '../../helpers/mqtt-client.ts'
import { DoorService, reading, writeTopicOf } from '../door-service.ts'

const topics = ['tele/#', 'cmnd/#']
const all: readonly TopicGrant[] = [
  { filter: 'tele/#', access: 'read' },
  { filter: 'tele/#', access: 'write' },
]

async function nextOn(client: MqttClient, topic: string): Promise<string> {
  return String(((await client.next(isMessageOn(topic))) as Message).payload)
}

describe('topics besides those of things', () => {
  it('are relayed to whoever is subscribed, at the QoS of both', async () => {
    const service = await DoorService.start({ topics })
    const [subscriber, publisher] = await Promise.all([
      service.connectTopics(all),
      service.connectTopics(all),
    ])
    expect(await subscriber.subscribe('tele/#', 2)).toBe(2)
    for (const qos of [0, 1, 2] as const) {
      await publisher.publish('tele/plug/state', `at ${qos}`, { qos })
      const message = await subscriber.next(isMessageOn('tele/plug/state'))
      expect(message).toMatchObject({ qos, retain: false, dup: false })
      expect(String(message.payload)).toBe(`at ${qos}`)
    }
  })

  it('are kept for a session that is away, in their order', async () => {
    const service = await DoorService.start({ topics })
    const { sessionToken: password } = await service.things.sessions.create([], {
      access: 'read',
      topics: all,
    })
    const options = { username: 'x', password, clientId: 'away', clean: false }
    const first = await service.connect(options)
    await first.subscribe('tele/+', 2)
    await first.disconnect()
    const publisher = await service.connectTopics(all)
    for (let n = 0; n < 30; n++) await publisher.publish('tele/a', String(n), { qos: n % 2 ? 1 : 2 })
    const second = await service.connect(options)
    expect(second.connack.sessionPresent).toBe(true)
    for (let n = 0; n < 30; n++) expect(await nextOn(second, 'tele/a')).toBe(String(n))
    await publisher.publish('tele/a', 'live')
    expect(await nextOn(second, 'tele/a')).toBe('live')
    await second.disconnect()
    const third = await service.connect(options)
    await publisher.publish('tele/a', 'last')
    expect(await nextOn(third, 'tele/a')).toBe('last')
  })

  it('are refused to whoever was not given them', async () => {
    const service = await DoorService.start({ topics })
    const thing = await service.createThing()
    const device = await service.connectThing(thing)
    expect(await device.subscribe('tele/#')).toBe(128)
    await device.publish('tele/a', 'x')
    const reader = await service.connectTopics([{ filter: 'tele/+/state', access: 'read' }])
    expect(
      await reader.subscribeAll([
        'tele/#',
        'tele/+/state',
        'tele/a/state',
        '$SYS/#',
        '#',
        'cmnd/#',
        '$share/g/tele/a/state',
      ]),
    ).toEqual([128, 1, 1, 128, 128, 128, 128])
    await reader.publish('tele/a/state', 'not heard')
    const writer = await service.connectTopics([{ filter: 'tele/#', access: 'write' }])
    await writer.publish('tele/a/other', 'not seen')
    await writer.publish('tele/a/state', 'seen')
    expect(await nextOn(reader, 'tele/a/state')).toBe('seen')
    expect(reader.received.filter(isOf('publish'))).toHaveLength(1)
  })

  it('are used on one connection with those of things', async () => {
    const service = await DoorService.start({ topics })
    const thing = await service.createThing()
    await service.things.registry.setTopics(thing.thingId, all)
    const device = await service.connectThing(thing)
    expect(await device.subscribeAll([`things/${thing.thingId}/values/+`, 'tele/#'])).toEqual([1, 1])
    for (let n = 0; n < 50; n++) {
      device.send(
        {
          cmd: 'publish',
          topic: writeTopicOf(thing.thingId),
          payload: JSON.stringify(reading(n)),
          qos: 1,
          messageId: 2 * n + 100,
          dup: false,
          retain: false,
        },
        {
          cmd: 'publish',
          topic: 'tele/n',
          payload: String(n),
          qos: 1,
          messageId: 2 * n + 101,
          dup: false,
          retain: false,
        },
      )
    }
    for (let n = 0; n < 50; n++) {
      expect(await nextOn(device, 'tele/n')).toBe(String(n))
      expect(JSON.parse(await nextOn(device, `things/${thing.thingId}/values/n`)).value).toBe(n)
    }
    await device.next(packet => packet.cmd === 'puback' && packet.messageId === 199)
    expect(device.acknowledgements).toEqual(Array.from({ length: 100 }, (_, n) => `puback ${n + 100}`))
  })
})
