import { Redactor } from '../../core/refusals/redactor.ts'
import { catalogue, type FieldError, type Reason } from '../../errors.ts'
import { CommandError, exitStatus } from '../exit.ts'
import type { Credential } from './credential.ts'

/** An error answer from the server (contract §6). */
export class RefusedError extends CommandError {
  /** Reason code (docs/reference/errors.md); empty if the answer is not from a Thingwire server. */
  readonly reason: string
  readonly httpStatus: number
  readonly errors: readonly FieldError[]
  /** Seconds after which the same request may succeed; undefined if sending the request again cannot help. */
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

/** There was no answer. For example, nothing listens on the port, the host name is unknown, or the connection broke. */
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

/** Sends requests to one server over HTTP, with one credential. */
export class ServerClient {
  /** URL of the server, without a slash at the end. */
  readonly url: string
  readonly #credential: Credential

  /** The file or variable that the credential comes from. */
  get source(): string {
    return this.#credential.source
  }

  constructor(url: string, credential: Credential) {
    this.url = url
    this.#credential = credential
  }

  /**
   * Sends a request, and returns the successful answer with its body still unread.
   *
   * @param path such as `/v2/things`
   * @throws RefusedError, UnreachableError
   */
  async open(path: string, { headers = {}, ...options }: RequestOptions = {}): Promise<Response> {
    let response: Response
    try {
      const credential = { authorization: `Bearer ${this.#credential.text}` }
      // Following a redirect would send the credential elsewhere. The server itself sends no redirects.
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

  /** Sends a request, and returns the JSON of the successful answer. @throws as `open` */
  async call<Answer>(path: string, options: RequestOptions = {}): Promise<Answer> {
    return (await this.page<Answer>(path, options)).answer
  }

  /** Like `call`, but also returns the path of the next page if the answer links to one (RFC 8288). */
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

  /** Sends a JSON document by POST. @throws as `open` */
  async post<Answer>(path: string, body: object): Promise<Answer> {
    return await this.call<Answer>(path, { method: 'POST', body: JSON.stringify(body) })
  }

  /** Yields the body of a successful answer as it arrives. @throws UnreachableError if the connection breaks */
  async *partsOf({ body }: Response): AsyncGenerator<Uint8Array> {
    try {
      if (body) yield* body
    } catch (error) {
      throw new UnreachableError(this.url, error)
    }
  }

  /** Yields all items of a list that the server returns in pages with `next` cursors. */
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

/** The answer to a request, or `instead` if the server refuses the request with this status. */
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
 * Why a connection failed.
 *
 * @returns a text such as `connect ECONNREFUSED 127.0.0.1:8080`, and the error code of Node.js or OpenSSL, empty if there is none
 */
export function networkFault(error: unknown): { readonly text: string; readonly code: string } {
  if (error instanceof AggregateError) return networkFault(error.errors[0])
  if (!(error instanceof Error)) return { text: String(error), code: '' }
  if (error.cause !== undefined) return networkFault(error.cause)
  return { text: error.message, code: 'code' in error ? String(error.code) : '' }
}

function unreachableText(url: string, cause: unknown): string {
  const { text, code } = networkFault(cause)
  // OpenSSL's own text names a line of its source code, so it is not shown.
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
  // Waiting does not make a refused credential valid.
  const isRetryable =
    reason !== undefined && reason in catalogue
      ? catalogue[reason as Reason].retryable && reason !== 'too_many_failed_credentials'
      : status === 429 || status === 503
  const seconds = Number(headers.get('retry-after') ?? Number.NaN)
  return new RefusedError(status, answer, credential, isRetryable ? seconds || 1 : undefined)
}

/** Parses an error answer and redacts it: the answer may repeat the credential, and other people may read the command's output. */
function errorAnswer(body: string, redactor: Redactor): ErrorAnswer {
  const { reason, message, errors } = objectIn(body)
  const said = (text: unknown) => (typeof text === 'string' ? redactor.redact(text) : '')
  return {
    reason: said(reason),
    ...(typeof message === 'string' && { message: said(message) }),
    errors: (Array.isArray(errors) ? errors : []).flatMap(error => {
      if (!Number.isSafeInteger(error?.index)) return []
      // A reason that the catalogue does not have is shown like any other reason.
      const reason = said(error.reason) as Reason
      return [{ index: error.index, field: said(error.field), reason, message: said(error.message) }]
    }),
  }
}

/** The members of a JSON object; empty if the text is not JSON. */
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

/** Lines of advice if a credential or a key is unknown; empty for any other reason. */
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
