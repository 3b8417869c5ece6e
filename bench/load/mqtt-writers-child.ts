import { Gathering } from './gathering.ts'
import { inTurn, type Load, type Recorders, runLoad } from './measured-load.ts'
import { readyBatches } from './mqtt-packets.ts'
import { MqttWriter } from './mqtt-writer.ts'
import type { MqttWrites } from './mqtt-writers.ts'
import { OpenLoop } from './open-loop.ts'

/** Publishes, in a process of its own, what `writeMqtt` says. */

/** Of a publish to any broker: less than has been seen of one, milliseconds. */
const leastCost = 0.001

runLoad((writes: MqttWrites, recorders) =>
  writes.rate === undefined ? new ClosedMqttLoad(writes) : new OpenMqttLoad(writes, writes.rate, recorders),
)

abstract class MqttLoad implements Load {
  protected readonly writers: readonly MqttWriter[]
  protected isStopped = false

  constructor(writes: MqttWrites) {
    const { connections, clientIdPrefix, ports, topics, payload, qos, window, ...server } = writes
    const ready = topics.map(topic => readyBatches(topic, payload, qos, window))
    this.writers = Array.from({ length: connections }, (_, index) => {
      const batches = inTurn(ready, index)
      const port = inTurn(ports, index)
      const onAcked = (writer: MqttWriter, count: number) => this.onAcked(writer, count)
      return new MqttWriter({ ...server, port, clientId: `${clientIdPrefix}${index}`, batches, onAcked })
    })
  }

  get sent(): number {
    return this.writers.reduce((sum, { sent, batches }) => sum + sent * batches.publishes, 0)
  }

  get acked(): number {
    return this.writers.reduce((sum, { acked, batches }) => sum + acked * batches.publishes, 0)
  }

  async connect(): Promise<void> {
    await Promise.all(this.writers.map(writer => writer.connect()))
  }

  abstract start(): void

  stop(): void {
    this.isStopped = true
  }

  async close(): Promise<void> {
    await Promise.all(this.writers.map(writer => writer.end()))
  }

  protected abstract onAcked(writer: MqttWriter, batches: number): void
}

/** Each connection has a window of publishes on their way. */
class ClosedMqttLoad extends MqttLoad {
  readonly #gathering: Gathering

  constructor(writes: MqttWrites) {
    super(writes)
    this.#gathering = Gathering.ofAcks(writes.connections * writes.window, leastCost)
  }

  start(): void {
    for (const writer of this.writers) writer.send(writer.batches.count)
  }

  protected onAcked(writer: MqttWriter, batches: number): void {
    if (this.isStopped) return
    writer.send(batches)
    this.#gathering.onAnswered()
  }
}

/** QoS 1, at times of its own, one connection after the other. */
class OpenMqttLoad extends MqttLoad {
  readonly #recorders: Recorders
  readonly #loop: OpenLoop
  /** Of each connection, when what waits for an ack was due. */
  readonly #due: ReadonlyMap<MqttWriter, Float64Array>
  #turn = 0

  constructor(writes: MqttWrites, rate: number, recorders: Recorders) {
    super(writes)
    if (writes.qos === 0) throw new RangeError('an open loop needs acks: QoS 1')
    this.#recorders = recorders
    this.#loop = new OpenLoop(rate, due => this.#send(due), writes.rest)
    this.#due = new Map(this.writers.map(writer => [writer, new Float64Array(writer.batches.count)]))
  }

  start(): void {
    this.#loop.start()
  }

  override stop(): void {
    super.stop()
    this.#loop.stop()
  }

  #send(due: number): void {
    const writer = this.writers[this.#turn++ % this.writers.length]
    if (writer === undefined) return
    const { sent, acked, batches } = writer
    if (sent - acked === batches.count) {
      throw new Error(`the rate is not kept up: ${batches.count} publishes wait for an ack`)
    }
    this.#dueOf(writer)[sent % batches.count] = due
    writer.send(1)
    this.#recorders.lateness.record(due, performance.now())
  }

  protected onAcked(writer: MqttWriter, count: number): void {
    const now = performance.now()
    const { acked, batches } = writer
    const due = this.#dueOf(writer)
    for (let index = acked - count; index < acked; index++) {
      this.#recorders.latency.record(due[index % batches.count] ?? 0, now)
    }
  }

  #dueOf(writer: MqttWriter): Float64Array {
    return this.#due.get(writer) ?? new Float64Array()
  }
}
