import { formatDatetime } from '../record/datetime.ts'

/**
 * Server time as JSON: the answer to `GET /v2/utils/date` [interface 4.2], the message on `things/<ref>/date`.
 *
 * @param now milliseconds
 * @param format `unix_timestamp`: whole seconds, as a number
 */
export function serverTimeText(now: number, format: 'UTC' | 'unix_timestamp'): string {
  const value = format === 'UTC' ? formatDatetime(now) : Math.floor(now / 1000)
  return JSON.stringify([{ key: 'date', value }])
}
