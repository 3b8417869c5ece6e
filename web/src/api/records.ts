import type { Api } from './http.ts'

/** A record in the form of reads and live messages. */
export interface ReadingRecord {
  readonly key: string
  readonly value: unknown
  /** RFC 3339, UTC. */
  readonly datetime: string
  readonly geo?: { readonly lat: number; readonly long: number }
}

/** A summary of the records of one interval, as a read with `points` returns it. */
export interface IntervalRecord {
  /** Start of the interval, RFC 3339, UTC. */
  readonly datetime: string
  /** Null if no value is a number. */
  readonly avg: number | null
  readonly min: number | null
  readonly max: number | null
  /** Number of records, with any value. */
  readonly count: number
  readonly first: unknown
  readonly last: unknown
}

/** The path of a thing's resource, with a query. */
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
