import { expect, it } from 'vitest'
import type { TopicGrant } from '../../../src/core/topics/topic-grant.ts'
import { isMessageOn, isOf } from '../../helpers/mqtt-client.ts'
import { DoorService, reading, writeTopicOf } from '../door-service.ts'
import { post } from '../messages.ts'

const grants: readonly TopicGrant[] = [
  { filter: 'house/#', access: 'read' },
  { filter: 'house/#', access: 'write' },
]

it('messages of both kinds on one connection never share a packet id, and each kind is in its order', async () => {
  const service = await DoorService.start({ topics: ['house/#'], limits: { writesPerSecond: 1_000_000 } })
  const thing = await service.createThing()
  await service.things.registry.setTopics(thing.thingId, grants)
  const subscriber = await service.connectThing(thing)
  await subscriber.subscribeTo(
    { topic: `things/${thing.thingId}/values/n`, qos: 1 },
    { topic: 'house/n', qos: 2 },
  )
  subscriber.acknowledges = false
  const publisher = await service.connectThing(thing)
  const count = 300
  for (let n = 0; n < count; n++) {
    await Promise.all([
      publisher.publish('house/n', `${n}`, { qos: 2 }),
      publisher.publish(writeTopicOf(thing.thingId), reading(n)),
    ])
  }
  const messages = () => subscriber.received.filter(isOf('publish'))
  await expect.poll(() => messages().length).toBe(2 * count)
  expect(new Set(messages().map(({ messageId }) => messageId)).size).toBe(2 * count)
  const numbers = Array.from({ length: count }, (_, n) => n)
  const texts = messages().map(({ topic, payload }) => [topic, payload.toString()] as const)
  expect(texts.filter(([topic]) => topic === 'house/n').map(([, text]) => Number(text))).toEqual(numbers)
  const records = texts.filter(([topic]) => topic !== 'house/n').map(([, text]) => JSON.parse(text))
  expect(records.map(({ value }) => value)).toEqual(numbers)
})

it('a message on another topic does not wait behind records for which the client has no packet id left', async () => {
  const service = await DoorService.start({ topics: ['house/#'], limits: { recordsPerSecond: 1_000_000 } })
  const thing = await service.createThing()
  await service.things.registry.setTopics(thing.thingId, grants)
  const subscriber = await service.connectThing(thing)
  await subscriber.subscribe(`things/${thing.thingId}/values/n`)
  await subscriber.subscribe('house/n', 0)
  subscriber.acknowledges = false
  const records = Array.from({ length: 10_000 }, (_, value) => ({ key: 'n', value }))
  for (let writes = 0; writes < 7; writes++) await post(service, thing, { values: records })
  await expect.poll(() => subscriber.received.filter(isOf('publish')).length).toBe(65_535)
  const publisher = await service.connectThing(thing)
  await publisher.publish('house/n', 'relayed')
  await subscriber.next(isMessageOn('house/n'))
})
