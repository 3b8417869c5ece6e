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
 */
export function useList<Item>(live: LiveConnection, load: () => Promise<readonly Item[]>): List<Item> {
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
    if (problem === undefined) return
    const retry = setInterval(() => waiting.current > 0 || reload(), retryDelay)
    return () => clearInterval(retry)
  }, [problem, reload])
  return { items, problem, reload: () => void reload() }
}
