import {
  connectPacket,
  disconnectPacket,
  type Identity,
  type ReadyBatches,
  takeConnack,
} from './mqtt-packets.ts'
import { type OnAcked, RawConnection, type Writer } from './raw-connection.ts'

/** Bytes received at once. */
const room = 65_536

interface MqttWriterSetup extends Identity {
  readonly host: string
  readonly port: number
  readonly batches: ReadyBatches
  readonly onAcked: OnAcked<MqttWriter>
}

/** A connection that publishes what was encoded before, and compares the acks with those that are to come. Throws what is wrong. */
export class MqttWriter implements Writer {
  sent = 0
  acked = 0
  readonly window: number
  readonly writes: number
  readonly #setup: MqttWriterSetup
  readonly #connection: RawConnection
  readonly #batchLength: number
  readonly #ackLength: number
  #isConnected = false

  constructor(setup: MqttWriterSetup) {
    this.#setup = setup
    const { count, publishes, bytes, acks } = setup.batches
    this.window = count
    this.writes = publishes
    this.#batchLength = bytes.length / count
    this.#ackLength = acks.length / count
    const { clientId: name, host, port } = setup
    const onBytes = (bytes: Buffer, length: number) => this.#take(bytes, length)
    this.#connection = new RawConnection({ name, host, port, room, onBytes })
  }

  async connect(): Promise<void> {
    this.#connection.write(connectPacket(this.#setup))
    await this.#connection.until('CONNACK')
  }

  /** Sends the next batches. A packet id is in use until its ack: at most all of them may wait for one. */
  send(batches: number): void {
    const { bytes, opening } = this.#setup.batches
    const first = this.sent % this.window
    const last = Math.min(first + batches, this.window)
    const opens = this.sent === 0
    if (opens) this.#connection.write(opening)
    this.sent += last - first
    this.#connection.write(bytes.subarray((opens ? 1 : first) * this.#batchLength, last * this.#batchLength))
    if (first + batches > last) this.send(first + batches - last)
  }

  end(): Promise<void> {
    return this.#connection.end(disconnectPacket(this.#setup))
  }

  #take(bytes: Buffer, length: number): number {
    if (!this.#isConnected) return this.#takeConnack(bytes, length)
    const { acks } = this.#setup.batches
    const ackLength = this.#ackLength
    const before = this.acked
    let at = 0
    while (length - at >= ackLength) {
      const first = this.acked % this.window
      const acked = Math.min(Math.floor((length - at) / ackLength), this.window - first)
      const end = at + acked * ackLength
      const isExpected = bytes.compare(acks, first * ackLength, (first + acked) * ackLength, at, end) === 0
      this.acked += acked
      if (!isExpected || this.acked > this.sent) {
        const received = bytes.toString('hex', at, Math.min(end, at + 32))
        throw new Error(`${this.#setup.clientId}: received ${received}, not the acks from ${first + 1} on`)
      }
      at = end
    }
    if (this.acked > before) this.#setup.onAcked(this, this.acked - before)
    return at
  }

  #takeConnack(bytes: Buffer, length: number): number {
    const taken = takeConnack(this.#setup, bytes, length)
    this.#isConnected = taken > 0
    if (this.#isConnected) this.#connection.note('CONNACK')
    return taken
  }
}
