/** A record as it is sent in a write (contract §2). */
export interface WrittenRecord {
  readonly key: string
  readonly value: unknown
  readonly geo?: { readonly lat: unknown; readonly long: unknown }
  readonly datetime?: unknown
}

/** Why no record can be read from a line. */
export interface Fault {
  /** The faulty field; empty if the whole line is faulty. */
  readonly field: string
  readonly message: string
}

/** The content of one line of a file: records, or why no records can be read from the line. */
export interface Sourced {
  /** Line number, from 1. */
  readonly line: number
  readonly records: readonly WrittenRecord[]
  readonly fault?: Fault
  /** Number of bytes of the file up to the end of the line, as UTF-8. */
  readonly end?: number
}

export function faultAt(line: number, field: string, message: string): Sourced {
  return { line, records: [], fault: { field, message } }
}
