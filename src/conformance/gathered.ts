import { EventEmitter, once } from 'node:events'

/** Milliseconds; far beyond what a store needs to tell something. */
const deadline = 30_000

/** What a listener is told, in order, to be waited for. */
export interface Gathered<T> {
  /** All of it so far, once there are at least so many. */
  first(count: number): Promise<readonly T[]>
}

/** @param listen adds a listener */
export function gather<T>(listen: (listener: (item: T) => void) => unknown): Gathered<T> {
  const items: T[] = []
  const told = new EventEmitter()
  listen(item => {
    items.push(item)
    told.emit('item')
  })
  return {
    async first(count) {
      const signal = AbortSignal.timeout(deadline)
      while (items.length < count) {
        await once(told, 'item', { signal }).catch(() => {
          throw new Error(`${items.length} of ${count} were told in ${deadline} ms`)
        })
      }
      return [...items]
    },
  }
}
