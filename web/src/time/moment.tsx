import { now, serverTime } from './clock.ts'
import { formatAge, formatMoment, formatMomentNear } from './format.ts'

interface MomentProps {
  /** Since the epoch. */
  readonly milliseconds: number
}

/** A local date and time. */
export function Moment({ milliseconds }: MomentProps) {
  return (
    <time dateTime={new Date(milliseconds).toISOString()}>
      {formatMomentNear(milliseconds, serverTime())}
    </time>
  )
}

/** How long ago that was, second by second; the date and time are its title. */
export function Age({ milliseconds }: MomentProps) {
  return (
    <time dateTime={new Date(milliseconds).toISOString()} title={formatMoment(milliseconds)}>
      {formatAge(now.value - milliseconds)}
    </time>
  )
}
