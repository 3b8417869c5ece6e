import { setTimeout as delay } from 'node:timers/promises'
import { RefusedError, UnreachableError } from '../client.ts'

/** How long a server that was there may be away, milliseconds: a restart takes a few seconds. */
const maximumAbsence = 60_000

/**
 * Tries a request again that can be sent twice: as often as the server says when (429, 503), and while it is away for up
 * to a minute, if it was ever there.
 *
 * @param onWait told why, and for how many seconds
 * @throws what the request throws in the end
 */
export async function patiently<Answer>(
  request: () => Promise<Answer>,
  { wasThere, onWait }: { wasThere: boolean; onWait: (why: string, seconds: number) => void },
): Promise<Answer> {
  let awaySince: number | undefined
  for (;;) {
    try {
      return await request()
    } catch (error) {
      const seconds = error instanceof RefusedError ? error.retryAfter : 1
      if (error instanceof UnreachableError) {
        awaySince ??= Date.now()
        if (!wasThere || Date.now() - awaySince > maximumAbsence) throw error
      } else if (error instanceof RefusedError && seconds !== undefined) awaySince = undefined
      else throw error
      onWait(error.message, seconds ?? 1)
      await delay((seconds ?? 1) * 1000)
    }
  }
}
