import type { FastifyInstance, FastifyRequest } from 'fastify'
import type { WriteOptions } from '../core/parse.ts'
import { ThingwireError } from '../errors.ts'
import { credentialOf } from './credential.ts'
import { writeRecords } from './operations/write.ts'
import type { OfThing } from './paths.ts'
import { Query } from './query.ts'
import { replyJson } from './reply-json.ts'
import { bodyOf, receivedBody } from './request-body.ts'
import type { HttpThings } from './things.ts'
import { WriteOrder } from './write-order.ts'

/** `POST /v2/things/<ref>` [seed 4.1]. */
export function writeRoute(scope: FastifyInstance, { ingest, access }: HttpThings, bodyLimit: number): void {
  const order = new WriteOrder()

  scope.post<OfThing>(
    '/things/:ref',
    {
      config: { operation: writeRecords },
      onRequest: (request, reply, done) => {
        order.arrive(request.raw, reply.raw)
        done()
      },
    },
    async (request, reply) => {
      const thingId = await access.authorise(request.params.ref, credentialOf(request), 'write')
      const { options, body } = await readRequest(thingId, request)
      const handedOver = await order.turn(request.raw)
      const writing = ingest.write({ thingId, door: 'http', body, options })
      handedOver()
      const { rejected } = await writing
      return replyJson(reply, 201, JSON.stringify({ status: 'created', message: 'created', rejected }))
    },
  )

  /** What is wrong around the body is no business of the core, and still a refused write of the thing. */
  async function readRequest(thingId: string, request: FastifyRequest) {
    try {
      return { options: writeOptions(request), body: bodyOf(request, bodyLimit) }
    } catch (error) {
      const body = receivedBody(request).bytes
      if (error instanceof ThingwireError) await ingest.noteRefused({ thingId, door: 'http', error, body })
      throw error
    }
  }
}

function writeOptions(request: FastifyRequest): WriteOptions {
  const query = new Query(request)
  const store = query.flag('store')
  const broadcast = query.flag('broadcast')
  const partial = query.flag('partial')
  // Node joins a repeated header of this name; the result is one text like any other.
  const id = request.headers['idempotency-key']?.toString()
  return {
    ...(store === undefined ? {} : { store }),
    ...(broadcast === undefined ? {} : { broadcast }),
    ...(partial === undefined ? {} : { partial }),
    ...(id === undefined ? {} : { id }),
  }
}
