import { once } from 'node:events'
import { type AddressInfo, createServer } from 'node:net'
import { host } from './peer.ts'

/** A library as it comes, by the name in the arguments. Prints its port. */

const bare: Readonly<Record<string, () => Promise<{ address(): AddressInfo | string | null }>>> = {
  /** In-memory persistence, no hooks. */
  aedes: async () => {
    const { Aedes } = await import('aedes')
    const broker = await Aedes.createBroker()
    const server = createServer(broker.handle).listen(0, host)
    await once(server, 'listening')
    return server
  },
  /** Parses the JSON body, and answers what the product answers to a write. */
  fastify: async () => {
    const { default: Fastify } = await import('fastify')
    const app = Fastify()
    app.post('/v2/things/:token', async (_request, reply) => {
      reply.code(201)
      return { status: 'created', message: 'created' }
    })
    await app.listen({ port: 0, host })
    return app.server
  },
}

const [library = ''] = process.argv.slice(2)
const server = await bare[library]?.()
if (!server) throw new Error(`there is no peer ${library}`)
const { port } = server.address() as AddressInfo
console.log(port)
