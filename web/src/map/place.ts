/** Degrees, WGS 84. */
export interface Position {
  /** -90..90, north is positive. */
  readonly lat: number
  /** -180..180, east is positive. */
  readonly long: number
}

/** Something on the map that has a name. */
export interface Place {
  readonly id: string
  readonly name: string
  readonly position: Position
}

/** A position for people: degrees with five digits (about a metre), and the hemisphere in letters. */
export function formatPosition({ lat, long }: Position): string {
  return `${Math.abs(lat).toFixed(5)}° ${lat < 0 ? 'S' : 'N'}, ${Math.abs(long).toFixed(5)}° ${long < 0 ? 'W' : 'E'}`
}

/** The same for the parts of a track, each going on from the one before. */
export function unwrappedParts(parts: readonly (readonly Position[])[]): Position[][] {
  const all = unwrapped(parts.flat())
  return parts.map(part => all.splice(0, part.length))
}

/**
 * The same positions, each at the longitude nearest to the one before it, be that beyond ±180: a line through them then
 * crosses the antimeridian rather than the world.
 */
export function unwrapped(positions: readonly Position[]): Position[] {
  let before: number | undefined
  return positions.map(({ lat, long }) => {
    before = before === undefined ? long : long - 360 * Math.round((long - before) / 360)
    return { lat, long: before }
  })
}
