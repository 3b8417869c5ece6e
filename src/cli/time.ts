import { parseDatetime } from '../core/record/datetime.ts'
import { usageError } from './exit.ts'

export interface TimeRange {
  readonly startDate?: string
  readonly endDate?: string
}

/**
 * The range of `--from` and `--to`, in the words of the server. A day alone is its midnight, in UTC.
 *
 * @throws CommandError usage
 */
export function timeRange(from: string | undefined, to: string | undefined): TimeRange {
  const [first, end] = [timeOf('--from', from), timeOf('--to', to)]
  if (first && end && first.milliseconds > end.milliseconds) {
    throw usageError(`--from (${from}) is later than --to (${to})`)
  }
  return {
    ...(first ? { startDate: first.text } : {}),
    ...(end ? { endDate: end.text } : {}),
  }
}

function timeOf(option: string, given: string | undefined) {
  if (given === undefined) return undefined
  const text = /^\d{4}-\d\d-\d\d$/.test(given) ? `${given}T00:00:00Z` : given
  const milliseconds = parseDatetime(text)
  if (milliseconds !== undefined) return { text, milliseconds }
  throw usageError(`${option} must be a time such as 2026-11-21 or 2026-11-21T09:30:00Z: it is ${given}`)
}
