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
      const { ref } = request.params
      const credential = credentialOf(request)
      const thingId =
        access.authoriseKnown(ref, credential, 'write') ?? (await access.authorise(ref, credential, 'write'))
      let options: WriteOptions
      let body: Buffer
      try {
        options = writeOptions(request)
        body = bodyOf(request, bodyLimit)
      } catch (error) {
        await noteRefused(thingId, request, error)
        throw error
      }
      const turn = order.turnOf(request.raw)
      await turn.wait()
      const writing = ingest.write({ thingId, door: 'http', body, options })
      turn.done()
      const { rejected } = await writing
      const answer = rejected ? JSON.stringify({ ...created, rejected }) : createdText
      return replyJson(reply, 201, answer)
    },
  )

  /** What is wrong around the body is no business of the core, and still a refused write of the thing. */
  async function noteRefused(thingId: string, request: FastifyRequest, error: unknown): Promise<void> {
    const body = receivedBody(request).bytes
    if (error instanceof ThingwireError) await ingest.noteRefused({ thingId, door: 'http', error, body })
  }
}

const created = { status: 'created', message: 'created' }
const createdText = JSON.stringify(created)
const noOptions: WriteOptions = {}

function writeOptions(request: FastifyRequest): WriteOptions {
  if (!request.raw.url?.includes('?') && request.headers['idempotency-key'] === undefined) return noOptions
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
