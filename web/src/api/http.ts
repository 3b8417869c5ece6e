import { hearDate } from '../time/clock.ts'
import { addressOf } from './address.ts'
import { nextOf } from './link.ts'

/** One fault of a refused write. */
interface RefusedRecord {
  /** Place of the record in the write, from 0. */
  readonly index: number
  readonly field: string
  readonly reason: string
  readonly message: string
}

interface Refusal {
  readonly status: number
  readonly reason: string
  readonly message: string
  readonly retryAfter?: number
  readonly errors?: readonly RefusedRecord[]
}

/** A request that was refused or got no answer. */
export class ApiError extends Error {
  /** HTTP status; 0 if the server did not answer. */
  readonly status: number
  /** The stable reason code of docs/reference/errors.md; `no_answer` if the server did not answer. */
  readonly reason: string
  /** Seconds to wait before the next attempt, if the server sent them. */
  readonly retryAfter?: number
  /** The faults of a refused write. */
  readonly errors?: readonly RefusedRecord[]

  constructor({ message, ...refusal }: Refusal) {
    super(message)
    this.name = 'ApiError'
    this.status = refusal.status
    this.reason = refusal.reason
    if (refusal.retryAfter !== undefined) this.retryAfter = refusal.retryAfter
    if (refusal.errors) this.errors = refusal.errors
  }
}

interface Page<T> {
  readonly body: T
  /** The address of the next page (`Link: rel="next"`), for `getPage`. */
  readonly next?: string
  /** Length of the intervals, if the server chose it (`Thingwire-Interval`), for example `5m`. */
  readonly interval?: string
}

/** The server's HTTP interface, used with one credential. All methods throw `ApiError`, or an AbortError when aborted. */
export interface Api {
  /** @param path a path such as `/v2/things`, or `Page.next` */
  get<T>(path: string, signal?: AbortSignal): Promise<T>
  getPage<T>(path: string, signal?: AbortSignal): Promise<Page<T>>
  send<T>(method: 'POST' | 'PATCH' | 'PUT' | 'DELETE', path: string, body?: unknown): Promise<T>
}

/** @param onDoubt called after a 401 answer: the credential may have become invalid */
export function createApi(credential: string, onDoubt: () => void = () => {}): Api {
  async function request<T>(path: string, init: RequestInit): Promise<Page<T>> {
    const asked = Date.now()
    const response = await fetch(addressOf(path), {
      ...init,
      headers: { authorization: `Bearer ${credential}`, accept: 'application/json' },
      cache: 'no-store',
    }).catch((error: unknown) => {
      if (init.signal?.aborted) throw error
      const message = 'The server does not answer. Check your network and whether the server runs.'
      throw new ApiError({ status: 0, reason: 'no_answer', message })
    })
    hearDate(response, asked)
    if (!response.ok) {
      if (response.status === 401) onDoubt()
      throw await refusalOf(response)
    }
    const next = nextOf(response.headers.get('link'), response.url)
    const body: T = await response.json()
    const interval = response.headers.get('thingwire-interval') ?? undefined
    return { body, ...(next === undefined ? {} : { next }), ...(interval === undefined ? {} : { interval }) }
  }

  return {
    getPage: (path, signal) => request(path, signal ? { signal } : {}),
    async get<T>(path: string, signal?: AbortSignal) {
      return (await request<T>(path, signal ? { signal } : {})).body
    },
    async send<T>(method: string, path: string, body?: unknown) {
      return (
        await request<T>(path, body === undefined ? { method } : { method, body: JSON.stringify(body) })
      ).body
    },
  }
}

async function refusalOf(response: Response): Promise<ApiError> {
  const { status } = response
  const answer = ((await response.json().catch(() => undefined)) ?? {}) as Partial<Refusal>
  const { reason = 'unexpected_answer', message = `The server answered ${status}.`, errors } = answer
  const retryAfter = Number(response.headers.get('retry-after') ?? Number.NaN)
  return new ApiError({
    status,
    reason,
    message,
    ...(errors ? { errors } : {}),
    ...(Number.isFinite(retryAfter) ? { retryAfter } : {}),
  })
}
