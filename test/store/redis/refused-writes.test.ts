import { expect, onTestFinished, test } from 'vitest'
import { openClient } from '../../../src/store/redis/connection/connection.ts'
import { RedisDatabase } from '../../../src/store/redis/connection/database.ts'
import { redisKeys } from '../../../src/store/redis/keys.ts'
import { createRefusedWrites } from '../../../src/store/redis/store.ts'
import { redisOfTest } from '../../helpers/redis-of-test.ts'

test('add() keeps no more than 100 refused writes in Redis, whichever node adds them', async () => {
  const server = await redisOfTest()
  const keys = redisKeys('refused')
  const clients = [await openClient(server.url), await openClient(server.url)]
  onTestFinished(() => void clients.map(client => client.disconnect()))
  const nodes = clients.map(client => createRefusedWrites(new RedisDatabase(keys, 'node', client)))
  const refusal = { door: 'http', reason: 'invalid_json', message: 'no', excerpt: '{' } as const
  for (const datetime of Array.from({ length: 120 }, (_, index) => index)) {
    await nodes[datetime % 2]?.add('thing', { ...refusal, datetime })
  }
  expect(await clients[0]?.llen(keys.refused('thing'))).toBe(100)
  const newest = await nodes[0]?.list('thing', 2)
  expect(newest).toEqual([119, 118].map(datetime => ({ ...refusal, datetime })))
})
