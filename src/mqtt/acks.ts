import type { Client } from 'aedes'
import type { Observer } from '../core/observer.ts'

const pubackHeader = 0x40
const pubrecHeader = 0x50
const pubcompHeader = 0x70

export const puback = (messageId: number): Buffer => acknowledgement(pubackHeader, messageId)
export const pubrec = (messageId: number): Buffer => acknowledgement(pubrecHeader, messageId)
export const pubcomp = (messageId: number): Buffer => acknowledgement(pubcompHeader, messageId)

const subackHeader = 0x90

/** @param codes granted QoS, or 128, of every filter (MQTT-3.8.4-5) */
export function suback(messageId: number, codes: readonly number[]): Buffer {
  const lengthBytes: number[] = []
  let length = 2 + codes.length
  for (; length > 127; length >>>= 7) lengthBytes.push((length & 127) | 128)
  return Buffer.from([subackHeader, ...lengthBytes, length, messageId >> 8, messageId & 0xff, ...codes])
}

function acknowledgement(header: number, messageId: number): Buffer {
  return Buffer.from([header, 2, messageId >> 8, messageId & 0xff])
}

/** A packet that was taken, in the order of arrival. */
export interface Taken {
  /** To be called once: what to answer, undefined for nothing (QoS 0). */
  done(ack: Buffer | undefined): void
  /** To be called once instead: the connection ends here, and nothing that came after is acknowledged. */
  failed(error: Error): void
}

interface Entry {
  readonly bytes: number
  /** When it was read, by the monotonic clock. */
  readonly takenAt: number
  state: 'waiting' | { readonly ack: Buffer | undefined } | { readonly error: Error }
}

/** Sends acknowledgements in the order of the packets that they are for (MQTT-4.6.0-2, -3; contract §4). */
export class Acks {
  readonly #client: Client
  readonly #finished: (bytes: number) => void
  readonly #observer: Observer | undefined
  readonly #entries: Entry[] = []
  #isCorked = false
  /** When the acks that leave now were begun to be sent, by the monotonic clock. */
  #sentAt = 0

  /** @param finished told of each packet that is dealt with, and of its bytes */
  constructor(client: Client, finished: (bytes: number) => void, observer?: Observer) {
    this.#client = client
    this.#finished = finished
    this.#observer = observer
  }

  /** @param bytes of the packet */
  expect(bytes: number): Taken {
    const takenAt = this.#observer ? performance.now() : 0
    const entry: Entry = { bytes, takenAt, state: 'waiting' }
    this.#entries.push(entry)
    return {
      done: ack => {
        entry.state = { ack }
        this.#flush()
      },
      failed: error => {
        entry.state = { error }
        this.#flush()
      },
    }
  }

  #flush(): void {
    for (let head = this.#entries[0]; head; head = this.#entries[0]) {
      const { state, bytes, takenAt } = head
      if (state === 'waiting') return
      if ('error' in state) {
        this.#end(state.error)
        return
      }
      this.#entries.shift()
      if (state.ack) this.#send(state.ack, takenAt)
      this.#finished(bytes)
    }
  }

  #send(ack: Buffer, takenAt: number): void {
    const { conn } = this.#client
    if (conn.destroyed || conn.writableEnded) return
    this.#cork()
    conn.write(ack)
    this.#observer?.acknowledged((this.#sentAt - takenAt) / 1_000)
  }

  /** The acks of one group commit leave in one segment. */
  #cork(): void {
    if (this.#isCorked) return
    const { conn } = this.#client
    this.#isCorked = true
    if (this.#observer) this.#sentAt = performance.now()
    conn.cork()
    process.nextTick(() => {
      this.#isCorked = false
      conn.uncork()
    })
  }

  #end(error: Error): void {
    const left = this.#entries.splice(0)
    const { conn } = this.#client
    // The acks before the one that is missing are still owed.
    conn.uncork()
    conn.destroy(error)
    for (const { bytes } of left) this.#finished(bytes)
  }
}
