import { setTimeout as delay } from 'node:timers/promises'

/** What became of a task that ran at a pace. */
export interface Paced {
  readonly name: string
  /** A second, that were asked for and that were begun. */
  readonly asked: number
  readonly achieved: number
  readonly count: number
  /** Messages of those that failed. */
  readonly failures: readonly string[]
}

/** Milliseconds. */
const tick = 5
/** So many may run at a time: a server that is kept from running is not to be measured by what waits for it. */
const mostRunning = 50

/** Begins a task so many times a second, whether or not the one before has ended. Resolves when all have ended. */
export async function atPace(
  name: string,
  perSecond: number,
  seconds: number,
  task: () => Promise<void>,
): Promise<Paced> {
  const failures: string[] = []
  const running = new Set<Promise<void>>()
  const start = performance.now()
  let begun = 0
  for (let elapsed = 0; elapsed < seconds; elapsed = (performance.now() - start) / 1_000) {
    for (; begun < elapsed * perSecond && running.size < mostRunning; begun++) {
      const run = task()
        .catch((error: Error) => void failures.push(error.message))
        .finally(() => running.delete(run))
      running.add(run)
    }
    await delay(tick)
  }
  const achieved = begun / ((performance.now() - start) / 1_000)
  await Promise.all(running)
  return { name, asked: perSecond, achieved, count: begun, failures }
}
