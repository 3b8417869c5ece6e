import { createServer } from 'node:net'
import { monitorEventLoopDelay } from 'node:perf_hooks'

/**
 * Loaded before the program of a process: watches its event loop. Who connects to the socket named by BENCH_OBSERVER is
 * told what was seen since the last one connected.
 */

/** Milliseconds. */
export interface EventLoopDelay {
  readonly p50: number
  readonly p99: number
  readonly p999: number
  readonly max: number
}

const path = process.env.BENCH_OBSERVER
if (path) {
  const histogram = monitorEventLoopDelay({ resolution: 1 })
  histogram.enable()
  const of = (percentile: number) => histogram.percentile(percentile) / 1e6
  const server = createServer(socket => {
    const seen: EventLoopDelay = { p50: of(50), p99: of(99), p999: of(99.9), max: histogram.max / 1e6 }
    socket.end(JSON.stringify(seen))
    histogram.reset()
  })
  server.listen(path)
  server.unref()
}
