import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'

/** A way to a server on this machine that a test can cut. Whoever opens it closes it. */
export interface TcpPath {
  readonly port: number
  /** Connections are reset, and new ones as soon as they are made: nothing listens there any more, as it were. */
  refuse(): void
  /** What is sent is taken and goes nowhere, in both directions, and nothing is closed: packets vanish. */
  swallow(): void
  /** New connections go through again; those that were swallowed up meanwhile stay dead. */
  restore(): void
  close(): Promise<void>
}

/** Opens a way to the port of 127.0.0.1, on a free one. */
export async function openPath(target: number): Promise<TcpPath> {
  let state: 'open' | 'refused' | 'swallowed' = 'open'
  const sockets = new Set<Socket>()
  const keep = (socket: Socket) => {
    sockets.add(socket)
    socket.on('error', () => {})
    socket.once('close', () => sockets.delete(socket))
  }
  const server = createServer(near => {
    keep(near)
    if (state === 'refused') near.resetAndDestroy()
    else if (state === 'swallowed') near.resume()
    else {
      const far = connect(target, '127.0.0.1')
      keep(far)
      near.pipe(far)
      far.pipe(near)
      near.once('close', () => far.destroy())
      far.once('close', () => near.destroy())
    }
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    port: (server.address() as AddressInfo).port,
    refuse: () => {
      state = 'refused'
      for (const socket of sockets) socket.resetAndDestroy()
    },
    swallow: () => {
      state = 'swallowed'
      for (const socket of sockets) socket.unpipe().resume()
    },
    restore: () => {
      state = 'open'
    },
    close: async () => {
      const closed = once(server, 'close')
      server.close()
      for (const socket of sockets) socket.destroy()
      await closed
    },
  }
}
