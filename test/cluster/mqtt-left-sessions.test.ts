import { expect, it } from 'vitest'
import { createRedisStore } from '../../src/store/redis/index.ts'
import { CollectedLog } from '../helpers/collected-log.ts'
import { redisOfTests } from '../helpers/redis-of-test.ts'
import { DoorService, eventually } from '../mqtt/door-service.ts'
import { numbers } from '../mqtt/messages.ts'

const redis = redisOfTests()

it('sessions that their clients leave while Redis is away are kept as left when it is back, and one warning tells of it', async () => {
  const log = new CollectedLog()
  const service = await DoorService.start({ store: createRedisStore({ url: redis.url }), log: log.logger })
  const things = await Promise.all(numbers(10).map(() => service.createThing()))
  const session = { clientId: 'board', clean: false }
  const clients = await Promise.all(things.map(thing => service.connectThing(thing, session)))
  const areInUse = async () => {
    const sessions = await service.things.documents.list('mqtt-sessions/', { limit: 100 })
    return sessions.map(([, { isInUse }]) => isInUse)
  }
  expect(await areInUse()).toEqual(things.map(() => true))
  await redis.server.kill()
  await Promise.all(clients.map(client => client.destroy()))
  await log.until(/the store is unavailable/)
  await redis.server.restart()
  await eventually(areInUse).toEqual(things.map(() => false))
  expect(log.lines(50)).toEqual([])
  expect(log.lines(40)).toHaveLength(1)
})
