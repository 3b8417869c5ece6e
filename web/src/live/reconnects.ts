import { useEffect, useState } from 'preact/hooks'
import type { LiveConnection } from './connection.ts'

/** How often the connection has come back after it was lost: what is kept of live messages has a gap then. */
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
