import { runExample } from '../../../examples/run-example.ts'
import type { Thing } from '../../../helpers/http-client.ts'
import type { ConnectOptions } from '../../../helpers/mqtt-client.ts'
import { mqttOfTest, ofTest, ofTests } from '../../../helpers/of-test.ts'
import { startRedis } from '../../../helpers/redis-server.ts'

/** examples/redis-host, a plant with users and topics of its own, as processes on one Redis. */

const adminKey = 'the-plant-on-redis-has-a-key-of-its-own'

/** One process of it. */
export type PlantNode = Awaited<ReturnType<typeof startPlant>>

interface PlantSetup {
  /** Where the broker keeps what is its. Default: where the things are. */
  readonly brokerRedisUrl?: string
  /** Milliseconds. Default: that of the example. */
  readonly heartbeat?: number
}

/** Starts a node, and waits until it is ready. Whoever starts it ends it. */
export async function startPlant(redisUrl: string, setup: PlantSetup = {}) {
  const { brokerRedisUrl, heartbeat } = setup
  const args = [
    ['--http-port', '0', '--mqtt-port', '0', '--redis-url', redisUrl],
    brokerRedisUrl === undefined ? [] : ['--broker-redis-url', brokerRedisUrl],
    heartbeat === undefined ? [] : ['--heartbeat', `${heartbeat}`],
  ].flat()
  const ready = /^The plant is ready at (\S+) and (\S+)$/
  const example = await runExample('redis-host/server.ts', args, ready, { EXAMPLE_ADMIN_KEY: adminKey })
  const [url = '', mqttUrl = ''] = example.ready
  return { ...example, url, mqttUrl, adminKey }
}

/** As `startPlant`, and killed with the running test. */
export function plantOfTest(...setup: Parameters<typeof startPlant>): Promise<PlantNode> {
  return ofTest(startPlant(...setup), node => node.kill())
}

/** For the tests of a file: a Redis and two nodes on it, from before the first until behind the last. */
export function twoNodesOfTests() {
  let nodes: readonly PlantNode[] = []
  return ofTests(
    async () => {
      const redis = await startRedis()
      const start = async () => {
        nodes = await Promise.all([startPlant(redis.url), startPlant(redis.url)])
      }
      await start()
      return {
        redis,
        /** @param place 0 or 1 */
        node: (place: number) => {
          const node = nodes[place]
          if (!node) throw new Error(`there is no node at ${place}`)
          return node
        },
        /** Ends both at once, and starts them again. */
        restart: async (how: 'stop' | 'kill') => {
          await Promise.all(nodes.map(node => node[how]()))
          await start()
        },
      }
    },
    async ({ redis }) => {
      await Promise.all(nodes.map(node => node.kill()))
      await redis.end()
    },
  )
}

type User = 'controller' | 'panel'

/** The connection of a user of the plant, which ends with the test. */
export function connectUser({ mqttUrl }: PlantNode, user: User, options: ConnectOptions = {}) {
  return mqttOfTest({ url: mqttUrl, username: user, password: `${user} password`, ...options })
}

/** The connection of a thing, which ends with the test. */
export function connectThing({ mqttUrl }: PlantNode, { thingToken }: Thing, options: ConnectOptions = {}) {
  return mqttOfTest({ url: mqttUrl, username: thingToken, ...options })
}
