import { type ReadonlySignal, signal } from '@preact/signals'
import { addressOf } from '../api/address.ts'
import { type ClockBounds, correctionOf, narrowed } from './clock-bounds.ts'

const tick = 1_000
/** Milliseconds that the browser's clock may move beside its timers in a tick. */
const slew = 1_000

let bounds: ClockBounds | undefined
const current = signal(Date.now())

/** Now, in milliseconds since the epoch, by the server's clock; moves every second. */
export const now: ReadonlySignal<number> = current

/**
 * Milliseconds since the epoch by the server's clock, as its answers tell it: readings, ranges and ages go by that. The browser's
 * counts until the first answer.
 */
export function serverTime(): number {
  return Date.now() + (bounds ? correctionOf(bounds) : 0)
}

/**
 * Learns the server's time from an answer.
 *
 * @param asked when the request left, by the browser's clock, milliseconds since the epoch
 */
export function hearDate({ headers }: Response, asked: number): void {
  const date = Date.parse(headers.get('date') ?? '')
  if (Number.isNaN(date)) return
  const before = serverTime()
  bounds = narrowed(bounds, date, asked, Date.now())
  // Not with each answer: what is drawn by it is drawn again.
  if (Math.abs(serverTime() - before) >= tick) current.value = serverTime()
}

let before = distance()
setInterval(() => {
  const after = distance()
  if (Math.abs(after - before) > slew) void askDate()
  before = after
  current.value = serverTime()
}, tick)

/** Between the browser's clock and its timers: it changes when the clock is set, and when the machine wakes. */
function distance(): number {
  return Date.now() - performance.now()
}

async function askDate(): Promise<void> {
  const asked = Date.now()
  try {
    hearDate(await fetch(addressOf('/healthz'), { method: 'HEAD', cache: 'no-store' }), asked)
  } catch {
    // A server that is away is asked for readings when it is back.
  }
}
