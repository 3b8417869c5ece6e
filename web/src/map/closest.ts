/** The closest automatic zoom levels: about 10 m per pixel with a track, 300 m per pixel with places only. */
const closestToTrack = 14
const closestToPlaces = 9
/** Metres at the equator. A track with shorter sides is shown like a place: a closer map would show nothing around it. */
const smallest = 500

export interface Shown {
  readonly hasTrack: boolean
  /** Size of what is shown, metres at the equator. */
  readonly width: number
  readonly height: number
  /** Whether the map shows tiles, which contain streets. Coastlines are wrong by up to a few kilometres. */
  readonly hasTiles: boolean
}

/** The closest zoom level that a map chooses automatically. */
export function closestZoom({ hasTrack, width, height, hasTiles }: Shown): number {
  if (!hasTrack) return closestToPlaces
  const isPlace = Math.max(width, height) < smallest
  return isPlace && !hasTiles ? closestToPlaces : closestToTrack
}
