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
  let changed = () => {}
  listen(item => {
    items.push(item)
    changed()
  })
  return {
    async first(count) {
      let late = false
      const timer = setTimeout(() => {
        late = true
        changed()
      }, deadline)
      while (items.length < count && !late) {
        await new Promise<void>(resolve => {
          changed = resolve
        })
      }
      clearTimeout(timer)
      if (items.length < count) throw new Error(`${items.length} of ${count} were told in ${deadline} ms`)
      return [...items]
    },
  }
}
