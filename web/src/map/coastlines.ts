import TopoJSON from 'ol/format/TopoJSON.js'
import MultiPolygon from 'ol/geom/MultiPolygon.js'
import VectorSource from 'ol/source/Vector.js'
import type View from 'ol/View.js'
import fineLand from 'world-atlas/land-50m.json?url'
import coarseLand from 'world-atlas/land-110m.json?url'
import { onPlane, type Ring } from './rings.ts'

/** Zoom level from which the coarse coastline looks wrong. */
const fineFrom = 3.5

/**
 * The world's land in outline, from this server: a coarse one at once, a fine one (eight times the bytes) when someone
 * looks closer (1:50 million: 1:10 million would be larger than the rest of the page).
 */
export function createCoastlines(view: View): VectorSource {
  const source = new VectorSource({
    attributions: 'Coastlines: Natural Earth, a few km off',
    wrapX: true,
  })
  let asked: string | undefined

  async function load(url: string): Promise<void> {
    asked = url
    const response = await fetch(url).catch(() => undefined)
    if (!response?.ok) {
      // The track is readable without a coast; the next zoom asks again.
      if (asked === url) asked = undefined
      return
    }
    const features = new TopoJSON().readFeatures(await response.json())
    for (const feature of features) feature.setGeometry(landOf(feature.getGeometry()))
    if (asked !== url) return
    source.clear(true)
    source.addFeatures(features)
  }

  function loadWhatIsWanted(): void {
    if (asked === fineLand) return
    const wanted = (view.getZoom() ?? 0) >= fineFrom ? fineLand : coarseLand
    if (asked !== wanted) void load(wanted)
  }
  view.on('change:resolution', loadWhatIsWanted)
  loadWhatIsWanted()
  return source
}

function landOf(geometry: unknown): MultiPolygon | undefined {
  if (!(geometry instanceof MultiPolygon)) return undefined
  const land = new MultiPolygon(
    onPlane(geometry.getCoordinates() as unknown as Ring[][]) as unknown as number[][][][],
  )
  land.transform('EPSG:4326', 'EPSG:3857')
  return land
}
