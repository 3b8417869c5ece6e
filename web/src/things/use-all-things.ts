import { useCallback, useEffect, useState } from 'preact/hooks'
import { ApiError } from '../api/http.ts'
import { useReconnects } from '../live/reconnects.ts'
import type { SignedIn } from '../session/signed-in.ts'
import { type AllThings, fetchAllThings } from './all-things.ts'

/** Milliseconds without typing after which the search begins. */
const searchDelay = 200
/** Milliseconds between reads of the list, which keep the times of last contact current. */
const refreshInterval = 10_000

export interface ListedThings {
  /** Undefined before the first answer. */
  readonly all: AllThings | undefined
  /** Why the last request failed. */
  readonly problem: string | undefined
  /** Reads the list again immediately. */
  readonly reload: () => void
}

/** The things that match a name. Read again every ten seconds while the page is visible, and after a reconnect. */
export function useAllThings({ api, live }: Pick<SignedIn, 'api' | 'live'>, name: string): ListedThings {
  const [all, setAll] = useState<AllThings>()
  const [problem, setProblem] = useState<string>()
  const [times, setTimes] = useState(0)
  const reconnects = useReconnects(live)
  useEffect(() => {
    const abort = new AbortController()
    let isAsking = false
    const ask = async () => {
      if (isAsking) return
      isAsking = true
      try {
        setAll(await fetchAllThings(api, { name }, abort.signal))
        setProblem(undefined)
      } catch (error) {
        if (error instanceof ApiError) setProblem(error.message)
      } finally {
        isAsking = false
      }
    }
    const timer = setTimeout(ask, name === '' ? 0 : searchDelay)
    const refresh = setInterval(() => document.hidden || ask(), refreshInterval)
    return () => {
      clearTimeout(timer)
      clearInterval(refresh)
      abort.abort()
    }
  }, [api, name, times, reconnects])
  return { all, problem, reload: useCallback(() => setTimes(before => before + 1), []) }
}
