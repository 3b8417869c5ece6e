import type { Api } from './http.ts'
import { visibleName } from './visible-name.ts'

/** A thing in a list, as `GET /v2/things` gives it. */
export interface ThingSummary {
  readonly thingId: string
  /** Empty where there is none, or none that is seen. */
  readonly name: string
  /** RFC 3339. */
  readonly createdAt: string
  /** When it last used its own token: RFC 3339; null if never. */
  readonly lastSeen: string | null
  /** When a write of it was last stored, with whichever credential: RFC 3339; absent if none was noted. */
  readonly lastWrite?: string
  readonly position?: { readonly lat: number; readonly long: number }
}

export interface ThingsPage {
  readonly things: readonly ThingSummary[]
  /** The cursor of the next page. */
  readonly next?: string
}

export interface ThingsQuery {
  /** This one only. */
  readonly thingId?: string
  /** 1..1000. */
  readonly limit?: number
  readonly cursor?: string
  /** Part of the name, in any case. */
  readonly name?: string
  /** `west,south,east,north` in degrees: only things that are inside. */
  readonly bbox?: string
}

/** The things that the principal may see, a page at a time. @throws ApiError */
export async function fetchThings(
  api: Api,
  query: ThingsQuery = {},
  signal?: AbortSignal,
): Promise<ThingsPage> {
  const parameters = Object.entries(query).map(([name, value]) => [name, String(value)])
  const page = await api.get<ThingsPage>(`/v2/things?${new URLSearchParams(parameters)}`, signal)
  return { ...page, things: page.things.map(thing => ({ ...thing, name: visibleName(thing.name) })) }
}
