import { createToken } from '../../src/core/token.ts'
import { type RedisServer, startRedis } from './redis-server.ts'
import { type ServerProcess, type ServerSetup, startServer } from './server-process.ts'

export interface NodesSetup<Redis = RedisServer> extends Omit<ServerSetup, 'dataDir'> {
  /** Whoever started it ends it. Absent: one of the nodes' own, which `end` ends with them. */
  readonly redis?: Redis
}

/** Servers on one Redis, each a process of its own with `url`, `mqttUrl`, `webSocketUrl` and the one `adminKey`. */
export type RunningNodes = Awaited<ReturnType<typeof startNodes<RedisServer>>>

/** Starts a redis-server and `count` servers on it, and waits until all are ready. Whoever starts them ends them. */
export async function startNodes<Redis extends Pick<RedisServer, 'url' | 'end'> = RedisServer>(
  count: number,
  setup: NodesSetup<Redis> = {},
) {
  const { redis = await startRedis(), ...server } = setup
  const adminKey = server.environment?.THINGWIRE_ADMIN_KEY ?? createToken()
  /** In the order in which they were started, those that have ended among them. */
  const nodes: ServerProcess[] = []
  /** Starts one more, as the others; resolves when it is ready. */
  const add = async () => {
    const node = await startNode(redis.url, adminKey, server)
    nodes.push(node)
    return node
  }
  /** SIGKILL to all; the Redis goes with them if it is theirs. */
  const end = async () => {
    await Promise.all(nodes.map(node => node.kill()))
    if (setup.redis === undefined) await redis.end()
  }
  try {
    // One after the other, so that their places are those of their starts.
    for (let index = 0; index < count; index++) await add()
  } catch (error) {
    await end()
    throw error
  }
  /** The node of this place. @throws Error if there is none */
  const node = (index: number) => {
    const found = nodes[index]
    if (!found) throw new Error(`there are ${nodes.length} nodes, and none at ${index}`)
    return found
  }
  return { redis, adminKey, nodes: nodes as readonly ServerProcess[], node, add, end }
}

/** Starts a server on the Redis, or the cluster, of this url. Whoever starts it ends it. */
export function startNode(
  redisUrl: string,
  adminKey: string,
  setup: Omit<ServerSetup, 'dataDir'> = {},
): Promise<ServerProcess> {
  const environment = { ...setup.environment, THINGWIRE_REDIS_URL: redisUrl, THINGWIRE_ADMIN_KEY: adminKey }
  return startServer({ ...setup, environment })
}
