import { now, serverTime } from './clock.ts'
import { formatAge, formatMoment, formatMomentNear } from './format.ts'

interface MomentProps {
  /** Milliseconds since the epoch. */
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

/** The age of a moment, updated every second, with date and time as its title. */
export function Age({ milliseconds }: MomentProps) {
  return (
    <time dateTime={new Date(milliseconds).toISOString()} title={formatMoment(milliseconds)}>
      {formatAge(now.value - milliseconds)}
    </time>
  )
}
