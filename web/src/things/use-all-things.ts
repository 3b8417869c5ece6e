import { useCallback, useEffect, useState } from 'preact/hooks'
import { ApiError } from '../api/http.ts'
import { useReconnects } from '../live/reconnects.ts'
import type { SignedIn } from '../session/signed-in.ts'
import { type AllThings, fetchAllThings } from './all-things.ts'

/** Milliseconds without typing after which the search begins. */
const searchDelay = 200
/**
 * Milliseconds between reads of the list, which show new things and keep the times of last contact current. A list of 800
 * things and more is read at the longest interval.
 */
const shortestRefresh = 2_000
const longestRefresh = 10_000
const refreshPerThing = 10

export interface ListedThings {
  /** Undefined before the first answer. */
  readonly all: AllThings | undefined
  /** Why the last request failed. */
  readonly problem: string | undefined
  /** Reads the list again immediately. */
  readonly reload: () => void
}

/** The things that match a name. Read again every few seconds while the page is visible, and after a reconnect. */
export function useAllThings({ api, live }: Pick<SignedIn, 'api' | 'live'>, name: string): ListedThings {
  const [all, setAll] = useState<AllThings>()
  const [problem, setProblem] = useState<string>()
  const [times, setTimes] = useState(0)
  const reconnects = useReconnects(live)
  useEffect(() => {
    const abort = new AbortController()
    let interval = shortestRefresh
    const ask = async () => {
      try {
        const read = await fetchAllThings(api, { name }, abort.signal)
        interval = Math.min(shortestRefresh + refreshPerThing * read.things.length, longestRefresh)
        setAll(read)
        setProblem(undefined)
      } catch (error) {
        if (error instanceof ApiError) setProblem(error.message)
      }
      if (!abort.signal.aborted) timer = setTimeout(refresh, interval)
    }
    const refresh = () => {
      if (document.hidden) timer = setTimeout(refresh, interval)
      else void ask()
    }
    let timer = setTimeout(ask, name === '' ? 0 : searchDelay)
    return () => {
      clearTimeout(timer)
      abort.abort()
    }
  }, [api, name, times, reconnects])
  return { all, problem, reload: useCallback(() => setTimes(before => before + 1), []) }
}
