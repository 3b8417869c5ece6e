import { formatDatetime, parseDatetime } from '../core/record/datetime.ts'
import { firstAt } from '../core/time/calendar-buckets.ts'
import { type TimeZone, utc } from '../core/time/time-zone.ts'
import { usageError } from './exit.ts'

export interface TimeRange {
  readonly startDate?: string
  readonly endDate?: string
}

/**
 * The range of `--from` and `--to` as query parameters. A day without a time stands for the first instant of the day.
 *
 * @param zone the zone of times that name no zone
 * @throws CommandError usage
 */
export function timeRange(from: string | undefined, to: string | undefined, zone: TimeZone = utc): TimeRange {
  const [start, end] = [timeOf('--from', from, zone), timeOf('--to', to, zone)]
  if (start !== undefined && end !== undefined && start > end) {
    throw usageError(`--from (${from}) is later than --to (${to})`)
  }
  if (start !== undefined && start === end) {
    throw usageError(
      `--from (${from}) and --to (${to}) are the same time, so the range is empty: --to is exclusive. For one day, set --to to the next day`,
    )
  }
  return {
    ...(start === undefined ? {} : { startDate: formatDatetime(start) }),
    ...(end === undefined ? {} : { endDate: formatDatetime(end) }),
  }
}

/** @returns milliseconds since the epoch @throws CommandError usage */
function timeOf(option: string, given: string | undefined, zone: TimeZone): number | undefined {
  if (given === undefined) return undefined
  const time = parseDatetime(/^\d{4}-\d\d-\d\d$/.test(given) ? `${given}T00:00` : given)
  if (time === undefined) {
    throw usageError(
      `${option} must be a time such as 2026-11-21 or 2026-11-21T09:30:00Z, but it is ${given}`,
    )
  }
  return /(?:z|[+-]\d\d:\d\d)$/i.test(given) ? time : firstAt(zone, time)
}
