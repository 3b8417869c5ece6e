import { once } from 'node:events'
import { type AddressInfo, createServer } from 'node:net'
import { parseArgs } from 'node:util'
import { Aedes } from 'aedes'
import { createLevelStore, createThings } from 'thingwire'
import { attachThings } from 'thingwire/mqtt'

const { values: options } = parseArgs({
  options: {
    'mqtt-port': { type: 'string', default: '1883' },
    'data-dir': { type: 'string', default: './data' },
  },
})
const adminKey = process.env.EXAMPLE_ADMIN_KEY
if (adminKey === undefined) throw new Error('EXAMPLE_ADMIN_KEY must be set, to at least 32 characters')

const things = await createThings({ store: createLevelStore({ location: options['data-dir'] }), adminKey })

const broker = await Aedes.createBroker()
const detach = attachThings(broker, things)
// `broker.handle` is read after attaching.
const server = createServer(broker.handle)
server.listen(Number(options['mqtt-port']), '127.0.0.1')
await once(server, 'listening')

// Without the HTTP door the host itself creates things, and reads what they wrote.
const { thingId, thingToken } = await things.registry.create({ name: 'pump' })
things.live.subscribe(thingId, {
  deliver: ({ commit }) => {
    for (const { key, value } of commit.records) console.log(`${key} is ${value}`)
  },
})

const { port } = server.address() as AddressInfo
console.log(`A pump may write to things/${thingToken}/write at mqtt://127.0.0.1:${port}`)

process.once('SIGINT', stop)
process.once('SIGTERM', stop)

/** The door before the store. */
async function stop(): Promise<void> {
  server.close()
  await detach()
  await new Promise<void>(resolve => broker.close(resolve))
  await things.close()
}
