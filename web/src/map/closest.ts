/** How close a map goes by itself, as zoom levels: to a track, about 10 m a pixel; to places alone, 300 m. */
const closestToTrack = 14
const closestToPlaces = 9
/** Metres at the equator, along a side, up to which a track is no more than a place: from near there would be nothing beside it. */
const smallest = 500

export interface Shown {
  readonly hasTrack: boolean
  /** Metres at the equator. */
  readonly width: number
  readonly height: number
  /** Tiles have streets; a coastline is up to a few kilometres off. */
  readonly hasTiles: boolean
}

/** The zoom level beyond which a map does not go by itself. */
export function closestZoom({ hasTrack, width, height, hasTiles }: Shown): number {
  if (!hasTrack) return closestToPlaces
  const isPlace = Math.max(width, height) < smallest
  return isPlace && !hasTiles ? closestToPlaces : closestToTrack
}
