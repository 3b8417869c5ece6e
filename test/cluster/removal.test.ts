import { expect, it, onTestFinished } from 'vitest'
import { openClient } from '../../src/store/redis/connection/connection.ts'
import { startNodes } from '../helpers/cluster.ts'
import { createThing, type Thing, write } from '../helpers/http-client.ts'
import { administer } from './administer.ts'

it('the data of a removed thing is removed, and by another node where the one that removes it dies', async () => {
  const cluster = await startNodes(2)
  onTestFinished(() => cluster.end())
  const redis = await openClient(cluster.redis.url)
  onTestFinished(() => redis.disconnect())
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
    await administer(node, 'DELETE', `things/${thing.thingId}`)
    await expect.poll(() => left(thing)).toEqual([])
  }
  // The first node was alone at first, so it does what only one does.
  one.process.kill('SIGSTOP')
  const orphaned = await written(100)
  await administer(other, 'DELETE', `things/${orphaned.thingId}`)
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
