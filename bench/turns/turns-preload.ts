import { openSync, readSync } from 'node:fs'
import { createServer } from 'node:net'

/**
 * Loaded before the program of a process. Who connects to the socket named by BENCH_TURNS is told, when it ends its side, what
 * every turn of the event loop took meanwhile. Linux only.
 */

/** Of each turn in which something was done, in order. */
export interface TurnTimes {
  /** Processor time of the thread, milliseconds: what waits for a core is no doing of the program. */
  readonly processor: number[]
  /** Milliseconds. */
  readonly wall: number[]
}

/** Processor time of a turn in which nothing is done but to look, milliseconds. */
const nothing = 0.3

const path = process.env.BENCH_TURNS
if (path) {
  const server = createServer({ allowHalfOpen: true }, socket => {
    const times: TurnTimes = { processor: [], wall: [] }
    let isOver = false
    let processorBegin = processorTime()
    let begin = performance.now()
    const next = () => {
      const processor = processorTime()
      const now = performance.now()
      if (processor - processorBegin > nothing) {
        times.processor.push(processor - processorBegin)
        times.wall.push(now - begin)
      }
      processorBegin = processor
      begin = now
      if (isOver) socket.end(JSON.stringify(times))
      else setImmediate(next)
    }
    socket.once('end', () => {
      isOver = true
    })
    socket.resume()
    setImmediate(next)
  })
  server.listen(path)
  server.unref()
}

const statistics = openSync('/proc/thread-self/schedstat', 'r')
const buffer = Buffer.alloc(64)

/** Of this thread so far, milliseconds. */
function processorTime(): number {
  const length = readSync(statistics, buffer, 0, buffer.length, 0)
  return Number.parseInt(buffer.toString('latin1', 0, length), 10) / 1e6
}
