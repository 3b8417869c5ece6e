import { useCallback, useEffect, useRef, useState } from 'preact/hooks'
import { ApiError } from '../api/http.ts'

export interface List<Item> {
  /** Undefined before the first answer. */
  readonly items: readonly Item[] | undefined
  /** Why the last request failed. */
  readonly problem: string | undefined
  /** Asks again. */
  readonly reload: () => void
}

/** A list that is asked for once, and again when it has changed. @param load may throw ApiError */
export function useList<Item>(load: () => Promise<readonly Item[]>): List<Item> {
  const [items, setItems] = useState<readonly Item[]>()
  const [problem, setProblem] = useState<string>()
  /** The newest request: an answer to an older one is of no use. */
  const asked = useRef(0)
  const latestLoad = useRef(load)
  latestLoad.current = load
  const reload = useCallback(async () => {
    const place = ++asked.current
    try {
      const loaded = await latestLoad.current()
      if (place !== asked.current) return
      setItems(loaded)
      setProblem(undefined)
    } catch (error) {
      if (!(error instanceof ApiError)) throw error
      if (place === asked.current) setProblem(error.message)
    }
  }, [])
  useEffect(() => {
    void reload()
    return () => {
      asked.current = -1
    }
  }, [reload])
  return { items, problem, reload: () => void reload() }
}
