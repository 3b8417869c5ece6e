import { EventEmitter, once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { within } from '../../test/helpers/waiting.ts'

/** A connection that writes. A batch is what has one ack. */
export interface Writer {
  /** Batches that were handed to the socket, and those of them that were acked, in order. */
  readonly sent: number
  readonly acked: number
  /** Most batches that may wait for their acks. */
  readonly window: number
  /** Writes of each batch. */
  readonly writes: number
  connect(): Promise<void>
  send(batches: number): void
  /** Resolves when the server has closed the connection, and so has read all. */
  end(): Promise<void>
}

/** Called for batches that were acked together. */
export type OnAcked<Own extends Writer> = (writer: Own, batches: number) => void

interface RawConnectionSetup {
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

/**
 * A connection that receives into one buffer, so that nothing is allocated a packet. Throws an error of the connection, and its
 * end before `end` is called.
 */
export class RawConnection {
  readonly #name: string
  readonly #socket: Socket
  readonly #events = new EventEmitter()
  #isEnding = false

  constructor({ name, host, port, room, onBytes }: RawConnectionSetup) {
    this.#name = name
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
    this.#socket = connect({ host, port, noDelay: true, onread: { buffer, callback: receive } })
    this.#socket.on('connect', () => this.note('connected'))
    this.#socket.on('error', error => {
      throw new Error(`${name}: ${error.message}`, { cause: error })
    })
    this.#socket.on('close', () => {
      if (!this.#isEnding) throw new Error(`${name}: the connection was closed`)
    })
  }

  write(bytes: Uint8Array): void {
    this.#socket.write(bytes)
  }

  /** Whoever waits for this has it now. */
  note(what: string): void {
    this.#events.emit(what)
  }

  /** Resolves when that is noted; `connected` when the connection stands. @throws Error if it takes too long */
  async until(what: string): Promise<void> {
    await within(once(this.#events, what), `${this.#name}: ${what}`)
  }

  /** Resolves when the server has closed the connection, and so has read all. @param last sent before */
  async end(last?: Uint8Array): Promise<void> {
    this.#isEnding = true
    const closed = once(this.#socket, 'close')
    if (last) this.#socket.write(last)
    this.#socket.end()
    await within(closed, `${this.#name}: the end of the connection`)
  }
}
