import { usageError } from '../exit.ts'
import type { Cell } from './csv-rows.ts'

/** Where in a row is what. */
export interface Columns {
  readonly datetime: number | undefined
  readonly lat: number | undefined
  readonly long: number | undefined
  /** `key`: one record a row; `columns`: one for each named column that is not empty. */
  readonly values:
    | { readonly kind: 'key'; readonly key: number | string; readonly value: number }
    | { readonly kind: 'columns'; readonly keys: readonly (readonly [column: number, key: string])[] }
  readonly count: number
}

const fixed = new Set(['datetime', 'time', 'lat', 'long', 'key', 'value'])

/**
 * Reads the head of a CSV file: `datetime,key,value,lat,long`; the same without `key`, which is given then; or wide,
 * `datetime,lat,long` and a column for each key. All but the values may be missing, and `datetime` be called `time`.
 *
 * @throws CommandError usage, naming the column that is missing or stands twice
 */
export function columnsOf(head: readonly Cell[], key: string | undefined): Columns {
  const names = head.map(name => name ?? '')
  const [only = ''] = names
  if (names.length === 1 && /[;\t]/.test(only)) {
    const separator = only.includes(';') ? ';' : 'tabs'
    throw usageError(
      `the CSV header has one column: are the columns separated by ${separator}? Separate them by commas`,
    )
  }
  const twice = names.find((name, column) => names.indexOf(name) !== column)
  if (twice !== undefined)
    throw usageError(`the column ${twice || 'without a name'} is twice in the CSV header`)
  const at = (name: string) => (names.includes(name) ? names.indexOf(name) : undefined)
  const [lat, long, value, keyColumn] = [at('lat'), at('long'), at('value'), at('key')]
  if ((lat === undefined) !== (long === undefined))
    throw usageError('the CSV header has only one of lat and long')
  const common = { datetime: at('datetime') ?? at('time'), lat, long, count: names.length }
  if (value !== undefined) {
    if ((keyColumn === undefined) === (key === undefined)) {
      throw usageError('a CSV file with a column value needs either a column key or --key')
    }
    return { ...common, values: { kind: 'key', key: keyColumn ?? key ?? '', value } }
  }
  if (key !== undefined) throw usageError('--key needs a column value, and the CSV file has none')
  const keys = names.flatMap((name, column) => (fixed.has(name) ? [] : [[column, name] as const]))
  if (keys.length === 0 && lat === undefined) throw usageError('the CSV header has no column of values')
  return { ...common, values: { kind: 'columns', keys } }
}
