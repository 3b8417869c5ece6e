import { datetimeAt, positionKey, type Row } from './voyage.ts'

/** An instrument on board. Each instrument is a separate thing. */
export interface Instrument {
  readonly name: string
  /** Keys of the resources that the instrument writes. Most are names of columns of voyage.csv. */
  readonly keys: readonly string[]
  readonly door: 'HTTP' | 'MQTT'
  /** Number of rows of the voyage that make up one measurement. */
  readonly rowsEach: number
  /** Whether its records have a position. */
  readonly hasGps: boolean
}

export const instruments: readonly Instrument[] = [
  {
    name: 'boat',
    keys: [positionKey, 'speed_kn', 'course_deg', 'water_speed_kn'],
    door: 'MQTT',
    rowsEach: 1,
    hasGps: true,
  },
  { name: 'echo sounder', keys: ['depth_m'], door: 'HTTP', rowsEach: 1, hasGps: false },
  // The recording has wind values only in every other row.
  { name: 'wind', keys: ['wind_speed_kn', 'wind_angle_deg'], door: 'MQTT', rowsEach: 2, hasGps: false },
]

export interface InstrumentRecord {
  readonly key: string
  readonly value: number | null
  readonly geo?: { readonly lat: number; readonly long: number }
  /** `YYYYMMDDHHmmssSSS`, UTC. */
  readonly datetime: string
}

/** One write of an instrument. */
export interface Measurement {
  /** Milliseconds since 1970. */
  readonly measuredAt: number
  readonly records: readonly InstrumentRecord[]
  /** Set if the instrument gave no value this time. Its program nevertheless sends null, and the server refuses the write. */
  readonly isRefused: boolean
}

/** All measurements of an instrument in these rows, oldest first. */
export function measurementsOf(instrument: Instrument, rows: readonly Row[]): readonly Measurement[] {
  return chunks(rows, instrument.rowsEach).map(those => {
    const records = those.flatMap(row => recordsOf(instrument, row))
    const measuredAt = those.at(-1)?.measuredAt ?? 0
    if (records.length > 0) return { measuredAt, records, isRefused: false }
    const datetime = datetimeAt(measuredAt)
    const nulls = instrument.keys.map(key => ({ key, value: null, datetime }))
    return { measuredAt, records: nulls, isRefused: true }
  })
}

/** Joins up to `most` measurements into one write, as a device does after it was offline. A refused measurement stays separate. */
export function inBatches(measurements: readonly Measurement[], most: number): readonly Measurement[] {
  const batches: Measurement[] = []
  let sizeOfLast = 0
  for (const measurement of measurements) {
    const last = batches.at(-1)
    if (!last || sizeOfLast === most || last.isRefused || measurement.isRefused) {
      batches.push(measurement)
      sizeOfLast = 1
      continue
    }
    batches[batches.length - 1] = { ...measurement, records: [...last.records, ...measurement.records] }
    sizeOfLast++
  }
  return batches
}

function recordsOf({ keys, hasGps }: Instrument, { records }: Row): InstrumentRecord[] {
  const own = records.filter(({ key }) => keys.includes(key))
  return hasGps ? own : own.map(({ key, value, datetime }) => ({ key, value, datetime }))
}

function chunks<Item>(items: readonly Item[], size: number): Item[][] {
  return Array.from({ length: Math.ceil(items.length / size) }, (_, at) =>
    items.slice(at * size, (at + 1) * size),
  )
}
