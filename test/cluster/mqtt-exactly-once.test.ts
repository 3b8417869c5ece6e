import { expect, it } from 'vitest'
import { createToken } from '../../src/core/token.ts'
import { createRedisStore } from '../../src/store/redis/index.ts'
import { isOf, publishPacket } from '../helpers/mqtt-client.ts'
import { pathOfTest } from '../helpers/of-test.ts'
import { redisOfTests } from '../helpers/redis-of-test.ts'
import { DoorService, reading, writeTopicOf } from '../mqtt/door-service.ts'
import { numbers } from '../mqtt/messages.ts'

const redis = redisOfTests()

const session = { clientId: 'board', clean: false }

it('QoS 2 packets that wait for the rate of their thing when their client goes to another node are stored once', async () => {
  const adminKey = createToken()
  const limits = { writesPerSecond: 2 }
  const startNode = () => DoorService.start({ store: createRedisStore({ url: redis.url }), adminKey, limits })
  const [here, there] = [await startNode(), await startNode()]
  const thing = await here.createThing()
  // The first ten go at once, the others two a second.
  const packets = numbers(16, 1).map(messageId =>
    publishPacket(writeTopicOf(thing.thingToken), reading(messageId), { qos: 2, messageId }),
  )
  const first = await here.connectThing(thing, session)
  first.send(...packets)
  await first.next(isOf('pubrec', 8))
  await first.destroy()
  const second = await there.connectThing(thing, session)
  expect(second.connack.sessionPresent).toBe(true)
  for (const packet of packets) second.send({ ...packet, dup: true } as typeof packet)
  for (const messageId of numbers(16, 1)) await second.next(isOf('pubrec', messageId))
  // What still waits there, is stored before it ends.
  await here.stop()
  expect(await there.values(thing, 'n')).toEqual(numbers(16, 1))
})

it('a QoS 2 packet that reaches the store from one node when its client has sent it to another one again is stored once', async () => {
  const path = await pathOfTest(redis.server.port)
  const adminKey = createToken()
  const late = await DoorService.start({
    store: createRedisStore({ url: `redis://127.0.0.1:${path.port}` }),
    adminKey,
  })
  const there = await DoorService.start({ store: createRedisStore({ url: redis.url }), adminKey })
  const thing = await there.createThing()
  const publish = publishPacket(writeTopicOf(thing.thingToken), reading('once'), { qos: 2, messageId: 77 })
  const first = await late.connectThing(thing, session)
  await first.publish(writeTopicOf(thing.thingToken), reading('before'), { qos: 2, messageId: 76 })
  const deliver = path.hold()
  first.send(publish)
  const second = await there.connectThing(thing, session)
  second.send({ ...publish, dup: true } as typeof publish)
  await second.ping()
  path.restore()
  await deliver()
  await second.next(isOf('pubrec', 77))
  await second.release(77)
  await first.untilClosed()
  await late.stop()
  expect(await there.values(thing, 'n')).toEqual(['before', 'once'])
  await second.publish(writeTopicOf(thing.thingToken), reading('after'), { qos: 2, messageId: 77 })
  expect(await there.values(thing, 'n')).toEqual(['before', 'once', 'after'])
})
