import { usageError } from '../exit.ts'
import type { FileOptions } from '../records/csv.ts'
import { isDate, isTimeUnit, timeUnits } from '../records/row-times.ts'
import type { Flags } from './flags.ts'

export type Format = 'csv' | 'ndjson'

/** How a file is written: as `--format` says, else by its name. @throws CommandError usage */
export function formatOf(file: string, { format }: Flags): Format {
  if (format === undefined) return /\.(csv|tsv|tab)$/i.test(file) ? 'csv' : 'ndjson'
  if (format === 'csv' || format === 'ndjson') return format
  throw usageError('--format must be ndjson or csv')
}

/** What the command line says of the columns and cells of a file. @throws CommandError usage */
export function fileOptions(flags: Flags): FileOptions {
  const { key, timeColumn, timeUnit, date, now, geoColumns, decimal } = flags
  if (date !== undefined && !isDate(date)) throw usageError('--date must be a day such as 2026-11-21')
  if (timeUnit !== undefined && !isTimeUnit(timeUnit)) {
    throw usageError(`--time-unit must be one of ${Object.keys(timeUnits).join(', ')}`)
  }
  if (decimal !== undefined && decimal !== ',' && decimal !== '.')
    throw usageError('--decimal must be , or .')
  return {
    key,
    timeColumn,
    timeUnit,
    date,
    now,
    decimal,
    geoColumns: geoColumns === undefined ? undefined : pairOf(geoColumns),
  }
}

function pairOf(text: string): readonly [string, string] {
  const [lat, long, ...others] = text.split(',').map(name => name.trim())
  if (lat && long && others.length === 0) return [lat, long]
  throw usageError('--geo-columns must be two names, latitude first, such as y,x')
}
