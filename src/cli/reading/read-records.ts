import { orIfRefused, type ServerClient } from '../client/client.ts'
import type { TimeRange } from '../time.ts'

/** A record as `GET …/resources/<key>` returns it. */
export interface ReadRecord {
  readonly key: string
  readonly value: unknown
  readonly datetime: string
  readonly geo?: { readonly lat: number; readonly long: number }
}

/** An interval of an aggregated read, with `datetime` and a member for each function. */
export type ReadInterval = Readonly<Record<string, unknown>> & { readonly datetime: string }

/** The query parameters of a read (contract §6), under their names in the URL. */
export interface ReadQuery {
  readonly startDate?: string
  readonly endDate?: string
  readonly order?: string | undefined
  readonly aggregate?: string | undefined
  readonly interval?: string | undefined
  readonly points?: string | undefined
  readonly tz?: string | undefined
  readonly empty?: boolean | undefined
}

const maximumPage = 1000

export function resourcePath(
  thingId: string,
  key: string,
  query: ReadQuery & { limit?: number | undefined },
): string {
  return withQuery(`/v2/things/${thingId}/resources/${encodeURIComponent(key)}`, query)
}

function withQuery(path: string, query: object): string {
  const parameters = new URLSearchParams()
  for (const [name, value] of Object.entries(query)) {
    if (value !== undefined) parameters.set(name, String(value))
  }
  return parameters.size === 0 ? path : `${path}?${parameters}`
}

/** The limit of a page; undefined with `points`, since the server then chooses how many intervals it returns. */
function pageLimit({ points }: ReadQuery, left: number): number | undefined {
  return points === undefined ? Math.min(left, maximumPage) : undefined
}

/** Yields at most `limit` records or intervals of a resource. Reads page after page. */
export async function* readItems<Item>(
  client: ServerClient,
  [thingId, key]: readonly [thingId: string, key: string],
  query: ReadQuery,
  limit = Number.POSITIVE_INFINITY,
): AsyncGenerator<Item> {
  let left = limit
  let path: string | undefined = resourcePath(thingId, key, { ...query, limit: pageLimit(query, left) })
  while (path !== undefined && left > 0) {
    const { answer, next }: { answer: Item[]; next: string | undefined } = await client.page<Item[]>(path)
    yield* answer.slice(0, left)
    left -= answer.length
    path = next
  }
}

/**
 * Yields intervals of several resources in order of time, until one of the resources has had `limit` intervals. Intervals of
 * the same time are in the order of `keys`. Reads page after page.
 */
export async function* readIntervals(
  client: ServerClient,
  thingId: string,
  keys: readonly string[],
  query: ReadQuery,
  limit = Number.POSITIVE_INFINITY,
): AsyncGenerator<ReadInterval> {
  type Answer = Readonly<Record<string, readonly ReadInterval[]>>
  const asked = { keys: keys.join(','), ...query, limit: pageLimit(query, limit) }
  let left = limit
  let path: string | undefined = withQuery(`/v2/things/${thingId}/aggregates`, asked)
  while (path !== undefined && left > 0) {
    const { answer, next }: { answer: Answer; next: string | undefined } = await client.page<Answer>(path)
    const rows = keys.flatMap(key =>
      (answer[key] ?? []).map((interval, place) => ({ place, item: { key, ...interval } })),
    )
    const sign = query.order === 'asc' ? 1 : -1
    rows.sort((a, b) => sign * (Date.parse(a.item.datetime) - Date.parse(b.item.datetime)))
    const end = rows.find(({ place }) => place >= left)?.item.datetime
    for (const { item } of rows) {
      if (item.datetime === end) return
      yield item
    }
    left -= Math.max(...rows.map(({ place }) => place + 1))
    path = next
  }
}

/** The number of records of a resource in a range, counted by the server. */
export async function countRecords(
  client: ServerClient,
  thingId: string,
  key: string,
  range: TimeRange = {},
): Promise<number> {
  // One interval that contains all datetimes.
  const query = { ...range, aggregate: 'count', interval: '99999999d' }
  let count = 0
  for await (const item of readItems<{ count: number }>(client, [thingId, key], query)) count += item.count
  return count
}

/** The newest record of each resource of a thing; empty if the thing no longer exists. */
export async function newestRecords(client: ServerClient, thingId: string) {
  type Newest = readonly { readonly key: string; readonly values: readonly ReadRecord[] }[]
  const asked = client.call<Newest>(`/v2/things/${thingId}/all_resources?limit=1`)
  return await orIfRefused(asked, 404, [])
}

/** The key of the resource that a key belongs to: `$settings` for a path such as `$settings.rate`. */
function resourceOf(key: string): string {
  return key.startsWith('$') ? key.replace(/\..*/, '') : key
}

/** Maximum number of keys that a message names. */
const namedKeys = 20

/** Splits `keys` into keys that the thing has (`known`) and all others. `has` says in words which keys the thing has. */
export async function knownKeys(client: ServerClient, thingId: string, keys: readonly string[]) {
  const listed = await listResources(client, thingId)
  const isListed = (key: string) => listed.includes(resourceOf(key))
  const others = listed.length > namedKeys ? ` and ${listed.length - namedKeys} others` : ''
  const text = listed.length === 0 ? 'no keys yet' : listed.slice(0, namedKeys).join(', ') + others
  return {
    known: keys.filter(isListed),
    unknown: keys.filter(key => !isListed(key)),
    has: `the thing has ${text}`,
  }
}

export async function listResources(client: ServerClient, thingId: string): Promise<readonly string[]> {
  const { resources } = await client.call<{ resources: string[] }>(`/v2/things/${thingId}/resources`)
  return resources
}
