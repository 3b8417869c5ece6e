/** A record as it goes into a write (contract §2). */
export interface WrittenRecord {
  readonly key: string
  readonly value: unknown
  readonly geo?: { readonly lat: unknown; readonly long: unknown }
  readonly datetime?: unknown
}

/** Why no record can be read out of a line. */
export interface Fault {
  /** Empty: the line as a whole. */
  readonly field: string
  readonly message: string
}

/** What one line of a file holds: records, or why none can be read out of it. */
export interface Sourced {
  /** From 1. */
  readonly line: number
  readonly records: readonly WrittenRecord[]
  readonly fault?: Fault
  /** Bytes of the file up to its end, as UTF-8. */
  readonly end?: number
}

export function faultAt(line: number, field: string, message: string): Sourced {
  return { line, records: [], fault: { field, message } }
}

/** What a line holds, unless a number in it is larger than a 64-bit float: JSON would make it null. */
export function sourced(line: number, records: readonly WrittenRecord[]): Sourced {
  const record = records.find(({ value, geo }) => !fitsFloat(value) || !fitsFloat(geo))
  if (!record) return { line, records }
  const field = fitsFloat(record.value) ? 'geo' : 'value'
  const message = `${field} of ${record.key} has a number too large for a 64-bit float (number_out_of_range)`
  return faultAt(line, field, message)
}

/** Whether all numbers in a value are. */
export function fitsFloat(value: unknown): boolean {
  if (typeof value === 'number') return Number.isFinite(value)
  return typeof value !== 'object' || value === null || Object.values(value).every(fitsFloat)
}
