import { isMagicKey, isOrdinaryKey } from '../../core/record/key.ts'
import { usageError } from '../exit.ts'
import { type Held, heldBy, type TimeOptions, unread, unreadable } from './times.ts'
import type { Decimal, TextNotes } from './values.ts'

/** The command-line options about the columns and cells of a file. */
export interface FileOptions extends TimeOptions {
  /** Key of every record, if the file has no column of keys. */
  readonly key?: string | undefined
  readonly geoColumns?: readonly [lat: string, long: string] | undefined
  readonly decimal?: Decimal | undefined
}

export interface Column {
  /** Index of the column in a row, from 0. */
  readonly at: number
  readonly name: string
}

/** What each column of a file contains. */
export interface Columns {
  readonly all: readonly Column[]
  readonly time: Column | undefined
  /** The column with the day of each row, if `time` only has times of day. */
  readonly date: Column | undefined
  readonly geo: readonly [lat: Column, long: Column] | undefined
  /** If each row is one record: the key of all records, or the column of keys. If undefined, each column of `values` is a key. */
  readonly key: Column | string | undefined
  readonly values: readonly Column[]
  /** In the result of a database query: the column with the number of the series that a row belongs to. */
  readonly series: Column | undefined
  readonly leftOut: readonly Column[]
  /** Note for coarse times: columns whose names differ only in a number may be hours. Empty if there are no such columns. */
  readonly hours: string
}

export interface FileListener {
  /** Called with the columns before the first record that is read from them. */
  readonly onColumns: (columns: Columns) => void
  readonly notes: TextNotes
}

/** A column, and what its name and its first cell suggest. */
interface Candidate extends Column {
  /** Words of the name up to a bracket: `created`, `at` for `createdAt (UTC)`. Empty if a database has added the column. */
  readonly words: readonly string[]
  /** The words joined without separators. */
  readonly called: string
  /** The cell in the first row. */
  readonly cell: unknown
  readonly held: Held
}

const ofDay: readonly Held[] = ['day', 'midnight']
const timeNames = ['datetime', 'time', 'timestamp', 'ts', 'epoch']
const keyNames = ['key', 'field', 'metric', 'variable', 'entityid']
/** A column can be the latitude if its name has one of these words, and the longitude if it has one of `longWords`. */
const latWords = ['lat', 'latitude']
const longWords = ['long', 'lon', 'lng', 'longitude']

/** Names of columns that a database adds to a query result, except `_time`, `_value` and `_field`. */
const ofQueryResult = /^(?:_(?!time$|value$|field$).*|result|table)$/

/**
 * Decides what each column contains. An option decides first, then the names of the columns, and for the time also the first cells.
 * If several columns fit, for example as the time, throws so that the user chooses.
 *
 * @param cells the first row; empty if there is none
 * @param isRecord whether a row is one record with a key and a value, as a line of JSON is
 * @throws CommandError usage
 */
export function columnsOf(
  header: readonly string[],
  cells: readonly unknown[],
  options: FileOptions,
  { onColumns }: FileListener,
  isRecord = false,
): Columns {
  const twice = header.find((name, at) => name !== '' && header.indexOf(name) !== at)
  if (twice !== undefined) throw usageError(`the column ${shownName(twice)} appears twice`)
  const isQueryResult = header.includes('_time')
  const isOwn = (name: string) => isQueryResult && ofQueryResult.test(name)
  const all = header.map((name, at): Candidate => {
    const words = isOwn(name) ? [] : wordsOf(name)
    const cell = isOwn(name) ? undefined : cells[at]
    return { at, name, words, called: words.join(''), cell, held: heldBy(cell) }
  })
  const record = keyAndValue(all, options.key)
  if (!record && isRecord) {
    throw usageError(
      `a line is one record, ${recordShape}: this one has ${namesText(header, 'no fields')}; write a line for each reading`,
    )
  }
  const besideRecord = all.filter(column => column !== record?.key && column !== record?.value)
  const { time, date } = timeColumns(besideRecord, options)
  const geo = geoColumns(all, options.geoColumns)
  const others = besideRecord.filter(column => ![time, date, ...(geo ?? [])].includes(column))
  const isTime = (column: Candidate) => isWhole(column) || [...timeNames, 'date'].includes(column.called)
  const keys = others.filter(
    column => !record && column.name !== '' && !isOwn(column.name) && !isTime(column),
  )
  if (!record && keys.length === 0 && !geo) throw usageError('there is no column of values')
  refuseBadKeys(keys.map(({ name }) => name))
  const shapes = keys.map(({ name }) => name.replace(/\d+/g, '…'))
  const [, shape] = /^(.*….*)(?:\n\1$){3}/m.exec(shapes.sort().join('\n')) ?? []
  const columns = {
    ...{ all, time, date, geo, key: record?.key },
    values: record ? [record.value] : keys,
    series: isQueryResult ? all.find(({ name }) => name === 'table') : undefined,
    leftOut: others.filter(column => !keys.includes(column)),
    hours: date || !shape ? '' : `${shape}: if these columns are the hours of a day, ${hoursInRows}`,
  }
  onColumns(columns)
  return columns
}

/** The column of the time and, if it only has times of day, the column of the day. */
function timeColumns(columns: readonly Candidate[], options: FileOptions) {
  const time =
    options.timeColumn === undefined
      ? choose(timeCandidates(columns, options), ['datetime'], 'the time', 'name it with --time-column')
      : namedColumn(columns, options.timeColumn, '--time-column')
  if (!time && (!options.now || options.timeUnit)) throw usageError(noTimeText(columns))
  if (!time || isWhole(time)) return { time }
  const days = columns.filter(
    each =>
      each !== time && (each.called === 'date' || (time.held !== 'nothing' && ofDay.includes(each.held))),
  )
  return { time, date: choose(days, ['date'], 'the day', 'name the right one date') }
}

/** Says why no column is taken for the time. Names the cell of the first row that is most similar to a time, or else all cells. */
function noTimeText(columns: readonly Candidate[]): string {
  const cells = columns.map(({ name, cell }) => [shownName(name), String(cell ?? '').trim()] as const)
  const [near, text] = unread.flatMap(([form]) => cells.find(([, cell]) => form.test(cell)) ?? [])
  if (text !== undefined) return `${unreadable(text)} (column ${near}; --time-column names another)`
  const all = cells.map(([name, cell]) => `${name} (${cell.slice(0, 40)})`).join(', ')
  return `no column has a time in its first row: ${all}. Name the one that has times with --time-column, or give the readings that of their receipt with --now`
}

/** The columns that could be the time. Columns named like a time take precedence over columns with a time in the first cell. */
function timeCandidates(columns: readonly Candidate[], { timeUnit, date }: FileOptions) {
  const named = columns.filter(({ called }) => timeNames.includes(called))
  if (named.length > 0 || timeUnit?.isOfDay) return named
  const clocks = columns.filter(({ held }) => held === 'clock')
  const whole = columns.filter(column => isWhole(column) || column.called === 'date')
  const haveDay =
    whole.length === 0
      ? date !== undefined
      : whole.every(({ held, called }) => held === 'day' || called === 'date')
  return clocks.length > 0 && haveDay ? clocks : whole
}

function isWhole(column: Candidate): boolean {
  return column.held === 'time' || ofDay.includes(column.held)
}

function geoColumns(columns: readonly Candidate[], given: FileOptions['geoColumns']): Columns['geo'] {
  if (given) {
    const [lat, long] = given
    return [namedColumn(columns, lat, '--geo-columns'), namedColumn(columns, long, '--geo-columns')]
  }
  const how = 'name both with --geo-columns <lat,long>'
  // A column such as `lat_long` is neither the latitude nor the longitude.
  const withOne = (known: readonly string[], other: readonly string[]) =>
    columns.filter(({ words }) => words.some(w => known.includes(w)) && !words.some(w => other.includes(w)))
  const lat = choose(withOne(latWords, longWords), latWords, 'the latitude', how)
  const long = choose(withOne(longWords, latWords), longWords, 'the longitude', how)
  if (lat && long) return [lat, long]
  const lone = lat ?? long
  // In a name of several words, such as long_press, the word may have another meaning.
  if (!lone || lone.words.length > 1) return undefined
  const missing = lat ? 'longitude: call it long, lon, lng or longitude' : 'latitude: call it lat or latitude'
  throw usageError(`there is a column ${shownName(lone.name)} but none of the ${missing}, or ${how}`)
}

/** The key and the column of values if each row is one record; undefined if each column is a key. */
function keyAndValue(columns: readonly Candidate[], given: string | undefined) {
  const find = (names: readonly string[], what: string) => {
    const found = columns.filter(({ called }) => names.includes(called))
    return choose(found, names.slice(0, 1), what, 'rename the other one')
  }
  const value = find(['value'], 'the value') ?? find(['state'], 'the value')
  if (!value) {
    if (given !== undefined) throw usageError('--key needs a column value, and there is none')
    return undefined
  }
  const own = find(keyNames, 'the key')
  if (own && given !== undefined) {
    throw usageError(`there is a column ${shownName(own.name)}: leave --key out`)
  }
  if (given !== undefined) refuseBadKeys([given])
  const key = own ?? given
  if (key !== undefined) return { key, value }
  if (value.called === 'state') return undefined
  const which = shownName(value.name)
  throw usageError(`a column ${which} needs a column key next to it, or the key of all records with --key`)
}

/**
 * Chooses the only column that fits; undefined if there is none.
 *
 * @param own names that take precedence over all others, in order of precedence
 * @throws CommandError usage if more than one column fits
 */
function choose<C extends Column>(
  columns: readonly C[],
  own: readonly string[],
  what: string,
  how: string,
): C | undefined {
  const [owned] = own.flatMap(name => columns.find(column => column.name.toLowerCase() === name) ?? [])
  if (owned || columns.length < 2) return owned ?? columns[0]
  const which = columns.map(({ name }) => shownName(name)).join(' and ')
  throw usageError(`${which} could each be ${what}: ${how}`)
}

/** @throws CommandError usage */
function namedColumn(columns: readonly Candidate[], wanted: string, option: string): Candidate {
  const alike = columns.filter(({ called }) => called === wordsOf(wanted).join(''))
  const found = columns.find(({ name }) => name === wanted) ?? (alike.length === 1 ? alike[0] : undefined)
  if (found) return found
  const which = namesText(columns.map(({ name }) => name))
  throw usageError(`${option}: there is no column ${shownName(wanted)} among ${which}`)
}

/** The words of a name: `created` and `at` for `createdAt`, `CREATED_AT` and `Created at (UTC)`. */
function wordsOf(name: string): string[] {
  return name
    .normalize('NFKC')
    .replace(/[([].*/, '')
    .replace(/([\p{Ll}\p{N}])(\p{Lu})/gu, '$1 $2')
    .replace(/(\p{Lu})(\p{Lu}\p{Ll})/gu, '$1 $2')
    .toLowerCase()
    .split(/[^\p{L}\p{N}]+/u)
    .filter(word => word !== '')
}

const hoursInRows = 'make a row of each, with its time in one column and its value in another'

function refuseBadKeys(keys: readonly string[]): void {
  const bad = keys.filter(key => !isMagicKey(key) && !isOrdinaryKey(key))
  if (bad.length === 0) return
  const isDay = bad.every(name => heldBy(name) === 'clock')
  if (isDay) throw usageError(`${namesText(bad)} are times of day: ${hoursInRows}`)
  throw usageError(
    `a key is 1 to 128 letters, digits, ".", "-" or "_": give another name to ${namesText(bad)}, or none to leave it out`,
  )
}

/** An example of a line of NDJSON, for messages. */
export const recordShape = '{"key":"depth","value":9.8,"datetime":"2026-11-21T09:30:00Z"}'

/** A name as messages show it: in quotes unless it is one plain word. */
export function shownName(name: string): string {
  return /^[\w$.-]+$/.test(name) ? name : JSON.stringify(name)
}

/** A list of names as messages show it. */
export function namesText(names: readonly string[], none = 'none'): string {
  return names.map(shownName).join(', ') || none
}
