/** Runs a few tasks at a time. Other tasks wait, in the order of their calls. */
interface Turns {
  /** @throws any error of `task`, or the signal's reason if the signal is aborted before the task begins */
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
