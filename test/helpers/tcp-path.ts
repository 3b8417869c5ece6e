import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'

/** A way to a server on this machine that a test can cut. Whoever opens it closes it. */
export interface TcpPath {
  readonly port: number
  /** Connections are reset, and new ones as soon as they are made: nothing listens there any more, as it were. */
  refuse(): void
  /** What is sent is taken and goes nowhere, in both directions, and nothing is closed: packets vanish. */
  swallow(): void
  /** New connections go through again; those that were swallowed up, or held, meanwhile stay dead. */
  restore(): void
  /**
   * What is sent from now on is kept on the way, even if its sender gives up the connection; nothing comes back.
   *
   * @returns how to deliver it: resolves when the target has read it to the end
   */
  hold(): () => Promise<void>
  /** Resolves when the target has closed a connection by itself. */
  readonly closedByTarget: Promise<void>
  close(): Promise<void>
}

/** Opens a way to the port of 127.0.0.1, on a free one. @param target where new connections lead, if that can change */
export async function openPath(target: number | (() => number)): Promise<TcpPath> {
  let state: 'open' | 'refused' | 'swallowed' = 'open'
  const sockets = new Set<Socket>()
  /** The side of the target by the other one. */
  const through = new Map<Socket, Socket>()
  let onClosedByTarget = () => {}
  const closedByTarget = new Promise<void>(resolve => {
    onClosedByTarget = resolve
  })
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
      const far = connect(typeof target === 'number' ? target : target(), '127.0.0.1')
      keep(far)
      through.set(near, far)
      near.pipe(far)
      far.pipe(near)
      near.once('close', () => {
        if (through.delete(near)) far.destroy()
      })
      far.once('close', () => {
        if (!near.destroyed) onClosedByTarget()
        near.destroy()
      })
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
    hold: () => {
      state = 'swallowed'
      const held = [...through].map(([near, far]) => {
        through.delete(near)
        const parts: Buffer[] = []
        far.unpipe().resume()
        near
          .unpipe()
          .on('data', part => parts.push(part))
          .resume()
        return { far, parts }
      })
      const deliver = async ({ far, parts }: (typeof held)[number]) => {
        const closed = once(far, 'close')
        far.end(Buffer.concat(parts))
        await closed
      }
      return async () => void (await Promise.all(held.map(deliver)))
    },
    closedByTarget,
    close: async () => {
      const closed = once(server, 'close')
      server.close()
      for (const socket of sockets) socket.destroy()
      await closed
    },
  }
}
