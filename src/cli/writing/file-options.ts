import { fixedZoneOf, timeZoneOf } from '../../core/time/time-zone.ts'
import { usageError } from '../exit.ts'
import type { FileOptions } from '../records/columns.ts'
import { heldBy, timeUnitOf } from '../records/times.ts'
import type { Flags } from './flags.ts'

export type Format = 'csv' | 'ndjson'

/** The format of a file: given by `--format`, else by the file name. @throws CommandError usage */
export function formatOf(file: string, { format }: Flags): Format {
  if (format === undefined) return /\.(csv|tsv|tab)$/i.test(file) ? 'csv' : 'ndjson'
  if (format === 'csv' || format === 'ndjson') return format
  throw usageError('--format must be ndjson or csv')
}

/**
 * Parses the options about the columns and cells of a file.
 *
 * @param file path of the file, or `-` for stdin, which may deliver its lines over a long time
 * @throws CommandError usage
 */
export async function fileOptions(flags: Flags, file?: string): Promise<FileOptions> {
  const { key, timeColumn, tz, date, now, geoColumns, decimal } = flags
  if (date !== undefined && heldBy(date) !== 'day')
    throw usageError('--date must be a day such as 2026-11-21')
  const timeUnit = flags.timeUnit === undefined ? undefined : timeUnitOf(flags.timeUnit)
  if (flags.timeUnit !== undefined && !timeUnit) {
    throw usageError(
      '--time-unit must be s, ms, us or ns (Unix time), or 1h, 30m, 1m or hhmm (time of the day in a column date)',
    )
  }
  if (tz !== undefined && /^etc\/(?:gmt|utc)[+-]/i.test(tz))
    throw usageError(`--tz ${tz} has its sign the other way round: write an offset such as +02:00`)
  const clocks = tz === undefined ? undefined : (fixedZoneOf(tz) ?? (await timeZoneOf(tz)))
  if (tz !== undefined && !clocks)
    throw usageError(
      `--tz must be a time zone such as Europe/Berlin, or an offset such as +02:00, but it is ${tz}`,
    )
  if (decimal !== undefined && decimal !== ',' && decimal !== '.')
    throw usageError('--decimal must be , or .')
  return {
    key,
    timeColumn,
    timeUnit,
    zone: tz !== undefined && clocks ? { name: tz, clocks } : undefined,
    date,
    now: now && (file === '-' ? 'each' : 'once'),
    decimal,
    geoColumns: geoColumns === undefined ? undefined : pairOf(geoColumns),
  }
}

function pairOf(text: string): readonly [string, string] {
  const [lat, long, ...others] = text.split(',').map(name => name.trim())
  if (lat && long && others.length === 0) return [lat, long]
  throw usageError('--geo-columns must be two names, latitude first, such as y,x')
}
