import { formatNumber, formatValue } from './resources/format-value.ts'

/** What people see of a resource: a part of its description in `$meta` (contract §5.3). */
export interface Description {
  readonly name?: string
  readonly unit?: string
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

/** A value on one line. A number has the decimals and the unit of its resource, for example `21.50 °C`. */
export function measured(value: unknown, { unit, decimals }: Description): string {
  if (typeof value !== 'number') return formatValue(value)
  const number = formatNumber(value, decimals)
  return unit === undefined ? number : `${number} ${unit}`
}
