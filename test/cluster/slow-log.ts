import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import { onTestFinished } from 'vitest'

/**
 * Opens a way to the Redis at a port of 127.0.0.1 on which a node that follows the commit log hears of it later than
 * others, by so many milliseconds. Closed at the end of the test.
 *
 * @returns its port
 */
export async function openSlowLog(target: number, late: number): Promise<number> {
  const sockets = new Set<Socket>()
  const server = createServer(near => {
    const far = connect(target, '127.0.0.1')
    let isLog = false
    near.on('data', bytes => {
      isLog ||= bytes.includes('XREAD')
      far.write(bytes)
    })
    far.on('data', bytes => {
      if (isLog) setTimeout(() => near.write(bytes), late)
      else near.write(bytes)
    })
    for (const [socket, other] of [
      [near, far],
      [far, near],
    ] as const) {
      sockets.add(socket)
      socket.on('error', () => {})
      socket.once('close', () => other.destroy())
    }
  }).listen(0, '127.0.0.1')
  onTestFinished(() => {
    server.close()
    for (const socket of sockets) socket.destroy()
  })
  await once(server, 'listening')
  return (server.address() as AddressInfo).port
}
