import { expect, onTestFinished, test } from 'vitest'
import { gather } from '../../../../src/conformance/gathered.ts'
import { openStore } from '../../../../src/store/open-store.ts'
import type { Statement } from '../../../../src/store/redis/connection/statement.ts'
import { createRedisStore } from '../../../../src/store/redis/index.ts'
import { pathOfTest } from '../../../helpers/of-test.ts'
import { redisOfTest } from '../../../helpers/redis-of-test.ts'

/** A store behind a path to its Redis with a password, and what it says once it is open. */
async function openTelling() {
  const redis = await redisOfTest({ config: { requirepass: 'sesame' } })
  let connections = 0
  const path = await pathOfTest(() => {
    connections++
    return redis.port
  })
  let say: (statement: Statement) => void = () => {}
  const url = `redis://:sesame@127.0.0.1:${path.port}`
  const onStatement = (statement: Statement) => say(statement)
  const store = await openStore(createRedisStore({ url, onStatement }))
  onTestFinished(() => store.close())
  const said = gather<Statement>(listener => {
    say = listener
  })
  return { redis, store, said, connections: () => connections, address: `127.0.0.1:${path.port}` }
}

const lost = (address: string) => ({
  level: 'warn',
  text: expect.stringMatching(`^the connection to Redis at ${address} is lost: (E[A-Z]+|closed)$`),
})
const back = (address: string) => ({ level: 'info', text: `connected to Redis again, at ${address}` })

test('a lost connection to Redis is told once, however often it is tried, and that it is back', async () => {
  const { redis, store, said, connections, address } = await openTelling()
  await redis.stop()
  expect(await said.first(1)).toEqual([lost(address)])
  const before = connections()
  await expect.poll(connections).toBeGreaterThan(before + 6)
  await redis.restart()
  expect(await said.first(2)).toEqual([lost(address), back(address)])
  await redis.kill()
  await redis.restart()
  expect(await said.first(4)).toEqual([lost(address), back(address), lost(address), back(address)])
  await store.close()
  expect(await said.first(4)).toHaveLength(4)
})

test('a Redis that hangs is told of with the code of what has timed out', async () => {
  const { redis, said, address } = await openTelling()
  redis.process.kill('SIGSTOP')
  const text = `the connection to Redis at ${address} is lost: ETIMEDOUT`
  expect(await said.first(1)).toEqual([{ level: 'warn', text }])
})
