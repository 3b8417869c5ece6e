import { expect, it } from 'vitest'
import { createToken } from '../../src/core/token.ts'
import { createThing, write } from '../helpers/http-client.ts'
import { nodeOfTest } from '../helpers/of-test.ts'
import { redisOfTest } from '../helpers/redis-of-test.ts'

async function startService(environment: NodeJS.ProcessEnv) {
  // Else the start has a warning.
  const redis = await redisOfTest({ config: { maxmemory: '1gb' } })
  const node = await nodeOfTest(redis.url, createToken(), { environment })
  const readiness = async () => (await fetch(`${node.url}/readyz`)).status
  return { redis, node, readiness }
}

/** The lines that an operator is to look at, each as its text. */
function alarms(stderr: string): readonly string[] {
  const lines = stderr.trim().split('\n')
  const read = lines.map(line => JSON.parse(line) as { readonly level: number; readonly msg: string })
  return read.filter(({ level }) => level >= 40).map(({ msg }) => msg)
}

it('the log of a node that stops in order has no warning, however often it says that it is not ready', async () => {
  const { node, readiness } = await startService({})
  const stopped = node.stop()
  await expect.poll(readiness).toBe(503)
  for (let asked = 0; asked < 3; asked++) expect(await readiness()).toBe(503)
  const { code, stderr } = await stopped
  expect(code).toBe(0)
  expect(alarms(stderr)).toEqual([])
})

it('the log of a node says once that Redis is away, and of each request that was not served that it was not', async () => {
  const { redis, node, readiness } = await startService({ THINGWIRE_STORE_TIMEOUT: '500' })
  const thing = await createThing(node)
  await redis.stop()
  await expect.poll(readiness).toBe(503)
  for (let asked = 0; asked < 20; asked++) expect(await readiness()).toBe(503)
  expect((await write(node, thing, { values: [{ key: 'n', value: 1 }] })).status).toBe(503)
  await redis.restart()
  await node.logged(new RegExp(`"level":30,.*connected to Redis again, at 127.0.0.1:${redis.port}"`))
  const { stderr } = await node.kill()
  const lost = `the connection to Redis at 127.0.0.1:${redis.port} is lost: `
  expect(alarms(stderr)).toEqual([expect.stringContaining(lost), 'request not served'])
  expect(stderr).not.toContain('"stack"')
})
