import { join } from 'node:path'
import { parseArgs } from 'node:util'
import fastify from 'fastify'
import { createLevelStore, createThings } from 'thingwire'
import { hostOptions, thingsHttp } from 'thingwire/http'

const { values: options } = parseArgs({
  options: {
    'http-port': { type: 'string', default: '8080' },
    'data-dir': { type: 'string', default: join(import.meta.dirname, 'data') },
  },
})
const adminKey = process.env.EXAMPLE_ADMIN_KEY
if (!adminKey) {
  console.error('EXAMPLE_ADMIN_KEY is not set. Type: export EXAMPLE_ADMIN_KEY=$(openssl rand -hex 32)')
  process.exit(1)
}

const store = createLevelStore({ location: join(options['data-dir'], 'store') })
const things = await createThings({ store, adminKey })

const app = fastify({ ...hostOptions })
app.get('/', async () => ({ shop: 'open' }))
await app.register(thingsHttp, { things })
const url = await app.listen({ port: Number(options['http-port']), host: '127.0.0.1' })
console.log(`The shop has things at ${url}`)

process.once('SIGINT', stop)
process.once('SIGTERM', stop)

/** The door before the store: it finishes what is in hand. */
async function stop(): Promise<void> {
  await app.close()
  await things.close()
}
