import { Redis } from 'ioredis'
import { freePort, type RedisServer, type RedisSetup, startRedis } from './redis-server.ts'
import { eventually } from './waiting.ts'

export type RedisCluster = Awaited<ReturnType<typeof startRedisCluster>>

const slots = 16_384
/** Milliseconds; far beyond what nodes on one machine need. */
const deadline = 60_000

/** Starts three masters without replicas, and waits until all slots are served. Whoever starts it ends it. */
export async function startRedisCluster(setup: Pick<RedisSetup, 'config'> = {}) {
  /** The masters, in the order of their slots. */
  const nodes: RedisServer[] = []
  const end = async () => void (await Promise.all(nodes.map(node => node.end())))
  /** Resolves when every node says that all slots are served: after a `restart` of one, too. */
  const serving = () => untilServed(nodes)
  try {
    const buses: number[] = []
    for (let index = 0; index < 3; index++) {
      const bus = await freePort()
      buses.push(bus)
      const config = { 'cluster-enabled': 'yes', 'cluster-port': String(bus), 'cluster-node-timeout': '5000' }
      nodes.push(await startRedis({ config: { ...config, ...setup.config } }))
    }
    for (const [index, node] of nodes.entries()) {
      const share = [index, index + 1].map(part => Math.floor((slots * part) / nodes.length))
      const [first = 0, next = 0] = share
      await asking(node, async redis => {
        await redis.call('CLUSTER', 'ADDSLOTSRANGE', first, next - 1)
        await redis.call('CLUSTER', 'SET-CONFIG-EPOCH', index + 1)
        for (const [other, { port }] of nodes.entries()) {
          if (other < index) await redis.call('CLUSTER', 'MEET', '127.0.0.1', port, buses[other] ?? 0)
        }
      })
    }
    await serving()
  } catch (error) {
    await end()
    throw error
  }
  // The urls of all masters, with commas between them.
  return { url: nodes.map(({ url }) => url).join(','), nodes: nodes as readonly RedisServer[], serving, end }
}

/** There is no event for it. */
async function untilServed(nodes: readonly RedisServer[]): Promise<void> {
  for (const node of nodes) {
    await asking(node, async redis => {
      let info = ''
      const isServed = async () => {
        info = String(await redis.call('CLUSTER', 'INFO'))
        return info.includes('cluster_state:ok') && info.includes(`cluster_known_nodes:${nodes.length}`)
      }
      if (!(await eventually(isServed, deadline))) throw new Error(`the cluster does not serve:\n${info}`)
    })
  }
}

async function asking(node: RedisServer, task: (redis: Redis) => Promise<void>): Promise<void> {
  const redis = new Redis(node.url, { enableReadyCheck: false })
  try {
    await task(redis)
  } finally {
    redis.disconnect()
  }
}
