import type { Api } from './http.ts'

/** A record, as reads and live messages give it. */
export interface ReadingRecord {
  readonly key: string
  readonly value: unknown
  /** RFC 3339, UTC. */
  readonly datetime: string
  readonly geo?: { readonly lat: number; readonly long: number }
}

/** What the records of one interval come to: an answer to `points`. */
export interface IntervalRecord {
  /** The start of the interval: RFC 3339, UTC. */
  readonly datetime: string
  /** Null if there is no number among them. */
  readonly avg: number | null
  readonly min: number | null
  readonly max: number | null
  /** Of all records, numbers or not. */
  readonly count: number
  readonly first: unknown
  readonly last: unknown
}

/** The path of a resource of a thing, with a query. */
export function resourcePath(
  thingId: string,
  key: string,
  query: Readonly<Record<string, string | number>>,
): string {
  const parameters = Object.entries(query).map(([name, value]) => [name, String(value)])
  return `/v2/things/${thingId}/resources/${encodeURIComponent(key)}?${new URLSearchParams(parameters)}`
}

/** The newest records, newest first. @param limit 1..1000 @throws ApiError */
export function fetchNewest(
  api: Api,
  thingId: string,
  key: string,
  limit: number,
  signal?: AbortSignal,
): Promise<readonly ReadingRecord[]> {
  return api.get(resourcePath(thingId, key, { limit }), signal)
}
