import type { RecordStore } from '../../core/ports.ts'
import { formatDatetime } from '../../core/record/datetime.ts'
import type { StoredRecord } from '../../core/record/record.ts'
import { csvField, recordText } from '../../core/record/record-text.ts'
import { pages, type WalkQuery } from './pages.ts'

/** A form in which a whole range is given out, one record per line. */
interface ExportFormat {
  readonly contentType: string
  /** What comes before the first record. */
  readonly head: string
  readonly line: (record: StoredRecord) => string
}

const csv: ExportFormat = {
  contentType: 'text/csv; charset=utf-8',
  head: 'datetime,value,lat,long\r\n',
  line: ({ datetime, value, geo }) => {
    const position = geo ? `,${geo.lat},${geo.long}\r\n` : ',,\r\n'
    return `${formatDatetime(datetime)},${csvValue(value)}${position}`
  },
}

const ndjson: ExportFormat = {
  contentType: 'application/x-ndjson',
  head: '',
  line: record => `${recordText(record)}\n`,
}

/** By media type. */
export const exportFormats = { 'text/csv': csv, 'application/x-ndjson': ndjson } as const

/**
 * The records of a range, page by page; memory does not grow with their number. No iterator stays open under a slow reader: its
 * snapshot would keep LevelDB from giving space back.
 *
 * @throws ThingwireError as `pages`
 */
export async function* exportText(
  { head, line }: ExportFormat,
  records: Pick<RecordStore, 'read'>,
  thingId: string,
  key: string,
  query: WalkQuery,
): AsyncGenerator<string, void> {
  yield head
  for await (const page of pages(records, thingId, key, query)) {
    let text = ''
    for (const record of page) text += line(record)
    yield text
  }
}

/**
 * Scalars plain, a missing value as an empty field, objects and arrays as JSON. A lone surrogate has no UTF-8 and becomes U+FFFD.
 */
function csvValue(value: string): string {
  if (isNumber(value)) return value
  if (value === 'null') return ''
  if (!value.startsWith('"')) return csvField(value)
  // Most strings need no decoding: nothing in them is escaped.
  return csvField(value.includes('\\') ? (JSON.parse(value) as string) : value.slice(1, -1))
}

/** Of JSON texts, those of numbers alone begin with a digit or a minus. */
function isNumber(value: string): boolean {
  const first = value.charCodeAt(0)
  return (first >= 0x30 && first <= 0x39) || first === 0x2d
}
