import { formatDatetime } from './datetime.ts'
import type { StoredRecord } from './record.ts'

/** A cache: most records have the same key as the previous one, and encoding a key takes as long as the rest of the record. */
let head = { key: '', text: headText('') }

/** The JSON of a record as it appears in answers (contract §6). The stored text of the value is inserted without parsing it. */
export function recordText({ key, value, datetime, geo }: StoredRecord): string {
  if (key !== head.key) head = { key, text: headText(key) }
  const end = geo ? `","geo":{"lat":${geo.lat},"long":${geo.long}}}` : '"}'
  return `${head.text}${value},"datetime":"${formatDatetime(datetime)}${end}`
}

function headText(key: string): string {
  return `{"key":${JSON.stringify(key)},"value":`
}

/**
 * A text as a CSV field. It is quoted if RFC 4180 requires it, if it is empty (an unquoted empty field means no value), or if it
 * begins or ends with a space, which CSV readers would strip.
 */
export function csvField(text: string): string {
  return text === '' || /[",\r\n]|^\s|\s$/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}

/** Joins JSON texts into the text of a JSON array. */
export function arrayText(items: readonly string[]): string {
  return `[${items.join(',')}]`
}

/** Like `arrayText`, but yields the text in parts. */
export function* arrayParts(items: readonly string[]): Generator<string> {
  yield '['
  for (const [place, item] of items.entries()) yield place === 0 ? item : `,${item}`
  yield ']'
}
