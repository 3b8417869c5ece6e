import { ask, createThing, write } from '../helpers/http-client.ts'
import type { DocumentedServer } from './documented-server.ts'
import type { Matcher, Schema } from './matcher.ts'

/** Of an OpenAPI document, what the tests look at. */
export interface OpenApi {
  readonly paths: Readonly<Record<string, Readonly<Record<string, OperationObject>>>>
  readonly components: { readonly schemas: Readonly<Record<string, Schema>> }
}

/** An operation of the document, with where it is. */
export interface DocumentedOperation extends OperationObject {
  readonly path: string
  readonly method: string
}

interface OperationObject {
  readonly operationId: string
  readonly security: readonly Readonly<Record<string, readonly string[]>>[]
  readonly parameters: readonly ParameterObject[]
  readonly requestBody?: { readonly content: Readonly<Record<string, ContentObject>> }
  readonly responses: Readonly<Record<string, { readonly content: Readonly<Record<string, ContentObject>> }>>
}

export interface ParameterObject {
  readonly name: string
  readonly in: 'path' | 'query' | 'header'
  readonly schema: Schema
  readonly required: boolean
  /** Of a required one; the page to try it on fills it in. */
  readonly example?: string | number
  /** Of an optional one. */
  readonly 'x-example'?: string | number
}

interface ContentObject {
  readonly schema: Schema
  readonly example?: unknown
}

export function operationsOf({ paths }: OpenApi): readonly DocumentedOperation[] {
  return Object.entries(paths).flatMap(([path, item]) =>
    Object.entries(item).map(([method, operation]) => ({ path, method: method.toUpperCase(), ...operation })),
  )
}

/** What the ids and secrets of an operation can stand for. */
export type Scene = Awaited<ReturnType<typeof setScene>>

/** A new thing that has written, with all that belongs to one; `path`: values for the parameters of a path, by name. */
export async function setScene(server: DocumentedServer) {
  const asAdmin = <Answer>(path: string, body: object) =>
    ask<Answer>(server, 'POST', `/v2/admin/${path}`, body)
  const thing = await createThing(server)
  const { thingId, thingToken } = thing
  await write(server, thing, {
    values: [
      { key: 'temperature', value: 20 },
      { key: 'temperature', value: 21 },
      { key: '$geo', value: [24, 60] },
    ],
  })
  await write(server, thing, { values: [{ key: 'no spaces', value: 1 }] })
  const [{ tokenId }, { sessionId, sessionToken }, { activationCodes }, { sourceId, sourceToken }] =
    await Promise.all([
      asAdmin<{ tokenId: string }>(`things/${thingId}/tokens`, {}),
      asAdmin<{ sessionId: string; sessionToken: string }>('sessions', { things: [thingId], access: 'read' }),
      asAdmin<{ activationCodes: string[] }>('activation-codes', {}),
      asAdmin<{ sourceId: string; sourceToken: string }>('sources', {
        ...{ name: 'scene', formats: ['ttn'], topics: [`scene/${thingId}/#`] },
      }),
    ])
  const [code = ''] = activationCodes
  const path: Record<string, string> = {
    ...{ ref: thingId, thingId, key: 'temperature', format: 'json', tokenId, sessionId, sourceId, code },
    source: sourceToken,
  }
  return { path, thingId, thingToken, sessionToken, activationCode: code }
}

/** What a request differs in from the one that the document shows. */
export interface Differences {
  readonly path?: Readonly<Record<string, string>>
  readonly query?: Readonly<Record<string, string>>
  readonly headers?: Readonly<Record<string, string>>
  /** Undefined: as documented. */
  readonly body?: string | Uint8Array<ArrayBuffer>
  /** Undefined: the one that the operation names first; null: none. */
  readonly credential?: string | null
}

type Received = Awaited<ReturnType<typeof request>>

/** Sends what the document shows, with the ids and secrets of a scene in the places of those it shows. */
export async function request(
  { url, adminKey }: DocumentedServer,
  operation: DocumentedOperation,
  scene: Scene,
  differences: Differences = {},
) {
  const { query = {}, headers = {}, body = bodyOf(operation, scene) } = differences
  const schemes = operation.security.flatMap(scheme => Object.keys(scheme))
  const { credential = schemes.some(name => name !== 'thingToken') ? adminKey : null } = differences
  const values = { ...scene.path, ...differences.path }
  const path = operation.path.replaceAll(/\{(\w+)\}/g, (_, name: string) =>
    encodeURIComponent(values[name] ?? ''),
  )
  const required = operation.parameters.filter(parameter => parameter.in === 'query' && parameter.required)
  const asked = {
    ...(schemes.includes('thingToken') && { thingToken: scene.thingToken }),
    ...Object.fromEntries(required.map(({ name, example }) => [name, String(example)])),
    // It wants either an aggregate or points.
    ...(operation.operationId === 'readAggregates' &&
      !('points' in query) && { aggregate: 'avg', interval: '1h' }),
    ...query,
  }
  const search = new URLSearchParams(asked).toString()
  const stop = new AbortController()
  const response = await fetch(`${url}${path}${search && `?${search}`}`, {
    method: operation.method,
    headers: { ...(credential !== null && { authorization: `Bearer ${credential}` }), ...headers },
    ...(body !== undefined && { body }),
    signal: stop.signal,
  })
  const [mediaType = ''] = (response.headers.get('content-type') ?? '').split(';')
  const isEndless = operation.operationId === 'streamWrites' && response.status === 200
  // Of a stream, what comes first.
  const text = isEndless ? await firstOf(response) : await response.text()
  stop.abort()
  return { status: response.status, mediaType, text, headers: response.headers }
}

function bodyOf({ requestBody }: DocumentedOperation, { activationCode }: Scene): string | undefined {
  const example = requestBody?.content['application/json']?.example
  if (typeof example !== 'object' || example === null) return undefined
  if ('activationCode' in example) return JSON.stringify({ activationCode })
  // The example is sent more than once.
  return JSON.stringify('topics' in example ? { ...example, overlap: true } : example)
}

async function firstOf({ body }: Response): Promise<string> {
  const { value } = (await body?.getReader().read()) ?? {}
  return new TextDecoder().decode(value)
}

/** What is wrong with an answer by what the document says of it. */
export function problemOf(
  matcher: Matcher,
  { responses }: DocumentedOperation,
  received: Received,
): string | undefined {
  const { status, mediaType, text } = received
  const content = responses[status]?.content[mediaType]
  if (!content) return `${status} ${mediaType} is not documented`
  if (text === '') return 'it is empty'
  const value: unknown = mediaType === 'application/json' ? JSON.parse(text) : text
  return matcher(value, content.schema)
}
