import { useEffect, useState } from 'preact/hooks'
import type { LiveConnection } from './connection.ts'

/** How often a lost connection was restored. Each time, live messages may have been missed. */
export function useReconnects({ state }: LiveConnection): number {
  const [count, setCount] = useState(0)
  useEffect(() => {
    let wasLost = false
    return state.subscribe(({ kind }) => {
      if (kind === 'connected' && wasLost) setCount(before => before + 1)
      wasLost = kind === 'lost' || (wasLost && kind === 'connecting')
    })
  }, [state])
  return count
}
