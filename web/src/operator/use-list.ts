import { useCallback, useEffect, useRef, useState } from 'preact/hooks'
import { ApiError } from '../api/http.ts'
import type { LiveConnection } from '../live/connection.ts'
import { useReconnects } from '../live/reconnects.ts'

interface List<Item> {
  /** Undefined before the first answer. */
  readonly items: readonly Item[] | undefined
  /** Why the last request failed. */
  readonly problem: string | undefined
  /** Reads the list again. */
  readonly reload: () => void
}

/** Milliseconds. */
const retryDelay = 3_000

/**
 * A list that is read once, and again after `reload`, after a reconnect, and every few seconds while reading fails.
 *
 * @param load may throw ApiError
 * @param refreshInterval milliseconds between reads while the page is visible; default: none without a reason above
 */
export function useList<Item>(
  live: LiveConnection,
  load: () => Promise<readonly Item[]>,
  refreshInterval?: number,
): List<Item> {
  const [items, setItems] = useState<readonly Item[]>()
  const [problem, setProblem] = useState<string>()
  /** Number of the newest request. Answers to older requests are ignored. */
  const asked = useRef(0)
  const latestLoad = useRef(load)
  latestLoad.current = load
  const waiting = useRef(0)
  const reload = useCallback(async () => {
    const place = ++asked.current
    waiting.current++
    try {
      const loaded = await latestLoad.current()
      if (place !== asked.current) return
      setItems(loaded)
      setProblem(undefined)
    } catch (error) {
      if (!(error instanceof ApiError)) throw error
      if (place === asked.current) setProblem(error.message)
    } finally {
      waiting.current--
    }
  }, [])
  const reconnects = useReconnects(live)
  useEffect(() => {
    void reload()
    return () => {
      asked.current = -1
    }
  }, [reload, reconnects])
  useEffect(() => {
    const interval = problem === undefined ? refreshInterval : retryDelay
    if (interval === undefined) return
    const refresh = setInterval(() => document.hidden || waiting.current > 0 || reload(), interval)
    return () => clearInterval(refresh)
  }, [problem, reload, refreshInterval])
  return { items, problem, reload: () => void reload() }
}
