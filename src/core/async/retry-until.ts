import { setTimeout as delay } from 'node:timers/promises'

/** Waits for so many milliseconds, or until `stop` is aborted. Keeps no process running, and never rejects. */
export async function rest(milliseconds: number, stop?: AbortSignal): Promise<void> {
  await delay(milliseconds, undefined, { ...(stop && { signal: stop }), ref: false }).catch(() => {})
}

interface RetryOptions {
  /** Between two tries, milliseconds. */
  readonly every: number
  /** Once it is aborted nothing is tried again. */
  readonly stop?: AbortSignal
  /** Nor at this time, by the monotonic clock (`performance.now()`). */
  readonly until?: number
  /** Whether what has failed with this error is tried again. Default: with any. */
  readonly isPassing?: (error: unknown) => boolean
}

/**
 * Does a task again and again until it succeeds, or has to stop.
 *
 * @returns what came of it; undefined: it has had to stop before
 * @throws what the task throws and is not passing
 */
export async function retryUntil<Result>(
  task: () => Promise<Result>,
  { every, stop, until = Number.POSITIVE_INFINITY, isPassing = () => true }: RetryOptions,
): Promise<Result | undefined> {
  while (!stop?.aborted && performance.now() < until) {
    try {
      return await task()
    } catch (error) {
      if (!isPassing(error)) throw error
      await rest(every, stop)
    }
  }
  return undefined
}
