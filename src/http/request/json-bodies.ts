import type { FastifyRequest } from 'fastify'
import { z } from 'zod'
import { readJson } from '../../core/json/read-json.ts'
import type { Redactor } from '../../core/refusals/redactor.ts'
import { ThingwireError } from '../../errors.ts'
import { type ReceivedBody, receiveBody } from './body-bytes.ts'
import { quotedName } from './query.ts'
import { bodyOf, refuseMissingBody } from './request-body.ts'

/** Reads the JSON bodies of requests other than writes. */
export class JsonBodies {
  readonly #limit: number
  readonly #redactor: Redactor

  /** @param limit maximum size in bytes, before and after inflating @param redactor for member names in messages */
  constructor(limit: number, redactor: Redactor) {
    this.#limit = limit
    this.#redactor = redactor
  }

  /** An empty body counts as `{}`. @throws ThingwireError as `bodyOf`, and invalid_utf8, invalid_json, invalid_body */
  read<Shape extends z.ZodType>(request: FastifyRequest, shape: Shape): z.output<Shape> {
    const body = bodyOf(request, this.#limit)
    const result = shape.safeParse(body.byteLength === 0 ? {} : readJson(body))
    if (result.success) return result.data
    refuseMissingBody(request, 'invalid_body')
    const [issue] = result.error.issues
    const rule = [...(issue?.path ?? []), issue?.message].join(' ')
    if (issue?.code !== 'unrecognized_keys') throw new ThingwireError('invalid_body', rule)
    const [unknown = ''] = issue.keys
    const isWhole = issue.path.length === 0 && shape instanceof z.ZodObject
    const known = isWhole ? `it accepts ${Object.keys(shape.shape).join(', ')}` : rule
    const member = quotedName(unknown, this.#redactor)
    throw new ThingwireError('invalid_body', `the member ${member} of the body is unknown: ${known}`)
  }

  /**
   * Refuses the body of a request that needs no body. `{}` is allowed, because some HTTP libraries send it by default.
   *
   * @param parameters names of the query parameters, for the message
   * @throws ThingwireError invalid_body, body_too_large, or the reason why the body is incomplete
   */
  async refuse(request: FastifyRequest, parameters: readonly string[]): Promise<void> {
    const { bytes, problem } = await this.#receivedOf(request)
    // The type does not matter: an empty body is allowed whatever its type, and any other body is refused.
    if (problem && problem.reason !== 'unsupported_media_type') throw problem
    const text = bytes.toString().trim()
    if (text === '' || /^\{\s*\}$/.test(text)) return
    const query = parameters.length === 0 ? '' : `; its query accepts ${parameters.join(', ')}`
    throw new ThingwireError('invalid_body', `this request accepts no body${query}`)
  }

  /** Receives the body here if Fastify did not receive it, as for GET and HEAD. */
  async #receivedOf({ body, raw }: FastifyRequest): Promise<ReceivedBody> {
    if (body !== undefined) return body as ReceivedBody
    return await new Promise(resolve => receiveBody(raw, this.#limit, resolve))
  }
}
