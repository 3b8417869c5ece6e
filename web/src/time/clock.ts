import { type ReadonlySignal, signal } from '@preact/signals'
import { addressOf } from '../api/address.ts'
import { type ClockBounds, correctionOf, narrowed } from './clock-bounds.ts'

const tick = 1_000
/** Maximum difference between browser clock and timers in a tick, milliseconds. A greater difference means the clock was set. */
const slew = 1_000

let bounds: ClockBounds | undefined
const current = signal(Date.now())

/** The current time by the server's clock, milliseconds since the epoch. Updated every second. */
export const now: ReadonlySignal<number> = current

/**
 * The server's time, milliseconds since the epoch, estimated from its answers. Used for readings, ranges and ages. Until the first
 * answer, this is the browser's time.
 */
export function serverTime(): number {
  return Date.now() + (bounds ? correctionOf(bounds) : 0)
}

/**
 * Updates the estimate of the server's time from an answer.
 *
 * @param asked when the request was sent, by the browser's clock, milliseconds since the epoch
 */
export function hearDate({ headers }: Response, asked: number): void {
  const date = Date.parse(headers.get('date') ?? '')
  if (Number.isNaN(date)) return
  const before = serverTime()
  bounds = narrowed(bounds, date, asked, Date.now())
  // Not updated with each answer, because each update renders all parts of the page that depend on it.
  if (Math.abs(serverTime() - before) >= tick) current.value = serverTime()
}

let before = distance()
setInterval(() => {
  const after = distance()
  if (Math.abs(after - before) > slew) void askDate()
  before = after
  current.value = serverTime()
}, tick)

/** Difference between browser clock and timers. Changes when the clock is set and when the machine wakes up. */
function distance(): number {
  return Date.now() - performance.now()
}

async function askDate(): Promise<void> {
  const asked = Date.now()
  try {
    hearDate(await fetch(addressOf('/healthz'), { method: 'HEAD', cache: 'no-store' }), asked)
  } catch {
    // Ignored: when the server is available again, the next answer contains the time.
  }
}
