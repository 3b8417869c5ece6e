import type { ReadRecord } from '../reading/read-records.ts'

/** A line of an export: a record, and whose it is. */
export interface ExportedRecord extends ReadRecord {
  readonly thingId: string
  readonly name: string
}

/** The line of a record that is JSON text already. */
export function exportLine(
  thing: { readonly thingId: string; readonly name: string },
  record: string,
): string {
  const { thingId, name } = thing
  return `${JSON.stringify({ thingId, name }).slice(0, -1)},${record.slice(1)}\n`
}
