/** Lets a few tasks run at a time; the others wait in the order in which they came. */
interface Turns {
  /** @throws what `task` throws, and the signal's reason if it is aborted before the turn comes */
  take<T>(signal: AbortSignal, task: () => Promise<T>): Promise<T>
}

export function createTurns(atOnce: number): Turns {
  let running = 0
  const waiting: (() => void)[] = []
  return {
    async take(signal, task) {
      if (running >= atOnce) await new Promise<void>(resolve => waiting.push(resolve))
      else running++
      try {
        signal.throwIfAborted()
        return await task()
      } finally {
        const next = waiting.shift()
        if (next) next()
        else running--
      }
    },
  }
}
