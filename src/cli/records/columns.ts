import { isMagicKey, isOrdinaryKey } from '../../core/record/key.ts'
import { usageError } from '../exit.ts'
import { isSameName, keyLike, type Meaning, meaningOf } from './column-names.ts'
import { type TimeUnit, withoutZone, zoneIn } from './times.ts'

/** What the command line says of the columns of a file. */
export interface ColumnOptions {
  /** Of every record, where the file has no column of keys. */
  readonly key?: string | undefined
  /** Names of columns. */
  readonly timeColumn?: string | undefined
  readonly timeUnit?: TimeUnit | undefined
  readonly geoColumns?: readonly [lat: string, long: string] | undefined
  /** Whether records without a time get that of their receipt. */
  readonly now?: boolean | undefined
}

/** Where in a row is what. */
export interface Columns {
  readonly time: number | undefined
  /** Days of what are only times of day in `time`. */
  readonly date: number | undefined
  readonly geo: readonly [lat: number, long: number] | undefined
  /** `key`: one record a row; `columns`: one for each of these columns that is not empty. */
  readonly values:
    | { readonly kind: 'key'; readonly key: number | string; readonly value: number }
    | { readonly kind: 'columns'; readonly columns: readonly number[] }
  /** Of the result of a database query: the number of the series that the row is of. */
  readonly series: number | undefined
  /** What says that times without a zone are not UTC. */
  readonly zone: string | undefined
  readonly leftOut: readonly number[]
  readonly names: readonly string[]
}

/** Columns that say of which zone the times beside them are. */
const zoneColumns = ['tz', 'timezone', 'utc offset', 'gmt offset']

/** What a database says of a result itself, beside `_time`, `_value` and `_field`. */
const ofQueryResult = /^(?:_(?!time$|value$|field$).*|result|table)$/

/**
 * Decides what each column is: by the options, else by its name (`meaningOf`). Two columns that could both be the time, or
 * another of these, are for the user to choose from.
 *
 * @param isRecord whether a row is one record with a key and a value, as a line of JSON is
 * @throws CommandError usage
 */
export function columnsOf(names: readonly string[], options: ColumnOptions, isRecord = false): Columns {
  refuseTwice(names)
  const isQueryResult = names.includes('_time')
  const isOwn = names.map(name => isQueryResult && ofQueryResult.test(name))
  const meanings = names.map((name, column) => (isOwn[column] ? undefined : meaningOf(withoutZone(name))))
  const called = (meaning: Meaning) =>
    names.flatMap((_, column) => (meanings[column] === meaning ? [column] : []))
  const values = valueColumns(names, called, options)
  if (!values && isRecord) throw usageError(noRecord(names))
  const { time, date } = timeColumns(names, called, options)
  const geo = geoColumns(names, called, options)
  const taken = new Set([time, date, ...(geo ?? []), ...(values ? [values.key, values.value] : [])])
  const isLeft = (column: number) =>
    isOwn[column] === true ||
    names[column] === '' ||
    meanings[column] === 'time' ||
    meanings[column] === 'date'
  const others = names.flatMap((_, column) => (taken.has(column) ? [] : [column]))
  const keys = values ? [] : others.filter(column => !isLeft(column))
  if (!values && keys.length === 0 && geo === undefined) throw usageError('there is no column of values')
  refuseBadKeys(keys.map(column => names[column] ?? ''))
  return {
    ...{ time, date, geo, names },
    values: values ?? { kind: 'columns', columns: keys },
    zone:
      zoneIn(names[time ?? -1] ?? '') ?? names.find(name => zoneColumns.some(own => isSameName(name, own))),
    series: isQueryResult ? indexIn(names, 'table') : undefined,
    leftOut: others.filter(column => !keys.includes(column)),
  }
}

type Called = (meaning: Meaning) => readonly number[]

function timeColumns(names: readonly string[], called: Called, { timeColumn, timeUnit, now }: ColumnOptions) {
  const how = 'name it with --time-column'
  const theDay = { own: 'date', what: 'the day', how: 'give the other one another name' }
  const time =
    timeColumn === undefined
      ? only(names, called('time'), { own: 'datetime', what: 'the time', how })
      : columnCalled(names, timeColumn, '--time-column')
  const days = called('date').filter(day => day !== time)
  if (time !== undefined) return { time, date: only(names, days, theDay) }
  const day = only(names, days, { own: 'date', what: 'the time', how })
  if (day === undefined && !now) throw usageError(noTime(names))
  if (timeUnit?.isOfDay) {
    throw usageError(
      `--time-unit ${timeUnit.name} needs the column of the time of day: name it with --time-column`,
    )
  }
  return { time: day, date: undefined }
}

function noTime(names: readonly string[]): string {
  const which = names
    .filter(name => name !== '')
    .map(shownName)
    .join(', ')
  return `none of ${which} is called like a time: name the column with --time-column, or give the records the time of their receipt with --now`
}

function geoColumns(
  names: readonly string[],
  called: Called,
  { geoColumns: given }: ColumnOptions,
): Columns['geo'] {
  if (given) {
    const [lat, long] = given
    return [columnCalled(names, lat, '--geo-columns'), columnCalled(names, long, '--geo-columns')]
  }
  const how = 'name both with --geo-columns <lat,long>'
  const lat = only(names, called('lat'), { own: 'lat', what: 'the latitude', how })
  const long = only(names, called('long'), { own: 'long', what: 'the longitude', how })
  if (lat === undefined && long === undefined) return undefined
  if (lat !== undefined && long !== undefined) return [lat, long]
  const there = shownName(names[lat ?? long ?? 0] ?? '')
  const [missing, taken] =
    lat === undefined ? ['latitude', 'lat or latitude'] : ['longitude', 'long, lon, lng or longitude']
  throw usageError(`there is a column ${there} but none of the ${missing}: call it ${taken}, or ${how}`)
}

/** undefined: each column is a key of its own. */
function valueColumns(names: readonly string[], called: Called, { key: given }: ColumnOptions) {
  const keys = called('key')
  const candidates = called('value')
  const isLong =
    given !== undefined ||
    keys.length > 0 ||
    candidates.some(column => isSameName(names[column] ?? '', 'value'))
  if (candidates.length === 0 || !isLong) {
    if (given !== undefined) throw usageError('--key needs a column value, and there is none')
    return undefined
  }
  const how = 'give the other one another name'
  const value = only(names, candidates, { own: 'value', what: 'the value', how })
  const key = only(names, keys, { own: 'key', what: 'the key', how })
  if (value === undefined) return undefined
  if (key !== undefined && given !== undefined) {
    throw usageError(`there is a column ${shownName(names[key] ?? '')}: leave --key out`)
  }
  if (given !== undefined) refuseBadKeys([given])
  if ((key ?? given) === undefined) {
    throw usageError(
      `a column ${shownName(names[value] ?? '')} needs a column key beside it, or the key of all records with --key`,
    )
  }
  return { kind: 'key', key: key ?? given ?? '', value } as const
}

/**
 * The column among these; undefined if there is none.
 *
 * @param own the name that Thingwire itself gives it, which goes before others
 * @throws CommandError usage if it could be more than one
 */
function only(
  names: readonly string[],
  columns: readonly number[],
  { own, what, how }: { readonly own: string; readonly what: string; readonly how: string },
): number | undefined {
  const owned = columns.find(column => isOwnName(names, column, own))
  if (owned !== undefined || columns.length < 2) return owned ?? columns[0]
  const which = columns.map(column => shownName(names[column] ?? '')).join(' and ')
  throw usageError(`${which} could each be ${what}: ${how}`)
}

function isOwnName(names: readonly string[], column: number, own: string): boolean {
  return names[column]?.toLowerCase() === own
}

/** @throws CommandError usage */
function columnCalled(names: readonly string[], wanted: string, option: string): number {
  const exact = indexIn(names, wanted)
  if (exact !== undefined) return exact
  const alike = names.flatMap((name, column) => (isSameName(name, wanted) ? [column] : []))
  if (alike.length === 1 && alike[0] !== undefined) return alike[0]
  throw usageError(
    `${option}: there is no column ${shownName(wanted)} among ${names.map(shownName).join(', ')}`,
  )
}

function indexIn(names: readonly string[], name: string): number | undefined {
  const column = names.indexOf(name)
  return column === -1 ? undefined : column
}

function refuseTwice(names: readonly string[]): void {
  const twice = names.find((name, column) => name !== '' && names.indexOf(name) !== column)
  if (twice !== undefined) throw usageError(`the column ${shownName(twice)} is there twice`)
}

function refuseBadKeys(keys: readonly string[]): void {
  const bad = keys.filter(key => !isMagicKey(key) && !isOrdinaryKey(key))
  if (bad.length === 0) return
  const which = bad.map(key => `${shownName(key)} (such as ${keyLike(key)})`).join(', ')
  throw usageError(
    `a key is 1 to 128 letters, digits, ".", "-" or "_": give another name to ${which}, or none to leave it out`,
  )
}

/** A record as a line of NDJSON. */
export const recordShape = '{"key":"depth","value":9.8,"datetime":"2026-11-21T09:30:00Z"}'

function noRecord(names: readonly string[]): string {
  const which = names.map(shownName).join(', ') || 'no fields'
  return `a line is one record, ${recordShape}: this one has ${which}; write a line for each reading`
}

/** A name as messages show it: in quotes if it is not one plain word. */
export function shownName(name: string): string {
  return /^[\w$.-]+$/.test(name) ? name : JSON.stringify(name)
}
