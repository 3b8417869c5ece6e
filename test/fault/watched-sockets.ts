import { Socket } from 'node:net'

/** Kinds of packet by the first two bytes of it. */
export const packetStart = {
  PUBACK: Buffer.from([0x40, 2]),
  PUBREC: Buffer.from([0x50, 2]),
  PUBREL: Buffer.from([0x62, 2]),
  PUBCOMP: Buffer.from([0x70, 2]),
} as const

export type AckKind = keyof typeof packetStart

/** Calls `onAck` with the number of such packets in each piece that is about to be handed to a socket. */
export function watchSent(kind: 'PUBACK' | 'PUBREC' | 'PUBCOMP', onAck: (count: number) => void): void {
  const write = Socket.prototype.write as (this: Socket, ...parameters: unknown[]) => boolean
  Socket.prototype.write = function (this: Socket, ...parameters: unknown[]) {
    const [piece] = parameters
    const count = piece instanceof Uint8Array ? countAcks(piece, packetStart[kind]) : 0
    if (count > 0) onAck(count)
    return write.apply(this, parameters)
  } as Socket['write']
}

/** Calls `onRelease` when a piece that holds a PUBREL was read, before anyone in the process sees it. */
export function watchReleases(onRelease: () => void): void {
  const push = Socket.prototype.push
  Socket.prototype.push = function (this: Socket, piece: unknown, encoding?: BufferEncoding) {
    // These two bytes occur in no PUBLISH of the load: its text has no control characters, its packet ids are small.
    if (piece instanceof Uint8Array && Buffer.from(piece).includes(packetStart.PUBREL)) onRelease()
    return push.call(this, piece, encoding)
  }
}

/** Calls `onPublished` with the number of live messages in each piece, once it is handed to a socket. */
export function watchPublished(onPublished: (count: number) => void): void {
  const write = Socket.prototype.write as (this: Socket, ...parameters: unknown[]) => boolean
  Socket.prototype.write = function (this: Socket, ...parameters: unknown[]) {
    const [piece] = parameters
    const isTaken = write.apply(this, parameters)
    const count = piece instanceof Uint8Array ? countPublishes(piece) : 0
    if (count > 0) onPublished(count)
    return isTaken
  } as Socket['write']
}

/** Calls `onAcknowledged` with the number of PUBACKs in each piece that was read, before anyone in the process sees it. */
export function watchAcknowledged(onAcknowledged: (count: number) => void): void {
  const push = Socket.prototype.push
  Socket.prototype.push = function (this: Socket, piece: unknown, encoding?: BufferEncoding) {
    const count = piece instanceof Uint8Array ? countAcks(piece, packetStart.PUBACK) : 0
    if (count > 0) onAcknowledged(count)
    return push.call(this, piece, encoding)
  }
}

/** In a piece that begins with a PUBLISH at QoS 1 on a topic of a thing. */
function countPublishes(piece: Uint8Array): number {
  const bytes = Buffer.from(piece.buffer, piece.byteOffset, piece.byteLength)
  const isPublish = bytes[0] === 0x32 || bytes[0] === 0x3a
  const topic = bytes.subarray(0, 20).indexOf('things/')
  if (!isPublish || topic < 4) return 0
  return bytes.toString('latin1').split('things/').length - 1
}

/** In a piece that consists of acks, each of four bytes. */
function countAcks(piece: Uint8Array, start: Buffer): number {
  if (piece.length % 4 !== 0) return 0
  let count = 0
  for (let offset = 0; offset < piece.length; offset += 4) {
    if (piece[offset + 1] !== 2) return 0
    if (piece[offset] === start[0]) count++
  }
  return count
}
