import type { Api } from './http.ts'
import { visibleName } from './visible-name.ts'

/** A thing in the answer of `GET /v2/things`. */
export interface ThingSummary {
  readonly thingId: string
  /** Empty if the thing has no name, or a name without visible characters. */
  readonly name: string
  /** RFC 3339. */
  readonly createdAt: string
  /** When the thing last used its own token, RFC 3339; null if never. */
  readonly lastSeen: string | null
  /** When a write to the thing was last stored, with any credential, RFC 3339; absent if not recorded. */
  readonly lastWrite?: string
  readonly position?: { readonly lat: number; readonly long: number }
  /** The device of a source that the thing stands for. */
  readonly source?: {
    readonly sourceId: string
    readonly device: string
    /** Set if the device has announced that it is gone. */
    readonly isGone?: true
  }
}

export interface ThingsPage {
  readonly things: readonly ThingSummary[]
  /** The cursor of the next page. */
  readonly next?: string
}

export interface ThingsQuery {
  /** Only the thing with this id. */
  readonly thingId?: string
  /** 1..1000. */
  readonly limit?: number
  readonly cursor?: string
  /** Only things of the source with this id. */
  readonly source?: string
  /** Part of the name, in upper or lower case. */
  readonly name?: string
  /** `west,south,east,north` in degrees: only things in this area. */
  readonly bbox?: string
}

/** A page of the things that the principal may see. @throws ApiError */
export async function fetchThings(
  api: Api,
  query: ThingsQuery = {},
  signal?: AbortSignal,
): Promise<ThingsPage> {
  const parameters = Object.entries(query).map(([name, value]) => [name, String(value)])
  const page = await api.get<ThingsPage>(`/v2/things?${new URLSearchParams(parameters)}`, signal)
  return { ...page, things: page.things.map(thing => ({ ...thing, name: visibleName(thing.name) })) }
}
