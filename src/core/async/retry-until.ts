import { setTimeout as delay } from 'node:timers/promises'

/** Waits for the given time, or until `stop` is aborted. Does not keep the process running, and never rejects. */
export async function rest(milliseconds: number, stop?: AbortSignal): Promise<void> {
  await delay(milliseconds, undefined, { ...(stop && { signal: stop }), ref: false }).catch(() => {})
}

interface RetryOptions {
  /** Pause between two attempts, milliseconds. */
  readonly every: number
  /** Ends the retries when aborted. */
  readonly stop?: AbortSignal
  /** No attempt begins at or after this time of the monotonic clock (`performance.now()`), milliseconds. */
  readonly until?: number
  /** Whether to retry after this error. Default: retry after every error. */
  readonly isPassing?: (error: unknown) => boolean
}

/**
 * Retries a task until it succeeds, `stop` is aborted or `until` is reached.
 *
 * @returns the result; undefined if the retries ended without success
 * @throws an error of the task if `isPassing` returns false for the error
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
