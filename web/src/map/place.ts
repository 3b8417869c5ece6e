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

/**
 * Positions as close together as they are on the globe, at longitudes that may be beyond ±180: so that a map shows them and not the
 * rest of the world. A track stays as it is, and what else there is goes beside it.
 *
 * @param track longitudes of an unwrapped track
 * @param positions of anything else, in any order
 */
export function gathered(track: readonly number[], positions: readonly Position[]): Position[] {
  const last = track.at(-1)
  if (last !== undefined) return positions.map(position => nearTo(position, last))
  const east = [...positions].map(({ long }) => long).sort((a, b) => a - b)
  const [first = 0] = east
  // The widest stretch without any of them is left out.
  const steps = east.map((long, at) => ({ long, step: (east[at + 1] ?? first + 360) - long }))
  const widest = steps.reduce((most, each) => (each.step >= most.step ? each : most), { long: 0, step: 0 })
  // Where all is on this side of ±180, it stays there.
  const from = widest.long === east.at(-1) ? first : widest.long + widest.step
  const middle = from + (360 - widest.step) / 2
  return positions.map(position => nearTo(position, middle))
}

function nearTo({ lat, long }: Position, middle: number): Position {
  return { lat, long: long - 360 * Math.round((long - middle) / 360) }
}
