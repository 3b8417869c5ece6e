import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { type AddressInfo, createServer } from 'node:net'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { Aedes } from 'aedes'
import { createLevelStore, createThings } from 'thingwire'
import { attachThings } from 'thingwire/mqtt'

const { values: options } = parseArgs({
  options: {
    'mqtt-port': { type: 'string', default: '1883' },
    'data-dir': { type: 'string', default: join(import.meta.dirname, 'data') },
  },
})
const adminKey = process.env.EXAMPLE_ADMIN_KEY
if (!adminKey) {
  console.error('EXAMPLE_ADMIN_KEY is not set. Type: export EXAMPLE_ADMIN_KEY=$(openssl rand -hex 32)')
  process.exit(1)
}

const dataDir = options['data-dir']
const things = await createThings({ store: createLevelStore({ location: join(dataDir, 'store') }), adminKey })

const broker = await Aedes.createBroker()
const detach = attachThings(broker, things)
// `broker.handle` is read after attaching.
const server = createServer(broker.handle)
server.listen(Number(options['mqtt-port']), '127.0.0.1')
await once(server, 'listening')

// Without the HTTP door the host itself creates things, and reads what they wrote. A token is shown once: it is kept for
// the pump, and the next start finds it.
const tokenFile = join(dataDir, 'pump-token')
if (!existsSync(tokenFile)) {
  const { thingToken } = await things.registry.create({ name: 'pump' })
  await writeFile(tokenFile, thingToken, { mode: 0o600 })
}
things.on('reading', ({ key, value }) => console.log(`${key} is ${value}`))

const { port } = server.address() as AddressInfo
console.log(`The pump may write at mqtt://127.0.0.1:${port}. Its token is in ${tokenFile}`)

process.once('SIGINT', stop)
process.once('SIGTERM', stop)

/** The door before the store. */
async function stop(): Promise<void> {
  server.close()
  await detach()
  await new Promise<void>(resolve => broker.close(resolve))
  await things.close()
}
