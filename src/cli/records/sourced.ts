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
