import CircleStyle from 'ol/style/Circle.js'
import Fill from 'ol/style/Fill.js'
import Stroke from 'ol/style/Stroke.js'
import Style from 'ol/style/Style.js'
import Text from 'ol/style/Text.js'

/** Styles with the colours that map.css sets on the map's element. A canvas does not inherit colours. */
export interface MapStyles {
  readonly land: Style
  readonly track: readonly Style[]
  readonly place: (name: string) => Style
  readonly grid: Stroke
  /** Style of the degrees at the ends of the grid lines. */
  readonly longitude: Text
  readonly latitude: Text
}

/** Maximum number of characters of a name on a map: about half the width of a phone. */
const longestName = 24

function shortened(name: string): string {
  const characters = [...name]
  return characters.length <= longestName ? name : `${characters.slice(0, longestName - 1).join('')}…`
}

function dot(color: string, radius: number): CircleStyle {
  return new CircleStyle({ radius, fill: new Fill({ color }) })
}

export function readMapStyles(element: HTMLElement): MapStyles {
  const computed = getComputedStyle(element)
  const color = (name: string) => computed.getPropertyValue(`--map-${name}`).trim()
  const gridText = {
    font: `11px ${computed.fontFamily}`,
    fill: new Fill({ color: color('text') }),
    stroke: new Stroke({ color: color('halo'), width: 3 }),
  }
  const halo = new Stroke({ color: color('halo'), width: 4 })
  const marker = new CircleStyle({
    radius: 7,
    fill: new Fill({ color: color('marker') }),
    stroke: new Stroke({ color: color('halo'), width: 2 }),
    // Names are hidden if they overlap. A marker is always shown, because only the marker shows where the thing is.
    declutterMode: 'obstacle',
  })
  return {
    land: new Style({
      fill: new Fill({ color: color('land') }),
      stroke: new Stroke({ color: color('coast'), width: 1 }),
    }),
    // A line with a border is visible on any background.
    track: [
      new Style({ stroke: new Stroke({ color: color('halo'), width: 6 }), image: dot(color('halo'), 5) }),
      new Style({ stroke: new Stroke({ color: color('track'), width: 3 }), image: dot(color('track'), 3) }),
    ],
    grid: new Stroke({ color: color('grid'), width: 1 }),
    longitude: new Text({ ...gridText, textBaseline: 'bottom', offsetY: -4 }),
    latitude: new Text({ ...gridText, textAlign: 'end', offsetX: -4 }),
    place: name =>
      new Style({
        image: marker,
        text: new Text({
          text: shortened(name),
          font: `600 13px ${computed.fontFamily}`,
          offsetY: -17,
          fill: new Fill({ color: color('text') }),
          stroke: halo,
        }),
      }),
  }
}
