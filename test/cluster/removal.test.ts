import { expect, it } from 'vitest'
import { ask, createThing, type Thing, write } from '../helpers/http-client.ts'
import { nodesOfTest } from '../helpers/of-test.ts'
import { redisClientOfTest } from '../helpers/redis-of-test.ts'

it('the data of a removed thing is removed, and by another node where the one that removes it dies', async () => {
  const cluster = await nodesOfTest(2)
  const redis = await redisClientOfTest(cluster.redis.url)
  /** Names of keys and documents that are of the thing. */
  const left = async ({ thingId }: Thing) => {
    const keys = await redis.keys('*')
    const documents = await Promise.all(keys.filter(key => key.endsWith(':o')).map(key => redis.hkeys(key)))
    return [...keys, ...documents.flat()].filter(name => name.includes(thingId))
  }
  const [one, other] = [cluster.node(0), cluster.node(1)]
  // Whichever of the two does it, one of these is removed through the other.
  for (const node of cluster.nodes) {
    const thing = await written(100)
    expect((await left(thing)).length).toBeGreaterThan(100)
    await ask(node, 'DELETE', `/v2/admin/things/${thing.thingId}`)
    await expect.poll(() => left(thing)).toEqual([])
  }
  // The first node was alone at first, so it does what only one does.
  one.process.kill('SIGSTOP')
  const orphaned = await written(100)
  await ask(other, 'DELETE', `/v2/admin/things/${orphaned.thingId}`)
  await one.kill()
  await expect.poll(() => left(orphaned), { timeout: 50_000, interval: 500 }).toEqual([])

  /** A thing with this many resources. */
  async function written(resources: number): Promise<Thing> {
    const thing = await createThing(other)
    const values = Array.from({ length: resources }, (_, index) => ({ key: `key${index}`, value: index }))
    expect((await write(other, thing, { values })).status).toBe(201)
    return thing
  }
})
