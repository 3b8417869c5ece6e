import type { DocumentedServer } from './documented-server.ts'
import type { DocumentedOperation } from './openapi-document.ts'
import type { Scene } from './scene.ts'

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

export interface Received {
  readonly status: number
  readonly mediaType: string
  /** Of a stream, what comes first. */
  readonly text: string
  readonly headers: Headers
}

/** Sends what the document shows, with the ids and secrets of a scene in the places of those it shows. */
export async function request(
  { url, adminKey }: DocumentedServer,
  operation: DocumentedOperation,
  scene: Scene,
  differences: Differences = {},
): Promise<Received> {
  const { query = {}, headers = {}, body = bodyOf(operation, scene) } = differences
  const schemes = operation.security.flatMap(scheme => Object.keys(scheme))
  const { credential = schemes.some(name => name !== 'thingToken') ? adminKey : null } = differences
  const values = { ...scene.path, ...differences.path }
  const path = operation.path.replaceAll(/\{(\w+)\}/g, (_, name: string) =>
    encodeURIComponent(values[name] ?? ''),
  )
  const asked = {
    ...(schemes.includes('thingToken') && { thingToken: scene.thingToken }),
    ...requiredQuery(operation),
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
  const text = isEndless ? await firstOf(response) : await response.text()
  stop.abort()
  return { status: response.status, mediaType, text, headers: response.headers }
}

function requiredQuery({ parameters }: DocumentedOperation): Readonly<Record<string, string>> {
  const required = parameters.filter(parameter => parameter.in === 'query' && parameter.required)
  return Object.fromEntries(required.map(({ name, example }) => [name, String(example)]))
}

function bodyOf({ requestBody }: DocumentedOperation, { activationCode }: Scene): string | undefined {
  const example = requestBody?.content['application/json']?.example
  if (typeof example !== 'object' || example === null) return undefined
  return JSON.stringify('activationCode' in example ? { activationCode } : example)
}

async function firstOf({ body }: Response): Promise<string> {
  const { value } = (await body?.getReader().read()) ?? {}
  return new TextDecoder().decode(value)
}
