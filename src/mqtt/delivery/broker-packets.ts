import type { Outbox } from '../../live/index.ts'
import type { Outgoing } from './outgoing.ts'

/** Bytes that wait up to which the broker is asked for more. */
const mostWaiting = 256 * 1024

/** Packets of the broker, on topics beside those of things, on their way through the outbox of a client. */
export class BrokerPackets {
  readonly #outbox: Outbox<Outgoing>
  /** Bytes, of what is held too. */
  #waiting = 0
  /** What may not overtake the answer to a SUBSCRIBE or UNSUBSCRIBE. */
  #held: Outgoing[] | undefined
  #onRoom: (() => void)[] = []

  constructor(outbox: Outbox<Outgoing>) {
    this.#outbox = outbox
  }

  /** @param isPaced whoever sends them waits for room: they do not count as what a subscriber leaves waiting */
  push(packets: Buffer, isPaced: boolean): void {
    this.#waiting += packets.length
    const item = { thingId: '', topic: () => '', payload: packets, qos: 0, isEncoded: true, isPaced } as const
    if (this.#held) this.#held.push(item)
    else this.#outbox.pushBeside(item)
  }

  /** What is pushed from here on waits until `release`. */
  hold(): void {
    this.#held ??= []
  }

  release(): void {
    const held = this.#held ?? []
    this.#held = undefined
    for (const item of held) this.#outbox.pushBeside(item)
  }

  /** Resolves when the broker may have more for the client; undefined: it may. */
  room(): Promise<void> | undefined {
    return this.#waiting < mostWaiting ? undefined : new Promise(resolve => void this.#onRoom.push(resolve))
  }

  /** So many bytes leave the outbox. */
  left(bytes: number): void {
    this.#waiting -= bytes
    if (this.#waiting >= mostWaiting) return
    for (const resolve of this.#onRoom.splice(0)) resolve()
  }

  /** The outbox is closed: there is room for whatever it drops. */
  close(): void {
    this.left(Number.POSITIVE_INFINITY)
  }
}
