import { Redis } from 'ioredis'
import { beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { gather } from '../../../../src/conformance/gathered.ts'
import { openStore } from '../../../../src/store/open-store.ts'
import { createRedisStore } from '../../../../src/store/redis/index.ts'
import { startRedisCluster } from '../../../helpers/redis-cluster.ts'
import { type RedisServer, startRedis } from '../../../helpers/redis-server.ts'

/** Where a store is: its url, and all servers of it. */
interface Place {
  readonly url: string
  readonly servers: readonly RedisServer[]
  /** Resolves when it serves again, after each of its servers was started again. */
  restart(): Promise<void>
  end(): Promise<void>
}

const places = {
  'one Redis': async (): Promise<Place> => {
    const server = await startRedis()
    return { url: server.url, servers: [server], restart: () => server.restart(), end: () => server.end() }
  },
  'a Redis Cluster': async (): Promise<Place> => {
    const { url, nodes, serving, end } = await startRedisCluster()
    const restart = async () => {
      for (const node of nodes) await node.restart()
      await serving()
    }
    return { url, servers: nodes, restart, end }
  },
}

describe.each(Object.entries(places))('what nodes tell one another by %s', (_name, start) => {
  let place: Place

  beforeAll(async () => {
    place = await start()
    return () => place.end()
  })

  async function twoNodes() {
    const open = async () => {
      const store = await openStore(createRedisStore({ url: place.url, prefix: 'messages' }))
      onTestFinished(() => store.close())
      return store.nodes
    }
    const [sender, receiver] = [await open(), await open()]
    let told = (_message: string) => {}
    let lost = () => {}
    const heard = gather<string>(listener => (told = listener))
    const missed = gather<void>(listener => (lost = listener))
    const stop = await receiver.listen(
      message => told(String(message)),
      () => lost(),
    )
    onTestFinished(stop)
    return { sender, heard, missed }
  }

  it('comes in the order in which it was sent', async () => {
    const { sender, heard } = await twoNodes()
    const messages = Array.from({ length: 1_000 }, (_, n) => String(n))
    for (const message of messages) sender.send(Buffer.from(message))
    expect(await heard.first(messages.length)).toEqual(messages)
  })

  it('may be lost with a connection: the node is told, and hears what is sent after', async () => {
    const { sender, heard, missed } = await twoNodes()
    for (let round = 1; round <= 3; round++) {
      await Promise.all(place.servers.map(endListening))
      await missed.first(round)
      sender.send(Buffer.from(`after ${round}`))
      expect((await heard.first(round)).at(-1)).toBe(`after ${round}`)
    }
  })

  it('is heard again when Redis is back', async () => {
    const { sender, heard, missed } = await twoNodes()
    await place.restart()
    await missed.first(1)
    // Its connection may be back later.
    const sending = setInterval(() => sender.send(Buffer.from('back')), 50)
    onTestFinished(() => clearInterval(sending))
    expect(await heard.first(1)).toEqual(['back'])
  })
})

/** Ends every connection that listens. */
async function endListening({ url }: RedisServer): Promise<void> {
  const redis = new Redis(url)
  await redis.client('KILL', 'TYPE', 'pubsub')
  redis.disconnect()
}
