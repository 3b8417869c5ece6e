import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { parseArgs } from 'node:util'
import fastify from 'fastify'

/** A site with a page that shows the readings of one thing. The token of the thing stays here; the page has a session. */

const { values: options } = parseArgs({
  options: {
    'http-port': { type: 'string', default: '3000' },
    // Where Thingwire is, for this server and for the page alike.
    thingwire: { type: 'string', default: 'http://127.0.0.1:8080' },
  },
})
const thingToken = process.env.THING_TOKEN
if (!thingToken) {
  console.error('THING_TOKEN is not set. Type: export THING_TOKEN= and the token of a thing')
  process.exit(1)
}

const page = await readFile(new URL('index.html', import.meta.url), 'utf8')
const resolve = createRequire(import.meta.url).resolve
const mqtt = await readFile(resolve('mqtt/dist/mqtt.esm'), 'utf8')

const app = fastify()
app.get('/', async (_request, reply) => reply.type('text/html').send(page))
app.get('/mqtt.esm.js', async (_request, reply) => reply.type('text/javascript').send(mqtt))

// A real site asks who the visitor is, first.
app.post('/session', async (_request, reply) => {
  const response = await fetch(`${options.thingwire}/v2/things/${thingToken}/sessions`, {
    method: 'POST',
    body: JSON.stringify({ access: 'read', expiresIn: 3600 }),
  })
  if (response.status !== 201) return reply.code(502).send({ message: 'Thingwire gave no session' })
  const { sessionToken } = (await response.json()) as { sessionToken: string }
  return {
    webSocketUrl: `${options.thingwire.replace(/^http/, 'ws')}/mqtt`,
    thingId: await idOf(sessionToken),
    sessionToken,
  }
})

console.log(`The page is at ${await app.listen({ port: Number(options['http-port']), host: '127.0.0.1' })}`)
process.once('SIGINT', () => app.close())
process.once('SIGTERM', () => app.close())

/** The id is no secret: the page may have it. */
async function idOf(sessionToken: string): Promise<string | undefined> {
  const headers = { authorization: `Bearer ${sessionToken}` }
  const response = await fetch(`${options.thingwire}/v2/principal`, { headers })
  const { things } = (await response.json()) as { things: readonly string[] }
  return things[0]
}
