import { describe, expect, it } from 'vitest'
import { isOf, type MqttClient } from '../../helpers/mqtt-client.ts'
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
  })
})
