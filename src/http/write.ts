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

const created = { status: 'created', message: 'created' }
const allCreated = JSON.stringify(created)
const noOptions: WriteOptions = {}

/** `POST /v2/things/<ref>` [seed 4.1]. */
export function writeRoute(scope: FastifyInstance, { ingest, access }: HttpThings, bodyLimit: number): void {
  const order = new WriteOrder(scope)

  scope.post<OfThing>(
    '/things/:ref',
    {
      config: { operation: writeRecords },
      onRequest: (request, reply, done) => {
        order.arrive(request, reply)
        done()
      },
    },
    async (request, reply) => {
      const thingId = await access.authorise(request.params.ref, credentialOf(request), 'write')
      let options: WriteOptions
      let body: Buffer
      try {
        options = writeOptions(request)
        body = bodyOf(request, bodyLimit)
      } catch (error) {
        await noteRefused(thingId, request, error)
        throw error
      }
      const turn = order.turnOf(request)
      await turn.wait()
      const writing = ingest.write({ thingId, door: 'http', body, options })
      turn.done()
      const { rejected } = await writing
      return replyJson(reply, 201, rejected ? JSON.stringify({ ...created, rejected }) : allCreated)
    },
  )

  /** What is wrong around the body is no business of the core, and still a refused write of the thing. */
  async function noteRefused(thingId: string, request: FastifyRequest, error: unknown): Promise<void> {
    const body = receivedBody(request).bytes
    if (error instanceof ThingwireError) await ingest.noteRefused({ thingId, door: 'http', error, body })
  }
}

function writeOptions(request: FastifyRequest): WriteOptions {
  const hasOptions = request.raw.url?.includes('?') || request.headers['idempotency-key'] !== undefined
  if (!hasOptions) return noOptions
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
