import { setTimeout as delay } from 'node:timers/promises'
import { RefusedError, UnreachableError } from '../client/client.ts'

/** How long a server may be unavailable, milliseconds. A restart takes a few seconds. */
const maximumAbsence = 60_000

interface Patience {
  /** Whether to retry if the first attempts get no answer. If false, retries begin only after an answer of 429 or 503. */
  readonly isExpected: boolean
  /** Whether to retry without limit after 429 and 503. If false, retries end after a minute. */
  readonly isEndless: boolean
  /** Called before each wait, with the reason and the number of seconds to wait. */
  readonly onWait: (why: string, seconds: number) => void
}

/**
 * Retries a request, which must be safe to repeat. After 429 and 503, waits as long as the answer says. Without an answer, retries
 * for up to a minute.
 *
 * @throws the error of the last attempt
 */
export async function withRetry<Answer>(
  request: () => Promise<Answer>,
  { isExpected, isEndless, onWait }: Patience,
): Promise<Answer> {
  let isThere = isExpected
  let since: number | undefined
  for (;;) {
    try {
      return await request()
    } catch (error) {
      const seconds = secondsUntilNext(error)
      if (!(error instanceof Error) || seconds === undefined) throw error
      const isAnswer = error instanceof RefusedError
      isThere ||= isAnswer
      if (isAnswer && isEndless) since = undefined
      else {
        since ??= Date.now()
        if (!isThere || Date.now() - since + seconds * 1000 > maximumAbsence) throw error
      }
      onWait(error.message, seconds)
      await delay(seconds * 1000)
    }
  }
}

/** Seconds until the next attempt; undefined if another attempt would fail as well. */
function secondsUntilNext(error: unknown): number | undefined {
  if (error instanceof RefusedError) return error.retryAfter
  return error instanceof UnreachableError ? 1 : undefined
}
