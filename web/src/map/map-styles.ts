import CircleStyle from 'ol/style/Circle.js'
import Fill from 'ol/style/Fill.js'
import Stroke from 'ol/style/Stroke.js'
import Style from 'ol/style/Style.js'
import Text from 'ol/style/Text.js'

/** What a map draws, in the colours that map.css gives to its element: a canvas inherits none. */
export interface MapStyles {
  readonly land: Style
  readonly track: readonly Style[]
  readonly place: (name: string) => Style
  readonly grid: Stroke
  /** Of the degrees at the ends of the lines of the grid. */
  readonly longitude: Text
  readonly latitude: Text
}

/** Characters of a name on a map: half of the width of a phone. */
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
    // A name gives way to others, and a marker does not: nothing else shows where its thing is.
    declutterMode: 'obstacle',
  })
  return {
    land: new Style({
      fill: new Fill({ color: color('land') }),
      stroke: new Stroke({ color: color('coast'), width: 1 }),
    }),
    // A line with a rim is seen on any background.
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
