import { setTimeout as delay } from 'node:timers/promises'

/** Waits for a time, or until `stop` is aborted. Does not keep the process running, and never rejects. */
export async function rest(milliseconds: number, stop?: AbortSignal): Promise<void> {
  await delay(milliseconds, undefined, { ...(stop && { signal: stop }), ref: false }).catch(() => {})
}

interface RetryOptions {
  /** Time between two attempts, milliseconds. */
  readonly every: number
  /** When it is aborted, retries end. */
  readonly stop?: AbortSignal
  /** Retries also end at this time, by the monotonic clock (`performance.now()`). */
  readonly until?: number
  /** Whether to retry after this error. Default: after any. */
  readonly isPassing?: (error: unknown) => boolean
}

/**
 * Retries a task until it succeeds, or has to stop.
 *
 * @returns the result; undefined: it had to stop
 * @throws errors of the task that are not passing
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
