import { formatDatetime } from '../record/datetime.ts'

/**
 * The server time as JSON: the answer to `GET /v2/utils/date` [interface 4.2], and the message on `things/<ref>/date`.
 *
 * @param now milliseconds since 1970
 * @param format `unix_timestamp` gives whole seconds as a number
 */
export function serverTimeText(now: number, format: 'UTC' | 'unix_timestamp'): string {
  const value = format === 'UTC' ? formatDatetime(now) : Math.floor(now / 1000)
  return JSON.stringify([{ key: 'date', value }])
}
