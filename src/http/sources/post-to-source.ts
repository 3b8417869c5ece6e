import type { FastifyInstance, FastifyRequest } from 'fastify'
import { z } from 'zod'
import type { SourcePrincipal, TakenMessage } from '../../access/access.ts'
import { principalName } from '../../access/principal.ts'
import { promiseOf } from '../../core/async/ticket.ts'
import { readJson } from '../../core/json/read-json.ts'
import { createdText } from '../../core/refusals/answer-texts.ts'
import { isToken } from '../../core/token.ts'
import { ThingwireError } from '../../errors.ts'
import type { HttpThings } from '../http-things.ts'
import { json, type Operation } from '../operation/operation.ts'
import { pathParameter } from '../operation/parameters.ts'
import { ofBody, ofCredential } from '../operation/refusals.ts'
import { created } from '../operation/shapes.ts'
import { replyJson } from '../reply/reply-json.ts'
import { sourceCredentialOf } from '../request/credential.ts'
import { Query } from '../request/query.ts'
import { bodyOf, receivedBody, refuseMissingBody } from '../request/request-body.ts'

const example = {
  end_device_ids: { device_id: 'cellar' },
  uplink_message: { decoded_payload: { temperature: 21.5 } },
}

export const postToSource: Operation = {
  id: 'postToSource',
  group: 'Things',
  summary: 'Post what a webhook sends for many devices',
  description:
    'The body is read by the first format of the source that it is of, such as ttn; each device gets a thing of its own. The answer is ' +
    'sent when every record is durable. What the format cannot read is on the list of the source. Query parameters and headers are for ' +
    'the format.',
  credential: 'source',
  parameters: [
    pathParameter(
      'source',
      'The token of the source, which is then the credential; or its id, with an Authorization header: Bearer, or Basic with the token ' +
        'as user or password.',
      'mzxw6ytboi4dcmjs',
    ),
  ],
  body: { schema: z.unknown(), example },
  answers: {
    201: json(
      'Stored. A format may have an answer of its own: owntracks has `[]`.',
      z.union([created, z.array(z.unknown())]),
      { status: 'created', message: 'created' },
    ),
  },
  refusals: [...ofCredential, ...ofBody, 'forbidden', 'not_found', 'write_rate_exceeded', 'store_full'],
}

interface OfSource {
  Params: { source: string }
}

/** `POST /v2/sources/<ref>` (contract §6.10). */
export function postToSourceRoute(scope: FastifyInstance, things: HttpThings, bodyLimit: number): void {
  const config = { operation: postToSource }
  scope.post<OfSource>('/sources/:source', { config }, async (request, reply) => {
    const { source: ref } = request.params
    const source = isToken(ref)
      ? await things.access.authoriseSource(ref)
      : await things.access.authoriseSource(sourceCredentialOf(request), ref)
    const { reply: answer } = await post(things, source, request, () => {
      const payload = bodyOf(request, bodyLimit)
      if (payload.byteLength === 0) refuseMissingBody(request, 'invalid_json')
      return { payload, body: readJson(payload) }
    })
    return replyJson(reply, 201, answer === undefined ? createdText({}) : JSON.stringify(answer))
  })
}

/**
 * Has the formats of a source read a body. A body that cannot be read is on the source's list.
 *
 * @param readBody throws a ThingwireError if the body is refused
 * @throws ThingwireError write_rate_exceeded, and the errors of `readBody` and `SourceMessages.take`
 */
export async function post(
  { limits, ingest, sourceMessages }: HttpThings,
  source: SourcePrincipal,
  request: FastifyRequest,
  readBody: () => { readonly payload: Buffer; readonly body: unknown },
): Promise<TakenMessage> {
  // The same rate as that of its messages over MQTT.
  const payer = `topics of ${principalName(source)}`
  await limits.rate.enter({ thingId: payer, door: 'http', body: receivedBody(request).bytes })
  let read: ReturnType<typeof readBody>
  try {
    read = readBody()
  } catch (error) {
    if (error instanceof ThingwireError) ingest.noteRejected(source.sourceId, error, 'http')
    throw error
  }
  const query = new Query(request).all
  const { headers, socket: sender } = request.raw
  const { payload, body } = read
  const message = { door: 'http', payload, sender, post: { body, query, headers } } as const
  return await promiseOf(ticket => sourceMessages.take(source, message, ticket))
}
