import { connect, type Socket } from 'node:net'

export interface RawSocketSetup {
  /** In errors. */
  readonly name: string
  readonly host: string
  readonly port: number
  /** The largest packet that can be received, bytes. */
  readonly room: number
  /**
   * Called with all that has been received and not been taken yet: the first `length` of `bytes`. They hold until it returns.
   *
   * @returns how many of them it has taken; the others are there again the next time
   */
  readonly onBytes: (bytes: Buffer, length: number) => number
}

/** A socket that receives into one buffer, so that nothing is allocated a packet. Throws an error of the connection. */
export function openRawSocket({ name, host, port, room, onBytes }: RawSocketSetup): Socket {
  const bytes = Buffer.allocUnsafe(room)
  let kept = 0
  const receive = (count: number) => {
    const length = kept + count
    const taken = onBytes(bytes, length)
    kept = length - taken
    if (kept === room) throw new Error(`a packet of more than ${room} bytes was received`)
    if (taken > 0 && kept > 0) bytes.copyWithin(0, taken, length)
    return true
  }
  const buffer = () => (kept === 0 ? bytes : bytes.subarray(kept))
  const socket = connect({ host, port, noDelay: true, onread: { buffer, callback: receive } })
  return socket.on('error', error => {
    throw new Error(`${name}: ${error.message}`, { cause: error })
  })
}
