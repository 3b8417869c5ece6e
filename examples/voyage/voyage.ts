import { readFile } from 'node:fs/promises'

/** A record as a device would send it. */
export interface VoyageRecord {
  readonly key: string
  /** null: the position itself is what was measured, as a GPS device says it. */
  readonly value: number | null
  readonly geo: { readonly lat: number; readonly long: number }
  /** `YYYYMMDDHHmmss`, UTC. */
  readonly datetime: string
}

export interface Voyage {
  /** The position and the non-empty cells of every row, in the order of the file. */
  readonly rows: readonly (readonly VoyageRecord[])[]
  /** The same without the rows. */
  readonly records: readonly VoyageRecord[]
  /** The same, by resource. */
  readonly resources: ReadonlyMap<string, readonly VoyageRecord[]>
}

/** The magic resource of which the newest position becomes the thing's. */
export const positionKey = '$geo'

const file = new URL('voyage.csv', import.meta.url)

/**
 * Reads the voyage beside this file.
 *
 * @param end when its last row shall have been measured
 */
export async function readVoyage(end: Date): Promise<Voyage> {
  const [header = '', ...lines] = (await readFile(file, 'utf8')).trimEnd().split(/\r?\n/)
  const keys = header.split(',').slice(3)
  const cells = lines.map(line => line.split(','))
  const lastSecond = secondOfDay(cells.at(-1)?.[0])
  const rows = cells.map(([time, lat, long, ...values]) => {
    const measuredAt = new Date(end.getTime() - (lastSecond - secondOfDay(time)) * 1000)
    const datetime = measuredAt.toISOString().replace(/[-:T]|\..*/g, '')
    const geo = { lat: Number(lat), long: Number(long) }
    const readings = keys.flatMap((key, column) => {
      const value = values[column]
      return value === undefined || value === '' ? [] : [{ key, value: Number(value), geo, datetime }]
    })
    return [{ key: positionKey, value: null, geo, datetime }, ...readings]
  })
  const records = rows.flat()
  const resources = new Map(
    [positionKey, ...keys].map(key => [key, records.filter(record => record.key === key)]),
  )
  return { rows, records, resources }
}

/** @param time `HHMMSS` */
function secondOfDay(time = '000000'): number {
  const [hours, minutes, seconds] = [time.slice(0, 2), time.slice(2, 4), time.slice(4, 6)].map(Number)
  return ((hours ?? 0) * 60 + (minutes ?? 0)) * 60 + (seconds ?? 0)
}
