import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'

/** A way to a server on this machine that a test can cut. Whoever opens it closes it. */
export type TcpPath = Awaited<ReturnType<typeof openPath>>

/** Listens on a free port of 127.0.0.1. @param onNear takes each connection, and can open others with it */
export async function listenBetween(onNear: (near: Socket, open: (port: number) => Socket) => void) {
  const sockets = new Set<Socket>()
  const keep = (socket: Socket) => {
    sockets.add(socket)
    return socket.on('error', () => {}).once('close', () => sockets.delete(socket))
  }
  const open = (port: number) => keep(connect(port, '127.0.0.1'))
  const server = createServer(near => onNear(keep(near), open)).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const close = async () => {
    const closed = once(server, 'close')
    server.close()
    for (const socket of sockets) socket.destroy()
    await closed
  }
  return { port: (server.address() as AddressInfo).port, sockets, close }
}

/** Opens a way to the port of 127.0.0.1, on a free one. @param target where new connections lead, if that can change */
export async function openPath(target: number | (() => number)) {
  let state: 'open' | 'refused' | 'swallowed' = 'open'
  /** The side of the target by the other one. */
  const through = new Map<Socket, Socket>()
  let onClosed = () => {}
  /** Resolves when a connection has ended, whichever side has closed it. */
  const closed = new Promise<void>(resolve => {
    onClosed = resolve
  })
  let onClosedByTarget = () => {}
  /** Resolves when the target has closed a connection by itself. */
  const closedByTarget = new Promise<void>(resolve => {
    onClosedByTarget = resolve
  })
  const { sockets, port, close } = await listenBetween((near, open) => {
    if (state === 'refused') near.resetAndDestroy()
    else if (state === 'swallowed') near.resume()
    else {
      const far = open(typeof target === 'number' ? target : target())
      through.set(near, far)
      near.pipe(far)
      far.pipe(near)
      near.once('close', () => {
        onClosed()
        if (through.delete(near)) far.destroy()
      })
      far.once('close', () => {
        if (!near.destroyed) onClosedByTarget()
        near.destroy()
      })
    }
  })
  return {
    port,
    close,
    /** Connections are reset, and new ones as soon as they are made: nothing listens there any more, as it were. */
    refuse: () => {
      state = 'refused'
      for (const socket of sockets) socket.resetAndDestroy()
    },
    /** What is sent is taken and goes nowhere, in both directions, and nothing is closed: packets vanish. */
    swallow: () => {
      state = 'swallowed'
      for (const socket of sockets) socket.unpipe().resume()
    },
    /** New connections go through again; those that were swallowed up, or held, meanwhile stay dead. */
    restore: () => {
      state = 'open'
    },
    /**
     * What is sent from now on is kept on the way, even if its sender gives up the connection; nothing comes back.
     *
     * @returns how to deliver it: resolves when the target has read it to the end
     */
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
    closed,
    closedByTarget,
  }
}
