import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import { onTestFinished } from 'vitest'

/** How often the path lets something through, milliseconds. */
const step = 20

/** A way to a server on which its answers come no faster than a link lets them. */
export interface SlowPath {
  readonly port: number
}

/**
 * Opens a way to a port of 127.0.0.1, until the end of the test.
 *
 * @param rate of each connection, towards the client, bytes a second
 */
export async function openSlowPath(target: number, rate: number): Promise<SlowPath> {
  const sockets = new Set<Socket>()
  const server = createServer(near => {
    const far = connect(target, '127.0.0.1')
    for (const socket of [near, far]) {
      sockets.add(socket)
      socket.on('error', () => {})
    }
    near.pipe(far)
    far.pause()
    let credit = 0
    const timer = setInterval(() => {
      credit = Math.min(credit + (rate * step) / 1_000, rate / 10)
      // What is paused reads on in pieces, each of which may be more than the credit.
      while (credit > 0) {
        const bytes = far.read() as Buffer | null
        if (!bytes) return
        credit -= bytes.length
        near.write(bytes)
      }
    }, step)
    far.on('readable', () => {})
    const close = () => {
      clearInterval(timer)
      near.destroy()
      far.destroy()
    }
    near.once('close', close)
    far.once('close', close)
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy()
    server.close()
  })
  return { port: (server.address() as AddressInfo).port }
}
