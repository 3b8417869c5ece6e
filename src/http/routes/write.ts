import type { FastifyInstance, FastifyReply, FastifyRequest, onRequestHookHandler } from 'fastify'
import { z } from 'zod'
import { isOperatorsWrite } from '../../access/principal.ts'
import type { Ticket } from '../../core/async/ticket.ts'
import type { Observer } from '../../core/observer.ts'
import type { WriteOptions } from '../../core/parse.ts'
import { writeIdForm } from '../../core/parse.ts'
import type { WriteAnswer } from '../../core/ports.ts'
import { createdText } from '../../core/refusals/answer-texts.ts'
import { isToken } from '../../core/token.ts'
import { type Reason, ThingwireError } from '../../errors.ts'
import type { HttpThings } from '../http-things.ts'
import { json, type Operation, type Parameter } from '../operation/operation.ts'
import { flag, pathParameter, ref } from '../operation/parameters.ts'
import { ofBody, ofThing } from '../operation/refusals.ts'
import { created, write as writeBody } from '../operation/shapes.ts'
import { replyJson } from '../reply/reply-json.ts'
import { credentialOf } from '../request/credential.ts'
import type { OfThing } from '../request/paths.ts'
import { Query } from '../request/query.ts'
import { bodyOf, receivedBody, refuseMissingBody } from '../request/request-body.ts'
import { WriteOrder } from '../request/write-order.ts'

/** Without datetimes, so that a write from the page at `/docs` gets the current time. */
const example = {
  values: [
    { key: 'temperature', value: 21.5, geo: { lat: 41.41, long: 2.22 } },
    { key: 'door', value: 'open' },
  ],
}

const writeRefusals: readonly Reason[] = [
  ...ofThing,
  ...ofBody,
  'too_many_records',
  'invalid_write_id',
  'forbidden_member',
  'invalid_key',
  'number_out_of_range',
  'value_too_large',
  'value_too_deep',
  'invalid_datetime',
  'datetime_out_of_range',
  'invalid_query',
  'write_rate_exceeded',
  'record_rate_exceeded',
  'too_many_waiting',
  'too_many_resources',
  'store_full',
]

const options: readonly Parameter[] = [
  flag('store', 'Whether to store the records. Default true.'),
  flag('broadcast', 'Whether to send live messages. Default true.'),
  flag('partial', 'Whether to store the good records if others are refused. Default false.'),
  {
    name: 'Idempotency-Key',
    in: 'header',
    description: 'Write id. An `id` in the body must be the same.',
    schema: z.string().regex(writeIdForm),
    example: 'reading-4711',
  },
]

export const writeRecords: Operation = {
  id: 'writeRecords',
  group: 'Things',
  summary: 'Write records',
  description:
    'The answer is 201 when every record is durable. A write is stored as a whole or refused as a whole. A repeated write is ' +
    'stored once if its records have a `datetime` or the write has an id. The body is read as JSON with any Content-Type, and ' +
    'may be compressed with gzip.',
  credential: 'thing',
  parameters: [ref, ...options],
  body: { schema: writeBody, example },
  answers: {
    201: json('Stored.', created, { status: 'created', message: 'created' }),
  },
  refusals: [
    ...writeRefusals,
    'invalid_values',
    'invalid_flag',
    'invalid_record',
    'unknown_magic_resource',
    'invalid_value',
    'invalid_geo',
    'invalid_position',
    'invalid_settings',
    'invalid_settings_path',
    'invalid_meta',
  ],
}

/** A write in a format that devices off the shelf send (contract §2.4). */
export const writeInFormat: Operation = {
  ...writeRecords,
  id: 'writeInFormat',
  summary: 'Write records in another format',
  description:
    'As a write of records, but the body is in the format that the path names. A message without a reading, such as ' +
    '`unavailable`, is accepted and stores nothing.',
  parameters: [
    ref,
    pathParameter(
      'format',
      '`json`, `influx` (line protocol), or `value` and the key. Further segments become the beginning of each key: ' +
        '`json/cellar`, `value/cellar/temperature`. A slash may be encoded as `%2F`.',
      'json',
    ),
    ...options,
  ],
  body: { schema: z.unknown(), example: { temperature: 21.5, humidity: 44.7 } },
  refusals: [...writeRefusals, 'unknown_format', 'invalid_lines'],
}

const noOptions: WriteOptions = {}

interface OfWrite {
  Params: OfThing['Params'] & { readonly '*'?: string }
}

type RequestOfThing = FastifyRequest<OfWrite>

/** `POST /v2/things/<ref>` [interface 4.1], and `/write/<format>/<levels>` below it. */
export function writeRoute(
  scope: FastifyInstance,
  { ingest, access, observer }: HttpThings,
  bodyLimit: number,
): void {
  const order = new WriteOrder(scope)

  const onRequest: onRequestHookHandler = (request, reply, done) => {
    order.arrive(request, reply)
    done()
  }
  scope.post<OfWrite>('/things/:ref', { config: { operation: writeRecords }, onRequest }, take)
  scope.post<OfWrite>('/things/:ref/write/*', { config: { operation: writeInFormat }, onRequest }, take)

  function take(request: RequestOfThing, reply: FastifyReply): Promise<unknown> | undefined {
    const answer = new Answer(reply, observer)
    const credential = credentialOf(request)
    const thingId = access.authorise(request.params.ref, credential, 'write')
    const waiting = order.turnOf(request).wait()
    // If there is nothing to wait for, no promise is created: promises would cost more than the work itself.
    if (typeof thingId !== 'string' || waiting)
      return writeInTurn(thingId, request, answer, waiting, credential)
    return write(thingId, request, answer)
  }

  async function writeInTurn(
    authorising: string | Promise<string>,
    request: RequestOfThing,
    answer: Answer,
    waiting: Promise<void> | undefined,
    credential: string | undefined,
  ): Promise<FastifyReply> {
    const thingId = await authorising
    const { ref } = request.params
    const isOperators = !isToken(ref) && isOperatorsWrite(ref, await access.identify(credential))
    await waiting
    await write(thingId, request, answer, isOperators || undefined)
    return answer.reply
  }

  /** @returns undefined if the write was submitted, so that `answer` will send the outcome; otherwise a promise that rejects */
  function write(
    thingId: string,
    request: RequestOfThing,
    answer: Answer,
    isOperators?: true,
  ): Promise<never> | undefined {
    const format = request.params['*']
    let options: WriteOptions
    let body: Buffer
    try {
      options = writeOptions(request)
      body = bodyOf(request, bodyLimit)
      if (body.byteLength === 0 && format === undefined) refuseMissingBody(request, 'invalid_json')
    } catch (error) {
      return refuse(thingId, request, error)
    }
    try {
      const sender = request.raw.socket
      ingest.submit({ thingId, door: 'http', body, format, options, isOperators, sender }, answer)
    } finally {
      order.done(request)
    }
    return undefined
  }

  /** Lists the write as refused. The core lists the writes that it refuses, but never gets this one. */
  async function refuse(thingId: string, request: RequestOfThing, error: unknown): Promise<never> {
    const body = receivedBody(request).bytes
    if (error instanceof ThingwireError) await ingest.noteRefused({ thingId, door: 'http', error, body })
    throw error
  }
}

/** Sends the outcome of a write. */
class Answer implements Ticket<WriteAnswer> {
  readonly reply: FastifyReply
  readonly #observer: Observer | undefined
  readonly #takenAt = performance.now()

  constructor(reply: FastifyReply, observer: Observer | undefined) {
    this.reply = reply
    this.#observer = observer
  }

  resolve(answer: WriteAnswer): void {
    replyJson(this.reply, 201, createdText(answer))
    this.#observer?.acknowledged('http', (performance.now() - this.#takenAt) / 1_000)
  }

  reject(error: unknown): void {
    // A write that exceeds the rate limit is not listed as refused, because each listing costs a write to the disk.
    this.reply.send(error)
  }
}

/** The write id in `Idempotency-Key`, quotes included. @throws ThingwireError invalid_write_id if the header has several values */
function writeIdOf({ raw: { rawHeaders } }: RequestOfThing): string | undefined {
  // Read from the raw headers, because Node joins the values of a repeated header.
  const values = rawHeaders.filter(
    (_, at) => at % 2 === 1 && rawHeaders[at - 1]?.toLowerCase() === 'idempotency-key',
  )
  const [id, ...others] = new Set(values)
  if (others.length === 0) return id
  throw new ThingwireError(
    'invalid_write_id',
    'Idempotency-Key has more than one value: a write has only one id',
  )
}

function writeOptions(request: RequestOfThing): WriteOptions {
  const hasOptions = request.raw.url?.includes('?') || request.headers['idempotency-key'] !== undefined
  if (!hasOptions) return noOptions
  const query = new Query(request)
  return {
    store: query.flag('store'),
    broadcast: query.flag('broadcast'),
    partial: query.flag('partial'),
    id: writeIdOf(request),
  }
}
