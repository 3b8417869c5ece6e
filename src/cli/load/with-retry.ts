import { setTimeout as delay } from 'node:timers/promises'
import { RefusedError, UnreachableError } from '../client/client.ts'

/** How long a server may be away, milliseconds: a restart takes a few seconds. */
const maximumAbsence = 60_000

interface Patience {
  /** Whether no answer is waited for from the first try on; else once the server has answered 429 or 503. */
  readonly isExpected: boolean
  /** Whether 429 and 503 are waited for as long as they come; else for up to a minute, as no answer is. */
  readonly isEndless: boolean
  /** Called with the reason and the number of seconds. */
  readonly onWait: (why: string, seconds: number) => void
}

/**
 * Tries a request again that can be sent twice: as often as the server says when (429, 503), and while it is away for up
 * to a minute.
 *
 * @throws what the request throws in the end
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

/** undefined: another try would fail as this one. */
function secondsUntilNext(error: unknown): number | undefined {
  if (error instanceof RefusedError) return error.retryAfter
  return error instanceof UnreachableError ? 1 : undefined
}
