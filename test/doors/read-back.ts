import type { Geo } from '../../src/core/record/geo.ts'
import type { Reason } from '../../src/errors.ts'
import type { ServerAddress, Thing } from '../helpers/http-client.ts'

/** A refused record, less its message. */
export interface Refusal {
  readonly index: number
  readonly field: string
  readonly reason: Reason
}

/** A record as it reads back, less its key. */
export interface ReadRecord {
  readonly value: unknown
  /** ISO 8601; `receipt` stands for the time at which the write came in. */
  readonly datetime: string
  readonly geo?: Geo
}

/** An item of `GET …/errors` (contract §6). */
export interface RefusedWrite {
  readonly datetime: string
  readonly door: string
  readonly reason: Reason
  readonly message: string
  readonly errors?: readonly (Refusal & { readonly message: string })[]
  readonly id?: string
  readonly excerpt: string
}

const nextLink = /<([^>]+)>;\s*rel="next"/

/** What a thing holds, as the HTTP API gives it. */
export class ReadBack {
  readonly #things: string

  constructor({ url }: ServerAddress, { thingToken }: Thing) {
    this.#things = `${url}/v2/things/${thingToken}`
  }

  /** Every record of a resource, from page to page; none if nothing was ever written under the key. */
  async records(key: string, order: 'asc' | 'desc'): Promise<ReadRecord[]> {
    const records: ReadRecord[] = []
    let next: string | undefined =
      `${this.#things}/resources/${encodeURIComponent(key)}?limit=1000&order=${order}`
    while (next !== undefined) {
      const response: Response = await fetch(next)
      const page: unknown = await response.json()
      if (response.status === 404) return records
      if (response.status !== 200) throw new Error(`${key} cannot be read: ${JSON.stringify(page)}`)
      for (const { key: named, ...record } of page as (ReadRecord & { key: string })[]) {
        if (named !== key) throw new Error(`${key} reads as a record of ${named}`)
        records.push(record)
      }
      const link = nextLink.exec(response.headers.get('link') ?? '')?.[1]
      next = link === undefined ? undefined : new URL(link, response.url).href
    }
    return records
  }

  async keys(): Promise<readonly string[]> {
    const { resources } = (await this.#get('/resources')) as { resources: readonly string[] }
    return resources
  }

  /** Newest first. */
  async refusedWrites(): Promise<readonly RefusedWrite[]> {
    return (await this.#get('/errors?limit=100')) as readonly RefusedWrite[]
  }

  async #get(path: string): Promise<unknown> {
    const response = await fetch(`${this.#things}${path}`)
    const content: unknown = await response.json()
    if (response.status !== 200) throw new Error(`${path} cannot be read: ${JSON.stringify(content)}`)
    return content
  }
}
