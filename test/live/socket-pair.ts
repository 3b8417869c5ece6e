import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import { onTestFinished } from 'vitest'

export interface SocketPair {
  /** What the code under test writes to. */
  readonly near: Socket
  /** Its peer: reads nothing until it is resumed. */
  readonly far: Socket
}

/** Two ends of a TCP connection, destroyed at the end of the test. */
export async function openSocketPair(): Promise<SocketPair> {
  const server = createServer({ noDelay: true })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const accepted = once(server, 'connection') as Promise<[Socket]>
  const far = connect((server.address() as AddressInfo).port, '127.0.0.1')
  far.pause()
  const [near] = await accepted
  server.close()
  for (const socket of [near, far]) {
    socket.on('error', () => {})
    onTestFinished(() => void socket.destroy())
  }
  return { near, far }
}

/** Reads everything from now on. @returns resolves with what was received, when it is so many bytes */
export function receive(far: Socket, bytes: number): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const pieces: Buffer[] = []
    let size = 0
    far.on('data', (piece: Buffer) => {
      pieces.push(piece)
      size += piece.length
      if (size >= bytes) resolve(Buffer.concat(pieces))
    })
    far.once('close', () => reject(new Error(`the connection ended after ${size} of ${bytes} bytes`)))
    far.resume()
  })
}
