import { formatDatetime } from './datetime.ts'
import type { StoredRecord } from './record.ts'

/** Most records have the key of the one before: to spell it takes as long as the rest. */
let head = { key: '', text: headText('') }

/** A record as it is given out (contract §6). The value is put in as it is stored, without being parsed. */
export function recordText({ key, value, datetime, geo }: StoredRecord): string {
  if (key !== head.key) head = { key, text: headText(key) }
  const end = geo ? `","geo":{"lat":${geo.lat},"long":${geo.long}}}` : '"}'
  return `${head.text}${value},"datetime":"${formatDatetime(datetime)}${end}`
}

function headText(key: string): string {
  return `{"key":${JSON.stringify(key)},"value":`
}

/**
 * A text as a field of CSV: quoted where RFC 4180 wants it, where it is empty, since an empty field is no value, and where it begins
 * or ends with a space, which readers cut off.
 */
export function csvField(text: string): string {
  return text === '' || /[",\r\n]|^\s|\s$/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}

/** A JSON array of texts that are JSON. */
export function arrayText(items: readonly string[]): string {
  return `[${items.join(',')}]`
}

/** The same, part by part. */
export function* arrayParts(items: readonly string[]): Generator<string> {
  yield '['
  for (const [place, item] of items.entries()) yield place === 0 ? item : `,${item}`
  yield ']'
}
