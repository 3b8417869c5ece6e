import { createServer } from 'node:net'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

/**
 * Loaded before the program of a process. Who connects to the socket named by BENCH_MEMORY is told what the process takes
 * after its garbage was collected.
 */

/** Bytes. */
export interface Memory {
  readonly resident: number
  readonly heap: number
  readonly external: number
}

const path = process.env.BENCH_MEMORY
if (path) {
  setFlagsFromString('--expose-gc')
  const collect = runInNewContext('gc') as () => void
  const server = createServer(socket => {
    collect()
    // What the first collection let go of.
    setImmediate(() => {
      collect()
      const { rss: resident, heapUsed: heap, external } = process.memoryUsage()
      const memory: Memory = { resident, heap, external }
      socket.end(JSON.stringify(memory))
    })
  })
  server.listen(path)
  server.unref()
}
