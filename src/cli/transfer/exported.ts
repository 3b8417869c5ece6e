import type { ReadRecord } from '../reading/read-records.ts'

/** A line of an export: a record, with the id and name of its thing. */
export interface ExportedRecord extends ReadRecord {
  readonly thingId: string
  readonly name: string
}

/** Makes a line of an export. @param record JSON text */
export function exportLine(
  thing: { readonly thingId: string; readonly name: string },
  record: string,
): string {
  const { thingId, name } = thing
  return `${JSON.stringify({ thingId, name }).slice(0, -1)},${record.slice(1)}\n`
}
