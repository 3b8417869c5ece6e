/** Degrees, WGS 84. */
export interface Position {
  /** -90..90, positive to the north. */
  readonly lat: number
  /** -180..180, positive to the east. */
  readonly long: number
}

/** A marker on the map, with a name. */
export interface Place {
  readonly id: string
  readonly name: string
  readonly position: Position
}

/** A position as text: degrees with five decimals (about a metre), and a letter for the hemisphere. */
export function formatPosition({ lat, long }: Position): string {
  return `${Math.abs(lat).toFixed(5)}° ${lat < 0 ? 'S' : 'N'}, ${Math.abs(long).toFixed(5)}° ${long < 0 ? 'W' : 'E'}`
}

/** `unwrapped` for the parts of a track. Each part continues from the previous part. */
export function unwrappedParts(parts: readonly (readonly Position[])[]): Position[][] {
  const all = unwrapped(parts.flat())
  return parts.map(part => all.splice(0, part.length))
}

/**
 * The positions, each at the longitude nearest to the previous position, even if that is beyond ±180. A line through them then
 * crosses the antimeridian instead of the whole world.
 */
export function unwrapped(positions: readonly Position[]): Position[] {
  let before: number | undefined
  return positions.map(({ lat, long }) => {
    before = before === undefined ? long : long - 360 * Math.round((long - before) / 360)
    return { lat, long: before }
  })
}

/**
 * Positions as close together as they are on the globe, at longitudes that may be beyond ±180. A map can then show them without the
 * rest of the world. The positions are placed next to the track, which does not move.
 *
 * @param track longitudes of an unwrapped track
 * @param positions in any order
 */
export function gathered(track: readonly number[], positions: readonly Position[]): Position[] {
  const last = track.at(-1)
  if (last !== undefined) return positions.map(position => nearTo(position, last))
  const east = [...positions].map(({ long }) => long).sort((a, b) => a - b)
  const [first = 0] = east
  // The widest range of longitudes without a position is left out.
  const steps = east.map((long, at) => ({ long, step: (east[at + 1] ?? first + 360) - long }))
  const widest = steps.reduce((most, each) => (each.step >= most.step ? each : most), { long: 0, step: 0 })
  // If the positions do not cross ±180, they stay where they are.
  const from = widest.long === east.at(-1) ? first : widest.long + widest.step
  const middle = from + (360 - widest.step) / 2
  return positions.map(position => nearTo(position, middle))
}

function nearTo({ lat, long }: Position, middle: number): Position {
  return { lat, long: long - 360 * Math.round((long - middle) / 360) }
}
