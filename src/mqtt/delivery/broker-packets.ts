import type { Outbox } from '../../live/index.ts'
import type { Outgoing } from './outgoing.ts'

/** Bytes that wait up to which the broker is asked for more. */
const mostWaiting = 256 * 1024

/** Packets of the broker, on topics beside those of things, on their way through the outbox of a client. */
export class BrokerPackets {
  readonly #outbox: Outbox<Outgoing>
  /** Bytes. */
  #waiting = 0
  #onRoom: (() => void) | undefined

  constructor(outbox: Outbox<Outgoing>) {
    this.#outbox = outbox
  }

  push(packets: Buffer): void {
    this.#waiting += packets.length
    this.#outbox.pushBeside({ thingId: '', topic: () => '', payload: packets, qos: 0, isEncoded: true })
  }

  /** Resolves when the broker may have more for the client; undefined: it may. One call at a time. */
  room(): Promise<void> | undefined {
    return this.#waiting < mostWaiting ? undefined : new Promise(resolve => (this.#onRoom = resolve))
  }

  /** So many bytes leave the outbox. */
  left(bytes: number): void {
    this.#waiting -= bytes
    if (this.#waiting < mostWaiting) this.#onRoom?.()
  }

  /** The outbox is closed: there is room for whatever it drops. */
  close(): void {
    this.left(Number.POSITIVE_INFINITY)
  }
}
