import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'

/** What a frame is. */
export const opcodes = { continuation: 0, binary: 2, ping: 9 } as const

/** First byte of a PONG. */
const pong = 0x8a

/** The header of a frame that a client sends, with a mask that changes nothing. */
export function frameHeader(opcode: number, length: number, isLast = true): Buffer {
  const first = (isLast ? 0x80 : 0) | opcode
  if (length < 126) return Buffer.from([first, 0x80 | length, 0, 0, 0, 0])
  const header = Buffer.alloc(14)
  header.writeUInt8(first, 0)
  header.writeUInt8(0xff, 1)
  header.writeBigUInt64BE(BigInt(length), 2)
  return header
}

/** A WebSocket of which the test makes every frame. */
export interface RawWebSocket {
  readonly socket: Socket
  readonly closed: Promise<void>
  /** Resolves when the server has dealt with all that was sent before, or has closed. @returns whether it is open */
  isStillOpen(): Promise<boolean>
}

/** @param url `ws://<host>:<port>/mqtt` */
export async function openRawWebSocket(url: string): Promise<RawWebSocket> {
  const { hostname, port, pathname } = new URL(url)
  const socket = connect({ host: hostname, port: Number(port), noDelay: true })
  socket.on('error', () => {})
  const closed = new Promise<void>(resolve => socket.once('close', () => resolve()))
  socket.write(
    [
      `GET ${pathname} HTTP/1.1`,
      `Host: ${hostname}`,
      'Connection: Upgrade',
      'Upgrade: websocket',
      'Sec-WebSocket-Version: 13',
      `Sec-WebSocket-Key: ${randomBytes(16).toString('base64')}`,
      'Sec-WebSocket-Protocol: mqtt',
      '',
      '',
    ].join('\r\n'),
  )
  const [answer] = (await once(socket, 'data')) as [Buffer]
  if (!/^HTTP\/1.1 101 /.test(answer.toString('latin1'))) throw new Error(`no WebSocket: ${answer}`)
  socket.on('end', () => socket.destroy())
  return {
    socket,
    closed,
    isStillOpen: async () => {
      const answered = untilPong(socket)
      socket.write(frameHeader(opcodes.ping, 0))
      return await Promise.race([answered, closed.then(() => false)])
    },
  }
}

/** @returns whether a PONG came, perhaps behind PINGs of the server, before the end */
async function untilPong(socket: Socket): Promise<boolean> {
  for (;;) {
    const bytes = await once(socket, 'data').then(
      ([data]) => data as Buffer,
      () => undefined,
    )
    if (!bytes) return false
    // Frames without a payload, or with a short one.
    for (let place = 0; place < bytes.length; place += 2 + ((bytes[place + 1] ?? 0) & 0x7f)) {
      if (bytes[place] === pong) return true
    }
  }
}
