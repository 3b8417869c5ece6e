/** A linear ring of GeoJSON (RFC 7946, 3.1.6): points `[long, lat]` in degrees. The last point equals the first. */
export type Ring = readonly (readonly [number, number])[]

/** The latitude at which maps in the Mercator projection end, degrees. */
const edge = 85.06

/**
 * Converts polygons on the globe to polygons on a plane. A ring that crosses the antimeridian continues beyond ±180. A ring around
 * a pole is closed along the edge of the map. A polygon that extends beyond ±180 is included twice, once at each side of the map.
 */
export function onPlane(polygons: readonly (readonly Ring[])[]): Ring[][] {
  return polygons.flatMap(polygon => {
    const rings = polygon.map(flat)
    const longs = rings.flatMap(ring => ring.map(([long]) => long))
    if (longs.some(long => long > 180)) return [rings, rings.map(ring => shifted(ring, -360))]
    return longs.some(long => long < -180) ? [rings, rings.map(ring => shifted(ring, 360))] : [rings]
  })
}

function flat(ring: Ring): Ring {
  let before = ring[0]?.[0] ?? 0
  const line = ring.map(([long, lat]): readonly [number, number] => {
    before = long - 360 * Math.round((long - before) / 360)
    return [before, lat]
  })
  const [first] = line
  const last = line.at(-1)
  if (!first || !last || Math.abs(last[0] - first[0]) < 180) return line
  const pole = last[1] < 0 ? -edge : edge
  return [...line, [last[0], pole], [first[0], pole], first]
}

function shifted(ring: Ring, by: number): Ring {
  return ring.map(([long, lat]) => [long + by, lat])
}
