import { createServer } from 'node:net'

/** Loaded before the program of a process. Who connects to the socket named by SOAK_MEMORY is told what the process takes. */

/** Bytes. */
export interface MemoryUse {
  readonly resident: number
  /** What V8 has for its objects, and what they take of it. */
  readonly heap: number
  readonly used: number
  readonly external: number
}

const path = process.env.SOAK_MEMORY
if (path) {
  const server = createServer(socket => {
    const { rss: resident, heapTotal: heap, heapUsed: used, external } = process.memoryUsage()
    const use: MemoryUse = { resident, heap, used, external }
    socket.end(JSON.stringify(use))
  })
  server.listen(path)
  server.unref()
}
