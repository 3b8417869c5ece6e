import { defaults as defaultControls } from 'ol/control/defaults.js'
import ScaleLine from 'ol/control/ScaleLine.js'
import { createEmpty, extend, getHeight, getWidth, isEmpty } from 'ol/extent.js'
import Feature from 'ol/Feature.js'
import MultiLineString from 'ol/geom/MultiLineString.js'
import MultiPoint from 'ol/geom/MultiPoint.js'
import Point from 'ol/geom/Point.js'
import { defaults as defaultInteractions } from 'ol/interaction/defaults.js'
import Graticule from 'ol/layer/Graticule.js'
import TileLayer from 'ol/layer/Tile.js'
import VectorLayer from 'ol/layer/Vector.js'
import OlMap from 'ol/Map.js'
import { fromLonLat, get as projectionOf } from 'ol/proj.js'
import VectorSource from 'ol/source/Vector.js'
import XYZ from 'ol/source/XYZ.js'
import View from 'ol/View.js'
import { closestZoom } from './closest.ts'
import { createCoastlines } from './coastlines.ts'
import { type MapStyles, readMapStyles } from './map-styles.ts'
import { gathered, type Place, type Position, unwrappedParts } from './place.ts'
import type { Tiles } from './tiles.ts'

/** Pixels around the shown area, so that the names above places fit. */
const padding = [48, 40, 40, 40]

/** Width of the projection, metres. The height is the same. */
const worldWidth = getWidth(projectionOf('EPSG:3857')?.getExtent() ?? createEmpty())

/** A map of the world with a track and places. Shows the whole track and all places until the user moves the map. */
export class WorldMap {
  readonly #map: OlMap
  readonly #view = new View({
    center: [0, 2_000_000],
    zoom: 1,
    minZoom: 0,
    maxZoom: 19,
    enableRotation: false,
    // With a single world, a wide map could not show places from pole to pole, nor a whole marker at its edge.
    multiWorld: true,
    extent: [Number.NEGATIVE_INFINITY, -worldWidth / 2, Number.POSITIVE_INFINITY, worldWidth / 2],
    constrainOnlyCenter: true,
  })
  readonly #element: HTMLElement
  readonly #land = new VectorLayer({ source: createCoastlines(this.#view), updateWhileInteracting: true })
  readonly #tiles = new TileLayer<XYZ>({ visible: false })
  readonly #track = new MultiLineString([])
  /** Positions between two gaps. They are drawn as points, because no line goes through them. */
  readonly #lonePositions = new MultiPoint([])
  readonly #trackLayer = new VectorLayer({
    source: new VectorSource({ features: [new Feature(this.#track), new Feature(this.#lonePositions)] }),
  })
  readonly #placeSource = new VectorSource<Feature<Point>>()
  readonly #placeLayer = new VectorLayer({ source: this.#placeSource, declutter: true })
  readonly #darkness = matchMedia('(prefers-color-scheme: dark)')
  /** Lines of latitude and longitude, so that the map is not empty where there is no coast. */
  #grid: Graticule | undefined
  /** Longitudes of the unwrapped track. */
  #longs: readonly number[] = []
  #places: readonly Place[] = []
  #isMoved = false

  /** @param onPick called with the id of a clicked place */
  constructor(element: HTMLElement, onPick?: (id: string) => void) {
    this.#element = element
    // The map must be focusable, because it handles the arrow keys.
    element.tabIndex = 0
    this.#map = new OlMap({
      target: element,
      view: this.#view,
      layers: [this.#tiles, this.#land, this.#trackLayer, this.#placeLayer],
      controls: defaultControls({ rotate: false, attributionOptions: { collapsible: false } }).extend([
        new ScaleLine(),
      ]),
      // `onFocusOnly`: otherwise, scrolling the page would stop at the map and zoom it.
      interactions: defaultInteractions({ onFocusOnly: true, altShiftDragRotate: false, pinchRotate: false }),
    })
    // Until there are places, the map shows the world once.
    this.#view.setResolution(Math.min(this.#view.getResolutionForZoom(1), worldWidth / element.clientWidth))
    // Ignores events without the focus, which scroll the page, and the Tab key, which leaves the map.
    for (const name of ['click', 'pointerdown', 'wheel', 'keydown'] as const) {
      element.addEventListener(name, event => {
        const isTab = event instanceof KeyboardEvent && event.key === 'Tab'
        if (!isTab && element.contains(document.activeElement)) this.#isMoved = true
      })
    }
    if (onPick) this.#pick(onPick)
    this.#paint()
    this.#darkness.addEventListener('change', this.#paint)
  }

  /** @param track parts of the track, oldest first; no line joins two parts */
  showTrack(track: readonly (readonly Position[])[]): void {
    const unwrapped = unwrappedParts(track)
    this.#longs = unwrapped.flat().map(({ long }) => long)
    const parts = unwrapped.map(part => part.map(project))
    this.#track.setCoordinates(parts.filter(part => part.length > 1))
    this.#lonePositions.setCoordinates(parts.flatMap(part => (part.length === 1 ? part : [])))
    this.showPlaces(this.#places)
  }

  showPlaces(places: readonly Place[]): void {
    this.#places = places
    const positions = gathered(
      this.#longs,
      places.map(({ position }) => position),
    )
    this.#placeSource.clear(true)
    this.#placeSource.addFeatures(
      places.map(({ id, name, position }, at) => {
        const feature = new Feature({ geometry: new Point(project(positions[at] ?? position)), name })
        feature.setId(id)
        return feature
      }),
    )
    this.#fitUnlessMoved()
  }

  /** @param tiles undefined for only coastlines */
  showTiles(tiles: Tiles | undefined): void {
    this.#tiles.setSource(
      tiles ? new XYZ({ url: tiles.url, attributions: escapeHtml(tiles.attribution) }) : null,
    )
    this.#tiles.setVisible(tiles !== undefined)
    this.#land.setVisible(tiles === undefined)
    this.#grid?.setVisible(tiles === undefined)
    this.#fitUnlessMoved()
  }

  /** Shows the whole track and all places, from now on. */
  showAll(): void {
    this.#isMoved = false
    this.#fitUnlessMoved()
  }

  close(): void {
    this.#darkness.removeEventListener('change', this.#paint)
    this.#map.setTarget(undefined)
    this.#map.dispose()
  }

  readonly #paint = (): void => {
    const { land, track, place, ...ofGrid } = readMapStyles(this.#element)
    this.#showGrid(ofGrid)
    this.#land.setStyle(land)
    this.#trackLayer.setStyle([...track])
    this.#placeLayer.setStyle(feature => place(String(feature.get('name'))))
  }

  #fitUnlessMoved(): void {
    if (this.#isMoved) return
    const extent = extend(this.#placeSource.getExtent() ?? createEmpty(), this.#track.getExtent())
    extend(extent, this.#lonePositions.getExtent())
    if (isEmpty(extent)) return
    const maxZoom = closestZoom({
      hasTrack: this.#longs.length > 0,
      width: getWidth(extent),
      height: getHeight(extent),
      hasTiles: this.#tiles.getVisible(),
    })
    this.#view.fit(extent, { padding, maxZoom })
  }

  /** Replaces the grid, because the colours of a grid cannot be changed. */
  #showGrid({
    grid: strokeStyle,
    longitude,
    latitude,
  }: Pick<MapStyles, 'grid' | 'longitude' | 'latitude'>): void {
    const grid = new Graticule({
      strokeStyle,
      showLabels: true,
      wrapX: true,
      lonLabelStyle: longitude,
      latLabelStyle: latitude,
      visible: !this.#tiles.getVisible(),
    })
    if (this.#grid) this.#map.removeLayer(this.#grid)
    this.#map.getLayers().insertAt(2, grid)
    this.#grid = grid
  }

  #pick(onPick: (id: string) => void): void {
    this.#map.on('click', event => {
      const id = this.#map.forEachFeatureAtPixel(event.pixel, feature => feature.getId(), {
        layerFilter: layer => layer === this.#placeLayer,
        hitTolerance: 6,
      })
      if (typeof id === 'string') onPick(id)
    })
  }
}

/** The greatest latitude on the map, degrees. A thing nearer to a pole is shown at the edge of the map. */
const farthest = 85

function project({ lat, long }: Position): number[] {
  return fromLonLat([long, Math.max(-farthest, Math.min(farthest, lat))])
}

function escapeHtml(text: string): string {
  return text.replace(/[&<>"]/g, character => `&#${character.charCodeAt(0)};`)
}
