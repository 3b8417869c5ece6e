/** What `fill.ts` puts into a store, and the test of the formats reads of it. */

export interface Reading {
  readonly key: string
  readonly value: unknown
  readonly datetime: string
  readonly geo?: { readonly lat: number; readonly long: number }
}

/** How much a build of some age can be given: `things` alone; persistent `sessions`, too; messages on other `topics`, too. */
export type Extent = 'things' | 'sessions' | 'topics'

const second = 1_000
const morning = Date.UTC(2026, 0, 5)

function at(seconds: number): string {
  return new Date(morning + seconds * second).toISOString()
}

/** A whole day and a part of the next: what lies before the newest 256 is packed, and the day has a summary, where a build has them. */
export const temperatures: readonly Reading[] = Array.from({ length: 4_000 }, (_, index) => ({
  key: 'temperature',
  value: Math.round(200 + 50 * Math.sin(index / 200)) / 10,
  datetime: at(30 * index),
}))

/** In Redis, which packs nothing. */
export const fewTemperatures = temperatures.slice(0, 400)

/** One write each. The last three are late ones. */
export const depths: readonly Reading[] = [
  ...Array.from({ length: 30 }, (_, index) => 60 * index),
  90,
  930,
  1,
].map((seconds, index) => ({
  ...{ key: 'depth', value: index / 4, datetime: at(seconds) },
  geo: { lat: 41.41 + index / 1_000, long: 2.22 },
}))

export const notes: readonly Reading[] = ['a text', { speed: [1, 2.5, null], isOn: true }, true, -1e-7].map(
  (value, index) => ({ key: 'note', value, datetime: at(index) }),
)

/** More than 256 at one time. */
export const crowd: readonly Reading[] = Array.from({ length: 300 }, (_, index) => ({
  ...{ key: 'event', value: index, datetime: at(0) },
}))

/** Removed again. */
export const gone: readonly Reading[] = [{ key: 'gone', value: 1, datetime: at(0) }]

export const settings = { interval: 5, name: 'boat' }
export const place = { type: 'Point', coordinates: [2.22, 41.41] }

/** Published at QoS 2 under `inFlightId`, and not released. */
export const inFlight = { values: [{ key: 'level', value: 7 }] }
export const inFlightId = 7
export const will = { values: [{ key: 'will', value: 1, datetime: at(0) }] }

/** Written while the client `watcher`, which subscribes to them, was away. */
export const missed: readonly Reading[] = [1, 2, 3].map(value => ({
  ...{ key: 'missed', value, datetime: at(value) },
}))

/** Published while the client `hub` was away; it was then sent the first, and did not acknowledge it. */
export const queued = [
  { topic: 'tele/plug/STATE', payload: '{"POWER":"ON"}', qos: 1 },
  { topic: 'tele/plug/SENSOR', payload: '{"ENERGY":{"Power":5}}', qos: 2 },
  { topic: 'tele/plug/STATE', payload: '{"POWER":"OFF"}', qos: 1 },
] as const

export const retained = [
  { topic: 'tele/plug/LWT', payload: 'Online', qos: 1 },
  { topic: 'tele/lamp/LWT', payload: 'Offline', qos: 0 },
] as const
