import { Redactor } from '../../core/refusals/redactor.ts'
import { catalogue, type FieldError, type Reason } from '../../errors.ts'
import { CommandError, exitStatus } from '../exit.ts'
import type { Credential } from './credential.ts'

/** An answer of the server that is no success (contract §6). */
export class RefusedError extends CommandError {
  /** A reason of docs/reference/errors.md; empty if something else than the server answered. */
  readonly reason: string
  readonly httpStatus: number
  readonly errors: readonly FieldError[]
  /** Seconds after which the same request may succeed; undefined: it will not without a change. */
  readonly retryAfter: number | undefined

  constructor(
    httpStatus: number,
    { reason = '', message, errors = [] }: ErrorAnswer,
    { source, ifUnknown }: Pick<Credential, 'source' | 'ifUnknown'>,
    retryAfter?: number,
  ) {
    const status = statusFor(httpStatus, reason)
    const origin =
      status === exitStatus.credential && reason !== '' ? `; the credential is from ${source}` : ''
    super(status, refusalText(httpStatus, reason, message) + origin, nextSteps(reason, ifUnknown))
    this.reason = reason
    this.httpStatus = httpStatus
    this.errors = errors
    this.retryAfter = retryAfter
  }
}

/** No answer: nothing listens, the name is unknown, the connection broke. */
export class UnreachableError extends CommandError {
  constructor(url: string, cause: unknown) {
    super(exitStatus.unreachable, `no answer from ${url}: ${unreachableText(url, cause)}`)
  }
}

interface ErrorAnswer {
  readonly reason?: string
  readonly message?: string
  readonly errors?: readonly FieldError[]
}

interface RequestOptions {
  readonly method?: 'GET' | 'POST' | 'PATCH' | 'DELETE'
  /** JSON text. */
  readonly body?: string
  readonly headers?: Readonly<Record<string, string>>
  readonly signal?: AbortSignal
}

/** The HTTP door of one server, as the holder of one credential. */
export class ServerClient {
  /** Without a slash at its end. */
  readonly url: string
  readonly #credential: Credential

  /** Where the credential is from. */
  get source(): string {
    return this.#credential.source
  }

  constructor(url: string, credential: Credential) {
    this.url = url
    this.#credential = credential
  }

  /**
   * A successful answer, its body not read yet.
   *
   * @param path such as `/v2/things`
   * @throws RefusedError, UnreachableError
   */
  async open(path: string, { headers = {}, ...options }: RequestOptions = {}): Promise<Response> {
    let response: Response
    try {
      const credential = { authorization: `Bearer ${this.#credential.text}` }
      // A redirect would carry the credential elsewhere, and the server sends none.
      response = await fetch(this.url + path, {
        ...options,
        redirect: 'error',
        headers: { ...headers, ...credential },
      })
    } catch (error) {
      if (options.signal?.aborted === true) throw error
      throw new UnreachableError(this.url, error)
    }
    if (response.ok) return response
    throw refusal(response, await response.text().catch(() => ''), this.#credential)
  }

  /** The JSON of a successful answer. @throws as `open` */
  async call<Answer>(path: string, options: RequestOptions = {}): Promise<Answer> {
    return (await this.page<Answer>(path, options)).answer
  }

  /** As `call`, with the path of the next page if the answer names one (RFC 8288), relative to `path`. */
  async page<Answer>(path: string, options: RequestOptions = {}) {
    const response = await this.open(path, options)
    const link = /<([^>]*)>; rel="next"/.exec(response.headers.get('link') ?? '')?.[1]
    const url = link === undefined ? undefined : new URL(link, new URL(path, this.url))
    const next = url && url.pathname + url.search
    try {
      return { answer: (await response.json()) as Answer, next }
    } catch (error) {
      if (error instanceof SyntaxError) throw notTheServer(this.url)
      throw new UnreachableError(this.url, error)
    }
  }

  /** POST of a JSON document. @throws as `open` */
  async post<Answer>(path: string, body: object): Promise<Answer> {
    return await this.call<Answer>(path, { method: 'POST', body: JSON.stringify(body) })
  }

  /** The body of a successful answer, as it comes. @throws UnreachableError if it is cut off */
  async *partsOf({ body }: Response): AsyncGenerator<Uint8Array> {
    try {
      if (body) yield* body
    } catch (error) {
      throw new UnreachableError(this.url, error)
    }
  }

  /** Every item of a list that is given page by page with `next` cursors. */
  async *list<Item, Name extends string>(path: string, name: Name): AsyncGenerator<Item> {
    let cursor = ''
    for (;;) {
      const query = `${path.includes('?') ? '&' : '?'}limit=1000${cursor}`
      const page = await this.call<{ next?: string } & Record<Name, Item[]>>(path + query)
      yield* page[name]
      if (page.next === undefined) return
      cursor = `&cursor=${encodeURIComponent(page.next)}`
    }
  }

  async listAll<Item, Name extends string>(path: string, name: Name): Promise<Item[]> {
    const items: Item[] = []
    for await (const item of this.list<Item, Name>(path, name)) items.push(item)
    return items
  }
}

/** What comes of a request, or `instead` where it is refused with this status. */
export async function orIfRefused<Answer, Instead>(
  asked: Promise<Answer>,
  httpStatus: number,
  instead: Instead,
): Promise<Answer | Instead> {
  return await asked.catch((error: unknown) => {
    if (error instanceof RefusedError && error.httpStatus === httpStatus) return instead
    throw error
  })
}

/**
 * What a failed connection failed at.
 *
 * @returns `text` such as `connect ECONNREFUSED 127.0.0.1:8080`; `code` of Node or OpenSSL, empty if there is none
 */
export function networkFault(error: unknown): { readonly text: string; readonly code: string } {
  if (error instanceof AggregateError) return networkFault(error.errors[0])
  if (!(error instanceof Error)) return { text: String(error), code: '' }
  if (error.cause !== undefined) return networkFault(error.cause)
  return { text: error.message, code: 'code' in error ? String(error.code) : '' }
}

function unreachableText(url: string, cause: unknown): string {
  const { text, code } = networkFault(cause)
  // OpenSSL gives it as a line of its source.
  if (code.startsWith('ERR_SSL_') || code === 'EPROTO') {
    return `the TLS handshake failed (${code}); is the URL ${url.replace(/^https/, 'http')}?`
  }
  if (/CERT|SIGNATURE/.test(code)) {
    return `its certificate is not trusted (${text}); to trust your own certificate, set NODE_EXTRA_CA_CERTS`
  }
  return `${text}; is the server running (thingwire serve), and is --url right?`
}

function refusal({ status, headers }: Response, body: string, credential: Credential): RefusedError {
  const answer = errorAnswer(body, new Redactor(credential.text))
  const { reason } = answer
  // A credential that is refused does not become a valid one by waiting.
  const isRetryable =
    reason !== undefined && reason in catalogue
      ? catalogue[reason as Reason].retryable && reason !== 'too_many_failed_credentials'
      : status === 429 || status === 503
  const seconds = Number(headers.get('retry-after') ?? Number.NaN)
  return new RefusedError(status, answer, credential, isRetryable ? seconds || 1 : undefined)
}

/** Redacted: where a command runs by itself others read what it says, and what has answered may have repeated the credential. */
function errorAnswer(body: string, redactor: Redactor): ErrorAnswer {
  const { reason, message, errors } = objectIn(body)
  const said = (text: unknown) => (typeof text === 'string' ? redactor.redact(text) : '')
  return {
    reason: said(reason),
    ...(typeof message === 'string' && { message: said(message) }),
    errors: (Array.isArray(errors) ? errors : []).flatMap(error => {
      if (!Number.isSafeInteger(error?.index)) return []
      // One that the catalogue does not have is shown like any other.
      const reason = said(error.reason) as Reason
      return [{ index: error.index, field: said(error.field), reason, message: said(error.message) }]
    }),
  }
}

/** Empty where it is no JSON object. */
function objectIn(text: string): Readonly<Record<string, unknown>> {
  try {
    return { ...JSON.parse(text) }
  } catch {
    return {}
  }
}

function notTheServer(url: string): CommandError {
  return new CommandError(
    exitStatus.failed,
    `the answer from ${url} is not that of a Thingwire server: is --url right?`,
  )
}

/** What to do where a credential or a key is unknown, as further lines. */
function nextSteps(reason: string, ifUnknown: string): readonly string[] {
  if (reason === 'unknown_resource') return ['thingwire read <thing> shows the keys of the thing']
  if (!['invalid_session', 'unknown_thing_token', 'too_many_failed_credentials'].includes(reason)) return []
  return ['thingwire doctor tests a credential over HTTP and MQTT', ifUnknown]
}

function refusalText(status: number, reason: string, message?: string): string {
  if (reason === '')
    return `HTTP ${status}, but the answer is not that of a Thingwire server: is --url right?`
  return `${message ?? 'refused'} (${reason}, HTTP ${status})`
}

function statusFor(status: number, reason: string): number {
  const isCredential = status === 401 || status === 403 || reason === 'too_many_failed_credentials'
  return isCredential ? exitStatus.credential : exitStatus.failed
}
