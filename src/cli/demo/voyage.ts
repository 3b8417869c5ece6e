import { readFile } from 'node:fs/promises'
import { promisify } from 'node:util'
import { brotliDecompress } from 'node:zlib'
import { packageRoot } from '../../server/version.ts'

/** A record as a device would send it. */
export interface VoyageRecord {
  readonly key: string
  /** null if the measurement is only a position, as from a GPS device. */
  readonly value: number | null
  readonly geo: { readonly lat: number; readonly long: number }
  /** `YYYYMMDDHHmmssSSS`, UTC. */
  readonly datetime: string
}

export interface Row {
  /** Milliseconds since 1970. */
  readonly measuredAt: number
  /** A record for the position, and one for each non-empty cell. */
  readonly records: readonly VoyageRecord[]
}

/** The key of the magic resource whose newest position is the position of the thing. */
export const positionKey = '$geo'

const file = new URL('examples/voyage/voyage.csv', packageRoot)
/** The published package contains the voyage only in this form. */
const packedFile = new URL('dist/cli/voyage.csv.br', packageRoot)

/** Reads the rows of examples/voyage in their order, as if the last row had been measured at `end`. */
export async function readVoyage(end: Date): Promise<readonly Row[]> {
  return await read((second, { last }) => end.getTime() - (last - second) * 1000)
}

/**
 * Like `readVoyage`, but `sailed` milliseconds of the voyage are over at `now`. The rest runs `speed` times as fast as in reality.
 */
export async function readVoyageUnderWay(now: Date, sailed: number, speed: number): Promise<readonly Row[]> {
  return await read((second, { first }) => {
    const away = (second - first) * 1000 - sailed
    return Math.round(now.getTime() + (away > 0 ? away / speed : away))
  })
}

/** @param dateOf converts a second of the recorded day to a time in milliseconds since 1970 */
async function read(
  dateOf: (second: number, voyage: { readonly first: number; readonly last: number }) => number,
): Promise<readonly Row[]> {
  const [header = '', ...lines] = (await voyageText()).trimEnd().split(/\r?\n/)
  const keys = header.split(',').slice(3)
  const cells = lines.map(line => line.split(','))
  const ends = { first: secondOfDay(cells[0]?.[0]), last: secondOfDay(cells.at(-1)?.[0]) }
  return cells.map(([time, lat, long, ...values]) => {
    const measuredAt = dateOf(secondOfDay(time), ends)
    const datetime = datetimeAt(measuredAt)
    const geo = { lat: Number(lat), long: Number(long) }
    const readings = keys.flatMap((key, column) => {
      const value = values[column]
      return value === undefined || value === '' ? [] : [{ key, value: Number(value), geo, datetime }]
    })
    return { measuredAt, records: [{ key: positionKey, value: null, geo, datetime }, ...readings] }
  })
}

async function voyageText(): Promise<string> {
  try {
    return await readFile(file, 'utf8')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
    return String(await promisify(brotliDecompress)(await readFile(packedFile)))
  }
}

/** A time in the form `YYYYMMDDHHmmssSSS`, UTC. */
export function datetimeAt(milliseconds: number): string {
  return new Date(milliseconds).toISOString().replace(/\D/g, '')
}

/** @param time `HHMMSS` */
function secondOfDay(time = '000000'): number {
  const [hours, minutes, seconds] = [time.slice(0, 2), time.slice(2, 4), time.slice(4, 6)].map(Number)
  return ((hours ?? 0) * 60 + (minutes ?? 0)) * 60 + (seconds ?? 0)
}
