import { EventEmitter, once } from 'node:events'

/** Milliseconds; far beyond what a store needs to deliver something. */
const deadline = 30_000

/** Everything that a listener is called with, in order; it can be awaited. */
export interface Gathered<T> {
  /** All of it so far, once there are at least so many. */
  first(count: number): Promise<readonly T[]>
}

/** @param listen adds a listener */
export function gather<T>(listen: (listener: (item: T) => void) => unknown): Gathered<T> {
  const items: T[] = []
  const delivered = new EventEmitter()
  listen(item => {
    items.push(item)
    delivered.emit('item')
  })
  return {
    async first(count) {
      const signal = AbortSignal.timeout(deadline)
      while (items.length < count) {
        await once(delivered, 'item', { signal }).catch(() => {
          throw new Error(`${items.length} of ${count} were delivered in ${deadline} ms`)
        })
      }
      return [...items]
    },
  }
}
