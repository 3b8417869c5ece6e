import type { MagicHistory } from '../core/ports.ts'
import { parseDegrees } from '../core/record/geo.ts'
import type { Problem } from '../core/record/problem.ts'
import type { MagicResource } from './magic-resource.ts'

/**
 * `$geo`, the position of the thing (contract §5). It is written as a GeoJSON Point (RFC 7946), as `[long, lat]`, or as null with
 * `geo`, and stored as a Point with two coordinates. A record that was measured before the present position does not change the
 * position. If the measurement times are equal, the later write counts.
 */
export const geo: MagicResource = {
  key: '$geo',
  isLatestRecord: true,
  check({ value, geo }) {
    if (value === null && geo) return point(geo.long, geo.lat)
    return checkCoordinates(coordinatesOf(value))
  },
  apply(state, { value, datetime }) {
    return state && datetime < state.datetime ? undefined : { value, datetime }
  },
}

function coordinatesOf(value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value
  const { type, coordinates } = value as { type?: unknown; coordinates?: unknown }
  return type === 'Point' ? coordinates : undefined
}

function checkCoordinates(coordinates: unknown): MagicHistory | Problem {
  if (!Array.isArray(coordinates) || coordinates.length < 2 || coordinates.length > 3) {
    return invalidPosition('value must be a GeoJSON Point, [long, lat], or null together with geo')
  }
  // The third coordinate may have any value: receivers without an altitude send null.
  const [long, lat] = coordinates.map(degrees => (typeof degrees === 'number' ? degrees : undefined))
  const longitude = parseDegrees(long, 180)
  const latitude = parseDegrees(lat, 90)
  if (longitude !== undefined && latitude !== undefined) return point(longitude, latitude)
  return invalidPosition('the coordinates must be numbers: long from -180 to 180, then lat from -90 to 90')
}

function point(long: number, lat: number): MagicHistory {
  return { value: { type: 'Point', coordinates: [long, lat] } }
}

function invalidPosition(message: string): Problem {
  return { field: 'value', reason: 'invalid_position', message }
}
