import { once } from 'node:events'
import { type AddressInfo, createServer } from 'node:net'
import { parseArgs } from 'node:util'
import fastify from 'fastify'
import { createRedisStore, createThings } from 'thingwire'
import { hostOptions, thingsHttp } from 'thingwire/http'
import { attachThings } from 'thingwire/mqtt'
import { addPlantRules } from '../host/plant.ts'
import { createRedisBroker } from './redis-broker.ts'

const { values: options } = parseArgs({
  options: {
    'http-port': { type: 'string', default: '8080' },
    'mqtt-port': { type: 'string', default: '1883' },
    'redis-url': { type: 'string', default: 'redis://127.0.0.1:6379' },
    // Absent: the same as that of the things.
    'broker-redis-url': { type: 'string' },
    // Of the nodes among each other, milliseconds.
    heartbeat: { type: 'string', default: '10000' },
  },
})
const adminKey = process.env.EXAMPLE_ADMIN_KEY
if (!adminKey) {
  console.error('EXAMPLE_ADMIN_KEY is not set. Type: export EXAMPLE_ADMIN_KEY=$(openssl rand -hex 32)')
  process.exit(1)
}

const redisUrl = options['redis-url']
const things = await createThings({ store: createRedisStore({ url: redisUrl }), adminKey })
const { broker, close } = await createRedisBroker(
  options['broker-redis-url'] ?? redisUrl,
  Number(options.heartbeat),
)
addPlantRules(broker)
const detach = attachThings(broker, things)
const app = fastify({ ...hostOptions })
await app.register(thingsHttp, { things })

// `broker.handle` is read after attaching.
const mqttServer = createServer(broker.handle)
mqttServer.listen(Number(options['mqtt-port']), '127.0.0.1')
await once(mqttServer, 'listening')
const url = await app.listen({ port: Number(options['http-port']), host: '127.0.0.1' })
const { port } = mqttServer.address() as AddressInfo
console.log(`The plant is ready at ${url} and mqtt://127.0.0.1:${port}`)

process.once('SIGINT', stop)
process.once('SIGTERM', stop)

/** The doors before the store. */
async function stop(): Promise<void> {
  // While Redis is away the broker does not close.
  setTimeout(() => process.exit(1), 10_000).unref()
  mqttServer.close()
  await app.close()
  await detach()
  await close()
  await things.close()
}
