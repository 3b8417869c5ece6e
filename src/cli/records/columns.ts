import { isMagicKey, isOrdinaryKey } from '../../core/record/key.ts'
import { usageError } from '../exit.ts'
import { type Held, heldBy, type TimeOptions, zoneIn } from './times.ts'

/** What the command line says of the columns of a file. */
export interface ColumnOptions extends TimeOptions {
  /** Of every record, where the file has no column of keys. */
  readonly key?: string | undefined
  /** Names of columns. */
  readonly timeColumn?: string | undefined
  readonly geoColumns?: readonly [lat: string, long: string] | undefined
}

export interface Column {
  /** Its place in a row, from 0. */
  readonly at: number
  readonly name: string
}

/** Where in a row is what. */
export interface Columns {
  readonly all: readonly Column[]
  readonly time: Column | undefined
  /** Days of what are only times of day in `time`. */
  readonly date: Column | undefined
  readonly geo: readonly [lat: Column, long: Column] | undefined
  /** Of a row that is one record: its key, or the column of it; undefined: each column of `values` is a key. */
  readonly key: Column | string | undefined
  readonly values: readonly Column[]
  /** Of the result of a database query: the number of the series that the row is of. */
  readonly series: Column | undefined
  /** What says that times without a zone are not UTC. */
  readonly zone: string | undefined
  readonly leftOut: readonly Column[]
}

/** A column with what its name and its first cell say. */
interface Candidate extends Column {
  /** Of the name, less brackets: `createdAt (UTC)` is `created`, `at`. None of a column that a database adds to a result. */
  readonly words: readonly string[]
  readonly held: Held
}

/** Names, as their words without what separates them. */
const timeNames = ['datetime', 'time', 'timestamp', 'ts', 'epoch']
const keyNames = ['key', 'field', 'metric', 'variable', 'entityid']
const zoneNames = ['tz', 'timezone', 'utcoffset', 'gmtoffset']

/** One of the words of a name. */
const latWords = ['lat', 'latitude']
const longWords = ['long', 'lon', 'lng', 'longitude']

/** What a database says of a result itself, beside `_time`, `_value` and `_field`. */
const ofQueryResult = /^(?:_(?!time$|value$|field$).*|result|table)$/

/**
 * Decides what each column is: by the options; else the time by its first cell, the others by their names. Two columns that
 * could both be the time, or another of these, are for the user to choose from.
 *
 * @param cells the first row; empty if there is none
 * @param isRecord whether a row is one record with a key and a value, as a line of JSON is
 * @throws CommandError usage
 */
export function columnsOf(
  header: readonly string[],
  cells: readonly unknown[],
  options: ColumnOptions,
  isRecord = false,
): Columns {
  const twice = header.find((name, at) => name !== '' && header.indexOf(name) !== at)
  if (twice !== undefined) throw usageError(`the column ${shownName(twice)} is there twice`)
  const isQueryResult = header.includes('_time')
  const isOwn = (name: string) => isQueryResult && ofQueryResult.test(name)
  const all = header.map((name, at): Candidate => {
    if (isOwn(name)) return { at, name, words: [], held: 'nothing' }
    return { at, name, words: wordsOf(name.replace(/[([].*/, '')), held: heldBy(cells[at]) }
  })
  const record = keyAndValue(all, options.key)
  if (!record && isRecord) throw usageError(noRecord(header))
  const isOfRecord = (column: Column) => column === record?.key || column === record?.value
  const { time, date } = timeColumns(
    all.filter(column => !isOfRecord(column)),
    options,
  )
  const geo = geoColumns(all, options.geoColumns)
  const others = all.filter(column => ![time, date, ...(geo ?? [])].includes(column) && !isOfRecord(column))
  const isKey = (column: Candidate) => column.name !== '' && !isOwn(column.name) && !isTime(column)
  const keys = record ? [] : others.filter(isKey)
  if (!record && keys.length === 0 && !geo) throw usageError('there is no column of values')
  refuseBadKeys(keys.map(({ name }) => name))
  return {
    ...{ all, time, date, geo, key: record?.key },
    values: record ? [record.value] : keys,
    series: isQueryResult ? all.find(({ name }) => name === 'table') : undefined,
    zone: zoneIn(time?.name ?? '') ?? all.find(column => isCalled(column, zoneNames))?.name,
    leftOut: others.filter(column => !keys.includes(column)),
  }
}

/** The time, and the day beside it where it is a time of day alone. */
function timeColumns(columns: readonly Candidate[], options: ColumnOptions) {
  const how = 'name it with --time-column'
  const time =
    options.timeColumn === undefined
      ? choose(timeCandidates(columns, options), ['datetime'], 'the time', how)
      : namedColumn(columns, options.timeColumn, '--time-column')
  if (!time && options.timeUnit?.isOfDay) {
    throw usageError(`--time-unit ${options.timeUnit.name} needs the column of the time of day: ${how}`)
  }
  if (!time && !options.now) throw usageError(noTime(columns))
  if (!time || isWhole(time)) return { time }
  const days = columns.filter(
    column => column !== time && (isCalled(column, ['date']) || (time.held !== 'nothing' && isDay(column))),
  )
  return { time, date: choose(days, ['date'], 'the day', 'call that one date') }
}

/** Those that could be the time: the first cells say it, and names only where several do, or none. */
function timeCandidates(columns: readonly Candidate[], { timeUnit, date }: ColumnOptions) {
  const named = columns.filter(column => isCalled(column, timeNames))
  const dates = columns.filter(column => isCalled(column, ['date']))
  if (timeUnit) return named.length > 0 || timeUnit.isOfDay ? named : dates
  const whole = columns.filter(column => isWhole(column) || dates.includes(column))
  const clocks = columns.filter(({ held }) => held === 'clock')
  const areDays =
    whole.length === 0
      ? date !== undefined
      : !whole.some(({ held }) => held === 'time' || held === 'midnight')
  const groups = [
    named.filter(isWhole),
    named.filter(({ held }) => held === 'nothing'),
    // A number or a time of day is the time by its name alone: only a day can stand beside it.
    named.length === 0 ? [] : [...named, ...whole.filter(({ held }) => held === 'time')],
    areDays ? clocks : [],
    whole,
  ]
  return groups.find(group => group.length > 0) ?? []
}

function isDay({ held }: Candidate): boolean {
  return held === 'day' || held === 'midnight'
}

function isWhole(column: Candidate): boolean {
  return column.held === 'time' || isDay(column)
}

function isTime(column: Candidate): boolean {
  return isWhole(column) || isCalled(column, [...timeNames, 'date'])
}

function noTime(columns: readonly Column[]): string {
  const which = columns
    .filter(({ name }) => name !== '')
    .map(({ name }) => shownName(name))
    .join(', ')
  return `none of ${which} has a time such as 2026-11-21T09:30:00Z in its first row, or is called time: name the column with --time-column, or give the records the time of their receipt with --now`
}

function geoColumns(columns: readonly Candidate[], given: ColumnOptions['geoColumns']): Columns['geo'] {
  if (given) {
    const [lat, long] = given
    return [namedColumn(columns, lat, '--geo-columns'), namedColumn(columns, long, '--geo-columns')]
  }
  const how = 'name both with --geo-columns <lat,long>'
  const lats = columns.filter(({ words }) => hasWord(words, latWords) && !hasWord(words, longWords))
  const longs = columns.filter(({ words }) => hasWord(words, longWords) && !hasWord(words, latWords))
  const lat = choose(lats, latWords, 'the latitude', how)
  const long = choose(longs, longWords, 'the longitude', how)
  if (lat && long) return [lat, long]
  const lone = lat ?? long
  // A press can be long, too.
  if (!lone || lone.words.length > 1) return undefined
  const [missing, names] = lat
    ? ['longitude', 'long, lon, lng or longitude']
    : ['latitude', 'lat or latitude']
  throw usageError(
    `there is a column ${shownName(lone.name)} but none of the ${missing}: call it ${names}, or ${how}`,
  )
}

/** undefined: each column is a key of its own. */
function keyAndValue(columns: readonly Candidate[], given: string | undefined) {
  const ofName = (name: string) => columns.filter(column => isCalled(column, [name]))
  const how = 'give the other one another name'
  const value = choose(ofName('value'), ['value'], 'the value', how)
  const state = value ?? choose(ofName('state'), ['state'], 'the value', how)
  if (!state) {
    if (given !== undefined) throw usageError('--key needs a column value, and there is none')
    return undefined
  }
  const key = choose(
    columns.filter(column => isCalled(column, keyNames)),
    ['key'],
    'the key',
    how,
  )
  if (key && given !== undefined) {
    throw usageError(`there is a column ${shownName(key.name)}: leave --key out`)
  }
  if (given !== undefined) refuseBadKeys([given])
  const either = key ?? given
  if (either !== undefined) return { key: either, value: state }
  if (!value) return undefined
  throw usageError(
    `a column ${shownName(value.name)} needs a column key beside it, or the key of all records with --key`,
  )
}

/**
 * The column among these; undefined if there is none.
 *
 * @param own names that go before others, the first of them first
 * @throws CommandError usage if it could be more than one
 */
function choose<C extends Column>(
  columns: readonly C[],
  own: readonly string[],
  what: string,
  how: string,
): C | undefined {
  for (const name of own) {
    const owned = columns.find(column => column.name.toLowerCase() === name)
    if (owned) return owned
  }
  if (columns.length < 2) return columns[0]
  const which = columns.map(({ name }) => shownName(name)).join(' and ')
  throw usageError(`${which} could each be ${what}: ${how}`)
}

/** @throws CommandError usage */
function namedColumn(columns: readonly Candidate[], wanted: string, option: string): Candidate {
  const exact = columns.find(({ name }) => name === wanted)
  if (exact) return exact
  const spelling = wordsOf(wanted).join('')
  const alike = columns.filter(({ name }) => wordsOf(name).join('') === spelling)
  if (alike.length === 1 && alike[0]) return alike[0]
  const which = columns.map(({ name }) => shownName(name)).join(', ')
  throw usageError(`${option}: there is no column ${shownName(wanted)} among ${which}`)
}

function isCalled({ words }: Candidate, names: readonly string[]): boolean {
  return names.includes(words.join(''))
}

function hasWord(words: readonly string[], known: readonly string[]): boolean {
  return words.some(word => known.includes(word))
}

/** `createdAt`, `CREATED_AT` and `Created at:` are `created`, `at`. */
function wordsOf(name: string): string[] {
  return name
    .normalize('NFKC')
    .replace(/([\p{Ll}\p{N}])(\p{Lu})/gu, '$1 $2')
    .replace(/(\p{Lu})(\p{Lu}\p{Ll})/gu, '$1 $2')
    .toLowerCase()
    .split(/[^\p{L}\p{N}]+/u)
    .filter(word => word !== '')
}

function refuseBadKeys(keys: readonly string[]): void {
  const bad = keys.filter(key => !isMagicKey(key) && !isOrdinaryKey(key))
  if (bad.length === 0) return
  const which = bad.map(key => `${shownName(key)} (such as ${keyLike(key)})`).join(', ')
  throw usageError(
    `a key is 1 to 128 letters, digits, ".", "-" or "_": give another name to ${which}, or none to leave it out`,
  )
}

/** A key that can stand in the place of a name that is none: `Temperature (°C)` becomes `Temperature_C`. */
export function keyLike(name: string): string {
  const plain = name.normalize('NFKD').replace(/\p{M}/gu, '').replaceAll('ß', 'ss')
  return plain.replace(/[^A-Za-z0-9.-]+/g, '_').replace(/^_+|_+$/g, '') || 'key'
}

/** A record as a line of NDJSON. */
export const recordShape = '{"key":"depth","value":9.8,"datetime":"2026-11-21T09:30:00Z"}'

function noRecord(names: readonly string[]): string {
  const which = names.map(shownName).join(', ') || 'no fields'
  return `a line is one record, ${recordShape}: this one has ${which}; write a line for each reading`
}

/** A name as messages show it: in quotes if it is not one plain word. */
function shownName(name: string): string {
  return /^[\w$.-]+$/.test(name) ? name : JSON.stringify(name)
}

/** What the columns of a file are taken for, by name. */
export function summaryOf({ time, date, geo, key, values, leftOut }: Columns) {
  const nameOf = ({ at, name }: Column) => name || `column ${at + 1} without a name`
  const [value] = values
  return {
    /** Empty: records get the time of their receipt. */
    time: [date, time].filter(column => column !== undefined).map(nameOf),
    /** Latitude and longitude, or nothing. */
    position: (geo ?? []).map(nameOf),
    keys: key === undefined ? values.map(nameOf) : typeof key === 'string' ? [key] : [],
    /** Where a row is one record: of its value, and of its key. */
    valueColumn: key !== undefined && value ? nameOf(value) : undefined,
    keyColumn: typeof key === 'object' ? nameOf(key) : undefined,
    leftOut: leftOut.map(nameOf),
  }
}

/** The same for people, a line for each. */
export function summaryLines(columns: Columns, { timeUnit, zone }: TimeOptions): string[] {
  const { time, position, keys, keyColumn, valueColumn, leftOut } = summaryOf(columns)
  const text = (names: readonly string[]) => names.map(shownName).join(', ') || 'none'
  const isUnix = timeUnit?.isOfDay === false
  const how = isUnix ? `Unix time in ${timeUnit.name}` : `${zone?.name ?? 'UTC'} where it has no zone`
  const from = valueColumn === undefined ? '' : `, value from ${shownName(valueColumn)}`
  const which = keyColumn === undefined ? text(keys) : `from ${shownName(keyColumn)}`
  return [
    `time      ${time.length === 0 ? 'that of receipt' : `${text(time)} (${how})`}`,
    `position  ${text(position)}`,
    `keys      ${which}${from}`,
    `left out  ${text(leftOut)}`,
  ]
}
