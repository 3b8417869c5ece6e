import { formatDatetime } from './datetime.ts'
import type { StoredRecord } from './record.ts'

/** A record as it is given out (contract §6). The value is put in as it is stored, without being parsed. */
export function recordText({ key, value, datetime, geo }: StoredRecord): string {
  const position = geo ? `,"geo":{"lat":${geo.lat},"long":${geo.long}}` : ''
  return `{"key":${JSON.stringify(key)},"value":${value},"datetime":"${formatDatetime(datetime)}"${position}}`
}

/** A JSON array of texts that are JSON. */
export function arrayText(items: readonly string[]): string {
  return `[${items.join(',')}]`
}
