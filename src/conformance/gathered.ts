import { EventEmitter, once } from 'node:events'

/** Milliseconds, far more than a store needs for a delivery. */
const deadline = 30_000

/** The items with which a listener was called, in order. */
export interface Gathered<T> {
  /** Waits for at least `count` items. @returns all items that have arrived @throws Error if fewer arrive within 30 s */
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
