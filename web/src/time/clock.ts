import { type ReadonlySignal, signal } from '@preact/signals'

const current = signal(Date.now())
setInterval(() => {
  current.value = Date.now()
}, 1000)

/** Now, in milliseconds since the epoch; moves every second. */
export const now: ReadonlySignal<number> = current
