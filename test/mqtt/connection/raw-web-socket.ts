import { openWebSocket } from '../../helpers/mqtt-stream.ts'

/** What a frame is. */
export const opcodes = { continuation: 0, binary: 2, ping: 9 } as const

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
export type RawWebSocket = Awaited<ReturnType<typeof openRawWebSocket>>

/** @param url `ws://<host>:<port>/mqtt` */
export async function openRawWebSocket(url: string) {
  // A PONG of its own could come into the middle of a frame.
  const { webSocket, socket } = await openWebSocket(url, 'mqtt', { autoPong: false })
  webSocket.on('error', () => {})
  const closed = new Promise<void>(resolve => socket.once('close', () => resolve()))
  return {
    socket,
    closed,
    /** Resolves when the server has dealt with all that was sent before, or has closed. @returns whether it is open */
    isStillOpen: async () => {
      const answered = new Promise<boolean>(resolve => webSocket.once('pong', () => resolve(true)))
      webSocket.ping()
      return await Promise.race([answered, closed.then(() => false)])
    },
  }
}
