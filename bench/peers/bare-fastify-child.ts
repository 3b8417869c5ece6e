import type { AddressInfo } from 'node:net'
import Fastify from 'fastify'
import { host } from './peer.ts'

/** Fastify as it comes: parses the JSON body, and answers what the product answers to a write. Prints its port. */

const app = Fastify()
app.post('/v2/things/:token', async (_request, reply) => {
  reply.code(201)
  return { status: 'created', message: 'created' }
})
await app.listen({ port: 0, host })
console.log((app.server.address() as AddressInfo).port)
