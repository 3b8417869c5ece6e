import type { Outbox } from '../../live/index.ts'
import type { Outgoing } from './outgoing.ts'

/** While fewer bytes than this are queued, there is room for more packets from the broker. */
const mostWaiting = 256 * 1024

/** Sends packets from the broker, on topics that are not Thingwire's, through the outbox of a client. */
export class BrokerPackets {
  readonly #outbox: Outbox<Outgoing>
  /** Number of queued bytes, including the bytes of held packets. */
  #waiting = 0
  /** Packets that must not overtake the answer to a SUBSCRIBE or UNSUBSCRIBE. */
  #held: Outgoing[] | undefined
  #onRoom: (() => void)[] = []

  constructor(outbox: Outbox<Outgoing>) {
    this.#outbox = outbox
  }

  /**
   * @param isPaced whether the sender waits for room. If so, the packets do not count towards the 8 MiB that may be queued.
   * @param isCounted whether the packet is a message whose acknowledgement is counted
   */
  push(packets: Buffer, isPaced: boolean, isCounted: boolean): void {
    this.#waiting += packets.length
    const qos = isCounted ? 1 : 0
    const item = { thingId: '', topic: () => '', payload: packets, qos, isEncoded: true, isPaced } as const
    if (this.#held) this.#held.push(item)
    else this.#outbox.pushBeside(item)
  }

  /** Holds packets until `release`. */
  hold(): void {
    this.#held ??= []
  }

  release(): void {
    const held = this.#held ?? []
    this.#held = undefined
    for (const item of held) this.#outbox.pushBeside(item)
  }

  /** Resolves when there is room for more packets; undefined if there is room now. */
  room(): Promise<void> | undefined {
    return this.#waiting < mostWaiting ? undefined : new Promise(resolve => void this.#onRoom.push(resolve))
  }

  /** Call this when bytes have left the outbox. */
  left(bytes: number): void {
    this.#waiting -= bytes
    if (this.#waiting >= mostWaiting) return
    for (const resolve of this.#onRoom.splice(0)) resolve()
  }

  /** The closed outbox drops all messages, so there is room. */
  close(): void {
    this.left(Number.POSITIVE_INFINITY)
  }
}
