import type { RecordStore } from '../../core/ports.ts'
import { formatDatetime } from '../../core/record/datetime.ts'
import type { StoredRecord } from '../../core/record/record.ts'
import { csvField, recordText } from '../../core/record/record-text.ts'
import { pages, type WalkQuery } from './pages.ts'

/** A text format with one record per line. */
interface ExportFormat {
  readonly contentType: string
  /** Text before the first record. */
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

/** Export formats by media type. */
export const exportFormats = { 'text/csv': csv, 'application/x-ndjson': ndjson } as const

/**
 * The text of a range, page by page. Each page is a separate read: an iterator that stays open for a slow client would keep a
 * snapshot open, and LevelDB could not free space.
 *
 * @throws ThingwireError with the reasons of `pages`
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

/** Strings, numbers and booleans are plain text, null is empty, objects and arrays are JSON. A lone surrogate becomes U+FFFD. */
function csvValue(value: string): string {
  if (isNumber(value)) return value
  if (value === 'null') return ''
  if (!value.startsWith('"')) return csvField(value)
  // Most strings have no escapes and need no decoding.
  return csvField(value.includes('\\') ? (JSON.parse(value) as string) : value.slice(1, -1))
}

/** Of all JSON texts, only a number begins with a digit or a minus. */
function isNumber(value: string): boolean {
  const first = value.charCodeAt(0)
  return (first >= 0x30 && first <= 0x39) || first === 0x2d
}
