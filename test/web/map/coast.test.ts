import { readFile } from 'node:fs/promises'
import TopoJSON from 'ol/format/TopoJSON.js'
import MultiPolygon from 'ol/geom/MultiPolygon.js'
import { expect, test } from 'vitest'
import { readVoyage } from '../../../src/cli/demo/voyage.ts'
import { packLand, unpackLand } from '../../../web/src/map/packed-land.ts'

/** How much of the demo's voyage lies on land, 0 to 1. */
async function shareOnLand(name: string): Promise<number> {
  const file = new URL(import.meta.resolve(`world-atlas/${name}.json`))
  const features = new TopoJSON().readFeatures(JSON.parse(await readFile(file, 'utf8')))
  const lands = features.map(feature => feature.getGeometry()).filter(land => land instanceof MultiPolygon)
  const records = (await readVoyage(new Date())).flatMap(row => row.records)
  const places = records.filter(({ key }) => key === '$geo').map(({ geo }) => [geo.long, geo.lat])
  const onLand = places.filter(place => lands.some(land => land.intersectsCoordinate(place)))
  expect(places.length).toBeGreaterThan(1_000)
  return onLand.length / places.length
}

test.each(['land-110m', 'land-50m', 'land-10m'])(
  '%s comes out of its packed form as it went in',
  async name => {
    const file = new URL(import.meta.resolve(`world-atlas/${name}.json`))
    const land = JSON.parse(await readFile(file, 'utf8'))
    const packed = JSON.parse(JSON.stringify(packLand(land)))
    expect(unpackLand(packed)).toEqual(land)
    expect(unpackLand(land)).toEqual(land)
  },
)

test('the voyage of the demo is at sea on the coastline that is drawn when someone looks closely', async () => {
  expect(await shareOnLand('land-10m')).toBeLessThan(0.1)
  expect(await shareOnLand('land-50m')).toBeGreaterThan(0.5)
})
