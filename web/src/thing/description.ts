import { wordOf } from './kinds.ts'
import { decimalsOf, formatNumber, formatValue } from './resources/format-value.ts'

/** What people see of a resource: a part of its description in `$meta` (contract §5.3). */
export interface Description {
  readonly name?: string
  readonly unit?: string
  readonly kind?: string
  /** Whether the value is a counter that only grows. */
  readonly total?: boolean
  readonly decimals?: number
  readonly hidden?: boolean
}

/** The descriptions of a thing's resources, by key. A Map, because a key may be `constructor`. */
export type Descriptions = ReadonlyMap<string, Description>

/** @param payload a message on `values/$meta`; undefined if the descriptions were removed */
export function descriptionsOf(payload: unknown): Descriptions {
  const { value = {} } = (payload ?? {}) as { readonly value?: Readonly<Record<string, Description>> }
  return new Map(Object.entries(value))
}

/** A value on one line: a number with the decimals and the unit of its resource, for example `21.50 °C`; a boolean as its kind says it, `open`. */
export function measured(value: unknown, { unit, decimals, kind }: Description): string {
  if (typeof value === 'boolean') return wordOf(value, kind) ?? String(value)
  if (typeof value !== 'number') return formatValue(value)
  return withUnit(formatNumber(value, decimals), unit)
}

/** The average of an interval, with one decimal more than its lowest and highest value have: the other digits are noise. */
export function averaged(
  average: number,
  { lowest, highest }: { readonly lowest: number; readonly highest: number },
  { unit, decimals }: Description,
): string {
  const [one, other] = [decimalsOf(lowest), decimalsOf(highest)]
  const isPlain = lowest !== highest && one !== undefined && other !== undefined
  return withUnit(formatNumber(average, decimals ?? (isPlain ? Math.max(one, other) + 1 : undefined)), unit)
}

function withUnit(number: string, unit: string | undefined): string {
  return unit === undefined ? number : `${number} ${unit}`
}
