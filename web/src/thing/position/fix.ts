import type { Position } from '../../map/place.ts'

/** A position, and the time at which the thing was there. */
export interface Fix extends Position {
  /** Milliseconds since the epoch. */
  readonly datetime: number
}

/** Converts a record of `$geo`, read or live, to a fix; undefined if it is not a position. */
export function fixOf(record: unknown): Fix | undefined {
  const { value, datetime } = (record ?? {}) as { readonly value?: unknown; readonly datetime?: string }
  return datetime === undefined ? undefined : fixAt(value, Date.parse(datetime))
}

/** @param point a GeoJSON Point (RFC 7946, 3.1.2) */
export function fixAt(point: unknown, datetime: number): Fix | undefined {
  const { coordinates } = (point ?? {}) as { readonly coordinates?: unknown }
  if (!Array.isArray(coordinates)) return undefined
  const [long, lat] = coordinates as unknown[]
  return typeof long === 'number' && typeof lat === 'number' ? { lat, long, datetime } : undefined
}
