import Feature from 'ol/Feature.js'
import TopoJSON from 'ol/format/TopoJSON.js'
import MultiPolygon from 'ol/geom/MultiPolygon.js'
import Polygon from 'ol/geom/Polygon.js'
import VectorSource from 'ol/source/Vector.js'
import type View from 'ol/View.js'
import fineLand from 'world-atlas/land-10m.json?url'
import middleLand from 'world-atlas/land-50m.json?url'
import coarseLand from 'world-atlas/land-110m.json?url'
import { unpackLand } from './packed-land.ts'
import { onPlane, type Ring } from './rings.ts'

/** A coastline, and the zoom level from which on the coarser coastline looks wrong. */
interface Level {
  readonly url: string
  readonly from: number
}

/** Scales of 1:110 million, 1:50 million and 1:10 million. The last file is larger than the rest of the page. */
const levels: readonly [Level, ...Level[]] = [
  { url: coarseLand, from: 0 },
  { url: middleLand, from: 3.5 },
  { url: fineLand, from: 6 },
]

/** Outlines of the world's land, from this server. Loads a coarse outline first, and finer outlines on zooming in. */
export function createCoastlines(view: View): VectorSource {
  const source = new VectorSource({
    attributions: 'Coastlines: Natural Earth, up to a few km off',
    wrapX: true,
  })
  let asked = -1
  let shown = -1

  async function load(place: number, { url }: Level): Promise<void> {
    asked = place
    const response = await fetch(url).catch(() => undefined)
    if (!response?.ok) {
      // Not reported: the track is readable without a coast, and the next zoom tries again.
      if (asked === place) asked = shown
      return
    }
    const land = landOf(unpackLand(await response.json()))
    // A finer coastline may have arrived before this one.
    if (place <= shown) return
    shown = place
    source.clear(true)
    source.addFeatures(land)
  }

  function loadWhatIsWanted(): void {
    const zoom = view.getZoom() ?? 0
    const place = levels.findLastIndex(({ from }) => zoom >= from)
    const level = levels[place]
    if (level && place > asked) void load(place, level)
  }
  view.on('change:resolution', loadWhatIsWanted)
  void load(0, levels[0])
  loadWhatIsWanted()
  return source
}

/** Makes a feature of each island and continent, because only features in view are drawn. */
function landOf(topology: object): Feature<Polygon>[] {
  return new TopoJSON().readFeatures(topology).flatMap(feature => {
    const geometry = feature.getGeometry()
    if (!(geometry instanceof MultiPolygon)) return []
    return onPlane(geometry.getCoordinates() as unknown as Ring[][]).map(rings => {
      const polygon = new Polygon(rings as unknown as number[][][])
      polygon.transform('EPSG:4326', 'EPSG:3857')
      return new Feature(polygon)
    })
  })
}
