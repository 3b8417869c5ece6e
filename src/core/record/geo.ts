import type { Problem } from './problem.ts'
import { forbiddenMember, forbiddenMemberOf } from './value.ts'

/** A position in degrees (WGS 84): `lat` from -90 to 90, `long` from -180 to 180. */
export interface Geo {
  readonly lat: number
  readonly long: number
}

/** The form of degrees that are sent as a string. */
export const decimal = /^-?\d+(\.\d+)?$/

/** Parses the `geo` of a record. Degrees are numbers, or strings that contain a plain decimal number (contract §2). */
export function parseGeo(input: unknown): Geo | Problem {
  if (typeof input !== 'object' || input === null || Array.isArray(input)) {
    return { field: 'geo', reason: 'invalid_geo', message: 'geo must be an object {lat, long}' }
  }
  const forbidden = forbiddenMemberOf(input)
  if (forbidden) return forbiddenMember('geo', forbidden)
  const { lat, long } = input as { lat?: unknown; long?: unknown }
  const latitude = parseDegrees(lat, 90)
  if (latitude === undefined) return degreesProblem('geo.lat', 90)
  const longitude = parseDegrees(long, 180)
  if (longitude === undefined) return degreesProblem('geo.long', 180)
  return { lat: latitude, long: longitude }
}

/** Parses degrees from -`limit` to `limit`, inclusive; undefined if invalid. -0 becomes 0. */
export function parseDegrees(input: unknown, limit: number): number | undefined {
  const degrees = typeof input === 'string' && decimal.test(input) ? Number(input) : input
  if (typeof degrees !== 'number' || !(Math.abs(degrees) <= limit)) return undefined
  return degrees + 0
}

function degreesProblem(field: string, limit: number): Problem {
  return { field, reason: 'invalid_geo', message: `${field} must be a number from -${limit} to ${limit}` }
}
