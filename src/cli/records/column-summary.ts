import { type Columns, shownName } from './columns.ts'
import type { RowOptions } from './row-records.ts'

/** What the columns of a file are taken for, by name. */
interface ColumnSummary {
  /** Empty: records get the time of their receipt. */
  readonly time: readonly string[]
  /** Latitude and longitude, or nothing. */
  readonly position: readonly string[]
  readonly keys: readonly string[]
  /** Where a row is one record: of its value, and of its key. */
  readonly valueColumn?: string
  readonly keyColumn?: string
  readonly leftOut: readonly string[]
}

export function summaryOf({ time, date, geo, values, leftOut, names }: Columns): ColumnSummary {
  const nameOf = (column: number) => names[column] || `column ${column + 1} without a name`
  const common = {
    time: [date, time].filter(column => column !== undefined).map(nameOf),
    position: (geo ?? []).map(nameOf),
    leftOut: leftOut.map(nameOf),
  }
  if (values.kind === 'columns') return { ...common, keys: values.columns.map(nameOf) }
  const { key, value } = values
  const valueColumn = nameOf(value)
  if (typeof key === 'string') return { ...common, keys: [key], valueColumn }
  return { ...common, keys: [], keyColumn: nameOf(key), valueColumn }
}

/** The same for people, a line for each. */
export function summaryLines(columns: Columns, { timeUnit, zone }: RowOptions): string[] {
  const { time, position, keys, keyColumn, valueColumn, leftOut } = summaryOf(columns)
  const isUnix = timeUnit?.isOfDay === false
  const how = isUnix ? `Unix time in ${timeUnit.name}` : `${zone?.name ?? 'UTC'} where it has no zone`
  const from = valueColumn === undefined ? '' : `, value from ${shownName(valueColumn)}`
  const which = keyColumn === undefined ? namesText(keys) : `from ${shownName(keyColumn)}`
  return [
    `time      ${time.length === 0 ? 'that of receipt' : `${namesText(time)} (${how})`}`,
    `position  ${namesText(position)}`,
    `keys      ${which}${from}`,
    `left out  ${namesText(leftOut)}`,
  ]
}

function namesText(names: readonly string[]): string {
  return names.length === 0 ? 'none' : names.map(shownName).join(', ')
}
