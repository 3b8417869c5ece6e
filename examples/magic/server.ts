import { once } from 'node:events'
import { type AddressInfo, createServer } from 'node:net'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { Aedes } from 'aedes'
import fastify from 'fastify'
import { createLevelStore, createThings } from 'thingwire'
import { hostOptions, thingsHttp } from 'thingwire/http'
import { attachThings } from 'thingwire/mqtt'
import { battery } from './battery.ts'

const { values: options } = parseArgs({
  options: {
    'http-port': { type: 'string', default: '8080' },
    'mqtt-port': { type: 'string', default: '1883' },
    'data-dir': { type: 'string', default: join(import.meta.dirname, 'data') },
  },
})
const adminKey = process.env.EXAMPLE_ADMIN_KEY
if (!adminKey) {
  console.error('EXAMPLE_ADMIN_KEY is not set. Type: export EXAMPLE_ADMIN_KEY=$(openssl rand -hex 32)')
  process.exit(1)
}

const things = await createThings({
  store: createLevelStore({ location: join(options['data-dir'], 'store') }),
  adminKey,
  magicResources: [battery],
})

const broker = await Aedes.createBroker()
const detach = attachThings(broker, things)
const mqttServer = createServer(broker.handle)
mqttServer.listen(Number(options['mqtt-port']), '127.0.0.1')
await once(mqttServer, 'listening')
const app = fastify({ ...hostOptions })
await app.register(thingsHttp, { things })
const url = await app.listen({ port: Number(options['http-port']), host: '127.0.0.1' })
const { port } = mqttServer.address() as AddressInfo
console.log(`Things have a $battery at ${url} and mqtt://127.0.0.1:${port}`)

process.once('SIGINT', stop)
process.once('SIGTERM', stop)

async function stop(): Promise<void> {
  mqttServer.close()
  await app.close()
  await detach()
  await new Promise<void>(resolve => broker.close(resolve))
  await things.close()
}
